import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail } from '../../kernel/index.ts';
import { FileProblem, printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { GlobProblem, globPattern } from './glob-pattern.ts';
import { MAX_RESULTS, cutNotes, shownPath } from './walked-path.ts';

/** `glob`: files by their names. */
export const globTool = (files: Files): Tool =>
  defineTool({
    name: 'glob',
    description:
      'Find files by name below a directory. Use it when you know what a file is called and not where it is. Patterns: * and ? within a ' +
      'name, ** for any number of directories, [a-z], {a,b}; "**/*.md" finds all Markdown files. Returns the paths sorted, one per line, at ' +
      'most 200; links are not followed.',
    readOnly: true,
    idempotent: true,
    aliases: { directory: 'path' },
    input: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, description: 'Matched against the path below the directory, e.g. "src/**/*.ts".' },
        path: {
          type: 'string',
          minLength: 1,
          description: 'The directory: absolute, or relative to the agent\'s own directory; "." is that directory.',
        },
      },
      required: ['pattern', 'path'],
      additionalProperties: false,
    },
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }],
    async execute({ pattern, path }, run) {
      try {
        const glob = globPattern(below(path, pattern));
        return await fileResult(async () => {
          const found: string[] = [];
          const cuts = await files.walk(path, run, {
            enters: glob.mayMatchBelow,
            wants: glob.matches,
            visit: (file) => {
              if (file.path === '') throw new FileProblem(`Not a directory: ${printable(path)}`);
              return found.push(shownPath(path, file.path)) <= MAX_RESULTS;
            },
          });
          const more = found.length > MAX_RESULTS ? [`(only the first ${MAX_RESULTS} matches are shown)`] : [];
          return [...(found.length === 0 ? ['(no matches)'] : found.slice(0, MAX_RESULTS)), ...more, ...cutNotes(cuts)].join('\n');
        });
      } catch (error) {
        if (!(error instanceof GlobProblem)) throw error;
        return fail(`Bad arguments for glob: pattern ${error.message}`);
      }
    },
  });

/** Models like to repeat the directory in the pattern. */
const below = (path: string, pattern: string): string =>
  path.startsWith('/') && pattern.startsWith(`${path.replace(/\/+$/, '')}/`) ? pattern.slice(path.replace(/\/+$/, '').length + 1) : pattern;

import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { DirectoryEntry, Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';

const MAX_ENTRIES = 1_000;

/** `list_dir`: the names in one directory. */
export const listDirTool = (files: Files): Tool =>
  defineTool({
    name: 'list_dir',
    description:
      'List one directory, not what is below it. Use it to find out which files exist. Returns the names sorted, one per line, ' +
      'directories with a "/" at the end, at most 1000 of them.',
    readOnly: true,
    idempotent: true,
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Absolute, or relative to the agent\'s own directory; "." is that directory.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }],
    execute: ({ path }, run) =>
      fileResult(async () => {
        const { entries, more } = await files.list(path, run, { max: MAX_ENTRIES });
        if (entries.length === 0) return '(empty directory)';
        const names = entries.map(shown);
        return (more ? [...names, `(only the first ${entries.length} entries are shown)`] : names).join('\n');
      }),
  });

const shown = ({ name, kind }: DirectoryEntry): string => `${printable(name)}${kind === 'directory' ? '/' : ''}`;

// @ts-check
import { readFile } from 'node:fs/promises';
import { defineTool, fail, ok } from 'oryxos';

const MAX_NAMES = 100;

/**
 * `greet_from_list`: greets everybody in a file.
 *
 * `claims` says what a call will touch, before it runs. The sandbox judges the claim: a file outside of the file whitelist is refused, and
 * `execute` is not called. A claim is a promise of the author; what the code does beyond it nobody checks.
 *
 * @param {string} greeting
 */
export const greetTool = (greeting) =>
  defineTool({
    name: 'greet_from_list',
    description:
      'Greet everybody named in a text file, one name per line. Use it when you are asked to welcome a group. Returns one line per name.',
    readOnly: true,
    input: {
      type: 'object',
      properties: { path: { type: 'string', pattern: '^/', description: 'Absolute path of the file.' } },
      required: ['path'],
      additionalProperties: false,
    },
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }],
    async execute({ path }, run) {
      try {
        const names = (await readFile(path, { encoding: 'utf8', signal: run.signal }))
          .split('\n')
          .map((line) => line.trim())
          .filter(Boolean);
        if (names.length > MAX_NAMES) return fail(`There are ${names.length} names in ${path}; at most ${MAX_NAMES} are greeted at once.`);
        return ok(names.map((name) => `${greeting}, ${name}!`).join('\n') || '(nobody is named there)');
      } catch {
        // What the model can do something about is a result, not an exception.
        return fail(`The file cannot be read: ${path}`);
      }
    },
  });

import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { withReplacement } from './text-replacement.ts';
import { brokenText } from './whole-text.ts';
import { pathParameter } from './parameters.ts';

const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** `edit_file`: replaces one passage of a file. */
export const editFileTool = (files: Files): Tool =>
  defineTool({
    name: 'edit_file',
    description:
      'Replace one passage of a UTF-8 text file and leave the rest as it is. Read the file first. oldString must occur exactly once, with ' +
      'its white space; take in neighbouring lines to make it unique. Returns "Edited <path>".',
    aliases: { file_path: 'path', old_string: 'oldString', new_string: 'newString' },
    input: {
      type: 'object',
      properties: {
        path: pathParameter,
        oldString: { type: 'string', minLength: 1, description: 'The passage as it stands in the file.' },
        newString: { type: 'string', description: 'What to put in its place; "" removes the passage.' },
      },
      required: ['path', 'oldString', 'newString'],
      additionalProperties: false,
    },
    claims: ({ path }) => [
      { kind: 'file', value: path, access: 'read' },
      { kind: 'file', value: path, access: 'write' },
    ],
    async execute({ path, oldString, newString }, run) {
      const broken = brokenText('edit_file', { oldString, newString });
      if (broken !== undefined) return fail(broken);
      return fileResult(async () => {
        await files.update(path, run, { maxBytes: MAX_FILE_BYTES }, (old) => withReplacement(old, path, { oldString, newString }));
        return `Edited ${printable(path)}`;
      });
    },
  });

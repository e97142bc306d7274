import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { fromAndTo, fromAndToAliases } from './parameters.ts';

/** `move_file`: moves or renames one file. */
export const moveFileTool = (files: Files): Tool =>
  defineTool({
    name: 'move_file',
    description:
      'Move or rename one file; a file that is at the target is replaced. Missing directories are created, directories themselves are not moved. ' +
      'Returns "Moved <from> -> <to>".',
    aliases: fromAndToAliases,
    input: fromAndTo,
    claims: ({ from, to }) => [
      { kind: 'file', value: from, access: 'write' },
      { kind: 'file', value: to, access: 'write' },
    ],
    execute: ({ from, to }, run) =>
      fileResult(async () => {
        await files.move(from, to, run);
        return `Moved ${printable(from)} -> ${printable(to)}`;
      }),
  });

import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { fromAndTo, fromAndToAliases } from './parameters.ts';

/** `copy_file`: copies one file. */
export const copyFileTool = (files: Files): Tool =>
  defineTool({
    name: 'copy_file',
    description:
      'Copy one file; a file that is at the target is replaced. Missing directories are created, directories themselves are not copied. ' +
      'Returns "Copied <from> -> <to>".',
    idempotent: true,
    aliases: fromAndToAliases,
    input: fromAndTo,
    claims: ({ from, to }) => [
      { kind: 'file', value: from, access: 'read' },
      { kind: 'file', value: to, access: 'write' },
    ],
    execute: ({ from, to }, run) =>
      fileResult(async () => {
        await files.copy(from, to, run);
        return `Copied ${printable(from)} -> ${printable(to)}`;
      }),
  });

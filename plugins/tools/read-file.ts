import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { pageOf, textOf } from './text-page.ts';
import { pathParameter } from './parameters.ts';

const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** `read_file`: the text of a file, or some lines of it. */
export const readFileTool = (files: Files): Tool =>
  defineTool({
    name: 'read_file',
    description:
      'Read a UTF-8 text file from disk. Use it before you quote or change a file. Returns the text as it is, at most 256 KiB of it; ' +
      'a last line in brackets tells when it was cut and with which offset to go on.',
    readOnly: true,
    idempotent: true,
    aliases: { file_path: 'path' },
    input: {
      type: 'object',
      properties: {
        path: pathParameter,
        offset: { type: 'integer', minimum: 1, description: 'First line to read, counted from 1. Default 1.' },
        limit: { type: 'integer', minimum: 1, description: 'How many lines to read. Default: all that fit.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }],
    execute: ({ path, ...page }, run) =>
      fileResult(async () => pageOf(textOf(await files.read(path, run, { maxBytes: MAX_FILE_BYTES }), path), page)),
  });

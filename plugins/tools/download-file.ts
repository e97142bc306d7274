import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files, Http } from '../outside/contract.ts';
import type { Fence } from './fenced.ts';
import { fileResult } from './file-result.ts';
import { failureOf, httpResult, isFailure } from './http-result.ts';
import { pathParameter } from './parameters.ts';

const MAX_DOWNLOAD_BYTES = 50 * 1024 * 1024;

/** `download_file`: a file from the network to the disk. */
export const downloadFileTool = (http: Http, files: Files, fence: Fence): Tool =>
  defineTool({
    name: 'download_file',
    description:
      'Download the file behind a URL, of any kind, to a path (at most 50 MiB). Put it into "output/" of your own directory. A file that is there ' +
      'is replaced once all has arrived. Returns "Downloaded <n> bytes to <path>".',
    idempotent: true,
    aliases: { file_path: 'path' },
    input: {
      type: 'object',
      properties: {
        url: { type: 'string', minLength: 1, description: 'Full URL with http:// or https://.' },
        path: pathParameter,
      },
      required: ['url', 'path'],
      additionalProperties: false,
    },
    claims: ({ url, path }) => [
      { kind: 'file', value: path, access: 'write' },
      { kind: 'url', value: url, access: 'read' },
    ],
    execute: ({ url, path }, run) =>
      httpResult(() =>
        http.send({ method: 'GET', url }, run, async (answer) => {
          if (isFailure(answer)) return failureOf(answer, run, fence);
          return fileResult(async () => {
            const size = await files.writePieces(path, answer.body, run, { maxBytes: MAX_DOWNLOAD_BYTES });
            return `Downloaded ${size} bytes to ${printable(path)}`;
          });
        }),
      ),
  });

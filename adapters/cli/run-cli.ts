/** The command line: words in, exit code out. */
import { release, type } from 'node:os';
import { messageOf } from '../../kernel/index.ts';
import { parseArgs } from './args.ts';
import type { CliHost } from './cli-host.ts';
import { commands } from './commands.ts';
import { createOutput } from './output.ts';
import { UsageError } from './usage-error.ts';
import { usageText } from './usage.ts';

/**
 * Runs one command line, without the program's own name in front.
 *
 * @returns the exit code: 0 done, 1 failed (also "not found"), 2 not understood. Never rejects: what was thrown is printed to stderr as
 * `Error: …`. The caller ends the process with the code; after an impatient second Ctrl-C something may still be open.
 */
export async function runCli(argv: readonly string[], host: CliHost): Promise<number> {
  const out = createOutput(host.stdout, host.stderr, host.env);
  // A reader that has seen enough, as in `oryxos tool list | head -1`, is no failure.
  const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') out.error(messageOf(error));
  };
  host.stdout.on('error', ignoreClosedPipe);
  try {
    const request = parseArgs(argv, commands);
    if (request.kind === 'help') out.line(usageText(request.topic, commands));
    if (request.kind === 'version') for (const line of versionLines(host.version)) out.line(line);
    return request.kind === 'run' ? ((await request.command.run(request.args, { host, out })) ?? 0) : 0;
  } catch (error) {
    out.error(messageOf(error));
    if (!(error instanceof UsageError)) return 1;
    out.note(`Try: oryxos ${error.command === '' ? '' : `${error.command} `}--help`);
    return 2;
  } finally {
    host.stdout.off('error', ignoreClosedPipe);
  }
}

function versionLines(version: string): readonly string[] {
  return [`oryxos ${version}`, `Node.js ${process.version}`, `${type()} ${release()} ${process.arch}`];
}

/** `oryxos run …`: what agents are doing now. */
import { defineCommand } from './args.ts';
import { textCheck } from './checks.ts';
import { withConnection } from './connection.ts';
import { listCommand } from './list-command.ts';
import { pathOf } from './rest-client.ts';
import { lineText } from './text.ts';
import type { RunView } from './views.ts';

const list = listCommand<RunView>({
  name: 'run list',
  summary: 'List the runs in progress',
  path: () => '/api/v1/runs',
  columns: {
    TRACE: (row) => row.traceId,
    AGENT: (row) => row.agentName,
    SESSION: (row) => row.sessionId,
    ORIGIN: (row) => row.origin,
    STARTED: (row) => row.startedAt,
    STEP: (row) => row.step,
  },
  none: 'Nothing runs.',
});

const stop = defineCommand({
  name: 'run stop',
  summary: 'Stop a run; its session keeps what was done',
  words: { trace: { help: 'the trace id of "oryxos run list"', check: textCheck } },
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      await client.delete(pathOf`/api/v1/runs/${args.trace}`);
      cli.out.line(`Stopped ${lineText(args.trace)}.`);
    }),
});

/** Runs in progress only: runs that a stopped server left unfinished are not listed before it is started again. */
export const runCommands = [list, stop];

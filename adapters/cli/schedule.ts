/** `oryxos schedule …` */
import { conflict, notFound } from '../../kernel/index.ts';
import { defineCommand } from './args.ts';
import { textCheck } from './checks.ts';
import type { Connection } from './connection.ts';
import { withConnection } from './connection.ts';
import { jsonOption, listCommand } from './list-command.ts';
import { pathOf } from './rest-client.ts';
import type { RestClient } from './rest-client.ts';
import { lineText } from './text.ts';
import { UsageError } from './usage-error.ts';
import type { ScheduleExecutionView, SchedulePreviewView, ScheduleView } from './views.ts';

/** A run lasts as long as it lasts. */
const NO_LIMIT = 0;
const NOTES = { gap: 'clocks are put forward: right after the gap', repeat: 'clocks are put back: this hour comes twice' } as const;

const schedule = { help: 'AGENT/KEY, a key that only one agent uses, or an id of "oryxos schedule list"', check: textCheck } as const;
const countCheck = (value: string): string | undefined => (/^(100|[1-9]\d?)$/.test(value) ? undefined : 'must be a number from 1 to 100');

const list = listCommand<ScheduleView>({
  name: 'schedule list',
  summary: 'List the schedules of all agents',
  path: () => '/api/v2/schedules',
  columns: {
    SCHEDULE: placeOf,
    CRON: (row) => row.cron,
    ZONE: (row) => row.zone ?? 'server',
    ENABLED: (row) => (row.enabled ? 'yes' : 'no'),
    'NEXT RUN': (row) => row.nextRunAt,
    'LAST RUN': (row) => row.lastRunAt,
    STATUS: (row) => row.lastStatus,
    RUNS: (row) => row.runCount,
    ID: (row) => row.scheduleId,
  },
  none: 'No schedules. Agents name theirs under "schedules" in AGENT.md.',
});

const preview = defineCommand({
  name: 'schedule preview',
  summary: 'Show when a schedule, or an expression, fires next',
  words: { schedule: { ...schedule, optional: true } },
  options: {
    cron: { kind: 'text', value: 'EXPRESSION', help: 'instead of a schedule: second minute hour day month weekday', check: textCheck },
    zone: { kind: 'text', value: 'ZONE', help: 'with --cron: its time zone; default: that of the server', check: textCheck },
    count: { kind: 'text', value: 'N', help: 'how many, 1 to 100; default 10', check: countCheck },
    ...jsonOption,
  },
  examples: ['oryxos schedule preview ops/daily', 'oryxos schedule preview --cron "0 30 2 * * *" --zone America/New_York --count 3'],
  run: (args, cli) => {
    if ((args.schedule === undefined) === (args.cron === undefined))
      throw new UsageError('Name a schedule, or give --cron.', 'schedule preview');
    return withConnection(args, cli, async ({ client }) => {
      const count = Number(args.count ?? 10);
      const shown =
        args.schedule === undefined
          ? await client.post<SchedulePreviewView>('/api/v2/schedules/preview', { cron: args.cron, zone: args.zone ?? null, count })
          : await client.get<SchedulePreviewView>(
              `${pathOf`/api/v2/schedules/${(await found(client, args.schedule)).scheduleId}/preview`}?count=${count}`,
            );
      if (args.json) return cli.out.json(shown);
      if (shown.fires.length === 0) return cli.out.line(lineText(`"${shown.cron}" never fires.`));
      cli.out.table(shown.fires, {
        UTC: ({ at }) => at,
        [shown.zone]: ({ local }) => local,
        NOTE: ({ dst }) => (dst === null ? null : NOTES[dst]),
      });
    });
  },
});

const run = defineCommand({
  name: 'schedule run',
  summary: 'Run a schedule now and wait for the end, also one that is switched off',
  words: { schedule },
  options: jsonOption,
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      const { scheduleId } = await found(client, args.schedule);
      const path = pathOf`/api/v2/schedules/${scheduleId}/run`;
      const rows = await client.post<readonly ScheduleExecutionView[]>(path, undefined, NO_LIMIT);
      const latest = rows.find(({ firstSlot }) => firstSlot === null);
      if (args.json) cli.out.json(latest ?? null);
      else if (latest !== undefined) cli.out.line(lineText(sentenceOf(latest)));
      return latest?.status === 'success' ? 0 : 1;
    }),
});

const enable = switchCommand('enable', true, 'Switch a schedule on');
const disable = switchCommand('disable', false, 'Switch a schedule off; it can still be run by hand');

/** They act through the API; what is not served by a server runs no schedule on its own. */
export const scheduleCommands = [list, preview, run, enable, disable];

function switchCommand(verb: 'enable' | 'disable', enabled: boolean, summary: string) {
  return defineCommand({
    name: `schedule ${verb}`,
    summary,
    words: { schedule },
    run: (args, cli) =>
      withConnection(args, cli, async ({ client }: Connection) => {
        const { scheduleId } = await found(client, args.schedule);
        const all = await client.put<readonly ScheduleView[]>(pathOf`/api/v2/schedules/${scheduleId}`, { enabled });
        const now = all.find((one) => one.scheduleId === scheduleId);
        const nextRunAt = now?.nextRunAt ?? null;
        const next = nextRunAt === null ? '' : ` Next run: ${nextRunAt}.`;
        cli.out.line(lineText(`Switched ${enabled ? 'on' : 'off'} ${now === undefined ? args.schedule : placeOf(now)}.${next}`));
      }),
  });
}

/** The one schedule that is meant. Throws ORYX_NOT_FOUND, or ORYX_CONFLICT for a key that several agents use. */
async function found(client: RestClient, wanted: string): Promise<ScheduleView> {
  const all = await client.get<readonly ScheduleView[]>('/api/v2/schedules');
  const exact = all.find((one) => one.scheduleId === wanted || placeOf(one) === wanted);
  if (exact !== undefined) return exact;
  const [one, ...others] = all.filter(({ key }) => key === wanted);
  if (one === undefined) throw notFound(`There is no schedule "${wanted}". See "oryxos schedule list".`);
  if (others.length > 0) throw conflict(`Several agents have a schedule "${wanted}": ${[one, ...others].map(placeOf).join(', ')}.`);
  return one;
}

function placeOf({ profileName, key }: ScheduleView): string {
  return `${profileName}/${key}`;
}

function sentenceOf({ status, durationMs, errorMessage, reason, traceId }: ScheduleExecutionView): string {
  const why = errorMessage ?? reason;
  return `${status}${durationMs === null ? '' : ` after ${(durationMs / 1000).toFixed(1)} s`}${why === null ? '' : `: ${why}`} (trace ${traceId ?? '-'})`;
}

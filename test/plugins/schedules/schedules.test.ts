import { expect } from 'chai';
import { agentFile, fakeClock, type FakeClock, startHost, type TestHost, until } from '../../harness/index.ts';

const NOON = Date.UTC(2026, 10, 30, 12);

function scheduled(name: string, ...entries: readonly string[]): string {
  return agentFile(name, `tools: []\nschedules:\n${entries.map((entry) => `  - {${entry}}`).join('\n')}`);
}

async function start(clock: FakeClock, entries: readonly string[], more: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  return await startHost({ clock, agents: { w1: scheduled('w1', ...entries) }, ...more });
}

// oxlint-disable-next-line typescript/no-explicit-any -- views of every shape
type View = any;

const schedules = async (host: TestHost): Promise<readonly View[]> => (await host.request('GET', '/api/v2/schedules')).data;
const only = async (host: TestHost): Promise<View> => (await schedules(host))[0];
const executions = async (host: TestHost, id: string): Promise<readonly View[]> =>
  (await host.request('GET', `/api/v2/schedules/${id}/executions`)).data;
const idle = async (host: TestHost, id: string, count: number): Promise<readonly View[]> =>
  await until(`${count} finished executions`, async () => {
    const rows = await executions(host, id);
    return rows.length >= count && rows.every(({ status }) => status !== 'running') ? rows : undefined;
  });

describe('schedules', () => {
  it('run at their time, in a session of their own, and leave a row with a trace', async () => {
    const clock = fakeClock(NOON);
    await using host = await start(clock, ['key: daily, name: Daily, cron: "0 5 12 * * *", zone: UTC, message: go']);
    host.model.willSay('done');
    const before = await only(host);
    expect(before).to.include({ profileName: 'w1', key: 'daily', name: 'Daily', cron: '0 5 12 * * *', zone: 'UTC', message: 'go' });
    expect(before).to.include({ enabled: true, nextRunAt: '2026-11-30T12:05:00.000Z', lastRunAt: null, lastStatus: null, runCount: 0 });

    await clock.tick(5 * 60_000);
    const [row, ...others] = await idle(host, before.scheduleId, 1);
    expect(others).to.deep.equal([]);
    const slot = '2026-11-30T12:05:00.000Z';
    expect(row).to.include({ status: 'success', success: true, slotAt: slot, firstSlot: slot, lastSlot: slot, count: 1, startedAt: slot });
    expect(row).to.include({ sessionId: `schedule:${before.scheduleId}`, legacyTaskKey: null, legacyMigrated: false, errorMessage: null });
    const after = await until('the end in the list', async () => {
      const view = await only(host);
      return view.lastStatus === 'success' ? view : undefined;
    });
    expect(after).to.include({ lastRunAt: slot, runCount: 1, nextRunAt: '2026-12-01T12:05:00.000Z' });

    const [execution] = (await host.request('GET', '/api/v1/agents/w1/executions')).data;
    expect(execution).to.include({ agentName: 'w1', source: 'schedule', status: 'SUCCESS', traceId: row.traceId, sessionId: row.sessionId });
    const session = (await host.request('GET', `/api/v1/sessions/${encodeURIComponent(row.sessionId)}`)).data;
    expect(session.messages.map(({ content }: View) => content)).to.deep.equal(['go', 'done']);
    const [stored] = await host.rows('sessions');
    expect(stored).to.include({ channel: 'scheduler', user_id: 'scheduler' });
  });
});

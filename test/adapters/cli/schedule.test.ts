import { expect } from 'chai';
import { startApiServer } from './api-server.ts';
import { openTerminal } from './terminal.ts';

const daily = {
  scheduleId: '6c1e0000-0000-4000-8000-000000000001',
  profileName: 'w1',
  key: 'daily',
  name: 'Daily',
  cron: '0 0 9 * * *',
  zone: null,
  message: 'go',
  enabled: true,
  nextRunAt: '2026-12-01T09:00:00.000Z',
  lastRunAt: null,
  lastStatus: null,
  runCount: 0,
};
const other = { ...daily, scheduleId: '6c1e0000-0000-4000-8000-000000000002', profileName: 'w2' };
const single = { ...daily, scheduleId: '6c1e0000-0000-4000-8000-000000000003', key: 'single', enabled: false, nextRunAt: null };
const fires = [
  { at: '2026-11-01T05:30:00.000Z', local: '2026-11-01T01:30:00-04:00', dst: 'repeat' },
  { at: '2026-11-02T06:30:00.000Z', local: '2026-11-02T01:30:00-05:00', dst: null },
];

async function running() {
  const server = await startApiServer();
  const terminal = await openTerminal();
  await terminal.withServer(server.url);
  server.on('GET /api/v2/schedules', () => [daily, single, other]);
  const stop = async (): Promise<void> => {
    await server.close();
    await terminal[Symbol.asyncDispose]();
  };
  return { server, terminal, [Symbol.asyncDispose]: stop };
}

describe('oryxos schedule', function () {
  this.timeout(20_000);

  it('lists schedules, as JSON too', async () => {
    await using it = await running();
    expect(await it.terminal.run('schedule', 'list')).to.equal(0);
    expect(it.terminal.stdout())
      .to.match(/^SCHEDULE {3}CRON/)
      .and.include('w1/single')
      .and.include('2026-12-01T09:00:00.000Z');
    await using again = await running();
    expect(await again.terminal.run('schedule', 'list', '--json')).to.equal(0);
    expect(JSON.parse(again.terminal.stdout())).to.deep.equal([daily, single, other]);
  });

  it('shows when a schedule or an expression fires, and marks changes of clocks', async () => {
    await using it = await running();
    it.server.on(`GET /api/v2/schedules/${daily.scheduleId}/preview`, () => ({ cron: daily.cron, zone: 'America/New_York', fires }));
    expect(await it.terminal.run('schedule', 'preview', 'w1/daily', '--count', '2')).to.equal(0);
    expect(it.server.seen.at(-1)?.path).to.include('?count=2');
    expect(it.terminal.stdout()).to.include('America/New_York').and.include('2026-11-01T01:30:00-04:00').and.include('comes twice');

    it.server.on('POST /api/v2/schedules/preview', () => ({ cron: '0 0 0 30 2 *', zone: 'UTC', fires: [] }));
    expect(await it.terminal.run('schedule', 'preview', '--cron', '0 0 0 30 2 *', '--zone', 'UTC')).to.equal(0);
    expect(it.server.seen.at(-1)?.body).to.deep.equal({ cron: '0 0 0 30 2 *', zone: 'UTC', count: 10 });
    expect(it.terminal.stdout()).to.include('never fires');
    expect(await it.terminal.run('schedule', 'preview')).to.equal(2);
    expect(await it.terminal.run('schedule', 'preview', 'single', '--cron', '@daily')).to.equal(2);
    expect(await it.terminal.run('schedule', 'preview', 'single', '--count', '0')).to.equal(2);
  });

  it('runs one by hand, and fails as the run does', async () => {
    await using it = await running();
    const row = { status: 'success', firstSlot: null, durationMs: 1730, errorMessage: null, reason: null, traceId: 't1' };
    const slot = { ...row, status: 'skipped', firstSlot: '2026-11-30T09:00:00.000Z' };
    it.server.on(`POST /api/v2/schedules/${single.scheduleId}/run`, () => [slot, row]);
    expect(await it.terminal.run('schedule', 'run', 'single')).to.equal(0);
    expect(it.terminal.stdout()).to.equal('success after 1.7 s (trace t1)\n');
    it.server.on(`POST /api/v2/schedules/${single.scheduleId}/run`, () => [{ ...row, status: 'failed', errorMessage: 'it is down' }]);
    expect(await it.terminal.run('schedule', 'run', single.scheduleId)).to.equal(1);
    expect(it.terminal.stdout()).to.include('failed after 1.7 s: it is down');
  });

  it('switches one on and off', async () => {
    await using it = await running();
    it.server.on(`PUT /api/v2/schedules/${single.scheduleId}`, ({ body }) => [
      { ...single, ...(body as object), nextRunAt: daily.nextRunAt },
    ]);
    expect(await it.terminal.run('schedule', 'enable', 'single')).to.equal(0);
    expect(it.terminal.stdout()).to.equal('Switched on w1/single. Next run: 2026-12-01T09:00:00.000Z.\n');
    expect(await it.terminal.run('schedule', 'disable', 'w1/single')).to.equal(0);
    expect(it.server.asked(`PUT /api/v2/schedules/${single.scheduleId}`).map(({ body }) => body)).to.deep.equal([
      { enabled: true },
      { enabled: false },
    ]);
  });

  it('asks back instead of guessing between agents', async () => {
    await using it = await running();
    expect(await it.terminal.run('schedule', 'disable', 'daily')).to.equal(1);
    expect(it.terminal.stderr()).to.include('w1/daily, w2/daily');
    expect(await it.terminal.run('schedule', 'disable', 'none')).to.equal(1);
    expect(it.terminal.stderr()).to.include('There is no schedule "none"');
  });
});

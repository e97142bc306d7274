import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlugin, type Message, type NotifyOutcome } from '../../../kernel/index.ts';
import { agentFile, fakeClock, type HostOptions, type TestHost, until } from '../../harness/index.ts';
import { addChannel, inState, later, OK, pager, type Pager, pagerHost } from './outbox-fixture.ts';

const SECOND = 1_000;
const agents = { t: agentFile('t', 'tools: [notify]') };
const start = (device: Pager, options: HostOptions = {}) => pagerHost(device, { agents, ...options });

/** What the model is told about its call. */
async function told(host: TestHost, args: object, around: (run: Promise<unknown>) => Promise<unknown> = (run) => run): Promise<string> {
  host.model.willCall('notify', args);
  await around(host.say('t', 'go'));
  return resultIn(host.model.requests.at(-1)?.messages ?? []);
}

const resultIn = (messages: readonly Message[]): string => messages.findLast(({ role }) => role === 'tool')?.content ?? '';

describe('the tool notify', function () {
  this.timeout(30_000);
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'oryxos-notify-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('sends to the channel that is named, and to the default one when none is', async () => {
    const device = pager();
    await using host = await start(device);
    await addChannel(host, 'ops');
    expect(await told(host, { content: 'a', channel: 'ops' })).to.equal('Sent to ops');
    for (const channel of [undefined, '', ' ', 'default']) expect(await told(host, { content: 'b', channel })).to.equal('Sent to team');
    expect(device.sent.map(({ channel }) => channel)).to.deep.equal(['ops', 'team', 'team', 'team', 'team']);
    const [first] = await host.rows('notify_outbox');
    expect(first).to.include({ agent: 't', content: 'a' });
    expect(first?.['key']).to.equal(`${String(first?.['trace_id'])}/tool/1/1`);
  });

  it("tells the receiver's reason and code when it was refused, and the run goes on", async () => {
    const device = pager();
    device.replies.push({ ok: false, kind: 'refused', message: 'the pager answered: invalid token', code: '19001' });
    await using host = await start(device);
    expect(await told(host, { content: 'a' })).to.equal('Tool failed: Not sent to team: the pager answered: invalid token (code 19001)');
    const { data } = await host.request('GET', '/api/v1/audit/tool');
    expect(data[0]).to.include({ toolName: 'notify', success: false });
    expect(host.model.requests).to.have.length(2);
  });

  it('says that a message may have arrived and must not simply be repeated', async () => {
    const device = pager();
    device.replies.push({ ok: false, kind: 'unknown', message: 'the connection broke' });
    await using host = await start(device);
    const text = await told(host, { content: 'a' });
    expect(text).to.include('the connection broke').and.include('may have arrived').and.include('Do not simply send it again');
    expect(device.sent).to.have.length(1);
  });

  it('waits 30 seconds and then says under which number the message is queued', async () => {
    const clock = fakeClock();
    const device = pager();
    device.always = () => later('down', 3_600_000);
    await using host = await start(device, { clock });
    const text = await told(host, { content: 'a' }, async (run) => {
      await until('the attempt to be over', async () => (await host.rows('notify_outbox'))[0]?.['error']);
      await clock.tick(29 * SECOND);
      expect(host.model.requests).to.have.length(1);
      await clock.tick(SECOND);
      await run;
    });
    expect(text).to.include('queued as #1').and.include('accepted and will be delivered').and.include('down');
    device.always = () => OK;
    await clock.jump(3_600_000);
    await inState(host, 1, 'delivered');
  });

  it('names the channels for an unknown one, and sends nothing, also not to a URL', async () => {
    const device = pager();
    await using host = await start(device);
    await addChannel(host, 'ops');
    for (const channel of ['nobody', 'TEAM', 'http://attacker.test/hook']) {
      const text = await told(host, { content: 'x', channel });
      expect(text).to.include(JSON.stringify(channel)).and.include('team, ops');
    }
    expect(device.sent).to.have.length(0);
    expect(await host.rows('notify_outbox')).to.have.length(0);
  });

  it('says who can help when there is no channel, and what is wrong with the content', async () => {
    const device = pager();
    await using host = await start(device);
    expect(await told(host, { content: ' ' })).to.include('content must not be empty');
    expect(await told(host, { content: '' })).to.include('Bad arguments for notify');
    await host.request('DELETE', '/api/v1/notify-channels/team');
    expect(await told(host, { content: 'x' })).to.include('an administrator must add one');
  });

  it('tells the model which channels there are now, and nothing of their addresses and secrets', async () => {
    const device = pager();
    await using host = await start(device);
    const described = async (): Promise<string> => {
      await host.say('t', 'go');
      return host.model.requests.at(-1)?.tools[0]?.description ?? '';
    };
    expect(await described()).to.include('Channels: team (default).');
    await addChannel(host, 'ops', { secret: 'abcdef123456' });
    expect(await described()).to.include('Channels: team (default), ops.');
    await host.request('DELETE', '/api/v1/notify-channels/team');
    expect(await described()).to.include('Channels: ops (default).');
    expect(JSON.stringify(host.model.requests)).to.not.include('pager.example.test').and.not.include('abcdef123456');
  });

  it('is refused like every tool by a policy and when the agent does not declare it', async () => {
    const device = pager();
    const guard = definePlugin({
      name: 'no',
      setup: (ctx) =>
        void ctx.tap('beforeToolCall', (call) => (call.tool.name === 'notify' ? { blockedBy: 'no', message: 'not now' } : undefined)),
    });
    await using host = await start(device, { plugins: [guard] });
    host.model.willCall('notify', { content: 'x' });
    expect((await host.say('t', 'go')).error?.message).to.include('not now');
    host.model.willCall('notify', { content: 'x' });
    expect((await host.say('default', 'go')).error?.message).to.include('does not declare');
    expect(device.sent).to.have.length(0);
  });

  it('finds its message when its step runs again, and sends nothing twice', async () => {
    const device = pager();
    let release = (outcome: NotifyOutcome): void => void outcome;
    device.replies.push(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    const files = { 'agents/t/AGENT.md': agents.t };
    const first = await pagerHost(device, { home, files });
    await addChannel(first, 'team');
    const id = randomUUID();
    first.model.willCall('notify', { content: 'once' });
    const request = { id, profile: 't', sessionId: 'web:x:t', origin: 'session', input: 'go', persistent: true } as const;
    const broken = first.kernel
      .service('turns')
      .run(request)
      .catch((error: unknown) => error);
    await until('the attempt', () => device.sent.length === 1);
    // The run is suspended while it waits for the message, as by a stop of the server.
    await first.kernel.service('engine').drain(0);
    await broken;
    release(OK);
    await inState(first, 1, 'delivered');
    await first.stop();

    const after = pager();
    await using second = await pagerHost(after, { home });
    const outcome = await second.kernel.service('engine').outcome(id);
    expect(outcome.status).to.equal('completed');
    expect(resultIn(second.model.requests[0]?.messages ?? [])).to.equal('Sent to team');
    expect([device.sent.length, after.sent.length]).to.deep.equal([1, 0]);
  });
});

import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../durable/server-process.ts';
import { request } from '../../harness/http-client.ts';
import { fakeClock, scriptedModel, startHost, type TestHost, until } from '../../harness/index.ts';
import { says, startModelServer } from '../../harness/model-server.ts';
import { bound, CONFIG, deliver, startChatting } from './chatting.ts';
import { messageEvent } from './feishu-events.ts';
import { type FeishuStub, startFeishuStub } from './feishu-stub.ts';

const PATH = '/api/v1/channels/feishu/helper';

/** A home with the agent `helper`, for servers that are killed. */
async function crashHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'oryxos-chat-'));
  await mkdir(join(home, 'workspace/agents/helper'), { recursive: true });
  await writeFile(join(home, 'workspace/agents/helper/AGENT.md'), bound('helper'));
  return home;
}

const channelOf = (stub: FeishuStub) => ({ name: 'team-lark', type: 'feishu', url: stub.url, config: { ...CONFIG, base_url: stub.url } });

describe('messages from chats after a crash', function () {
  this.timeout(60_000);
  let home = '';
  beforeEach(async () => {
    home = await crashHome();
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('that were accepted and never acknowledged are run and answered once', async () => {
    await using stub = await startFeishuStub();
    await using model = await startModelServer();
    model.fallback = says('here I am');
    const event = messageEvent();
    const first = await startServer(home, model.baseUrl, 'after_user_msg_persisted:SIGKILL');
    await request(first.url, 'POST', '/api/v1/notify-channels', channelOf(stub));
    expect(await request(first.url, 'POST', PATH, event).catch(() => 'cut')).to.equal('cut');
    await first.gone;
    await using second = await startServer(home, model.baseUrl);
    expect((await request(second.url, 'POST', PATH, event)).data.status).to.equal('duplicate');
    await until('the answer', () => stub.shown.length === 1, 20_000);
    expect(stub.shown[0]).to.include({ messageId: event.event.message.message_id, text: 'here I am' });
    await request(second.url, 'POST', PATH, messageEvent());
    await until('the next answer', () => stub.shown.length === 2, 20_000);
    expect(stub.attempts).to.have.length(2);
    expect(model.requests).to.have.length(2);
  });

  it('whose run was under way are answered when it has gone on to its end', async () => {
    await using stub = await startFeishuStub();
    await using model = await startModelServer();
    model.will(() => {});
    model.fallback = says('after all');
    const first = await startServer(home, model.baseUrl);
    await request(first.url, 'POST', '/api/v1/notify-channels', channelOf(stub));
    await request(first.url, 'POST', PATH, messageEvent());
    await model.received(1);
    await first.kill('SIGKILL');
    await using second = await startServer(home, model.baseUrl);
    await until('the answer', () => stub.shown.length === 1, 20_000);
    expect(stub.shown[0]?.text).to.equal('after all');
    expect(second.url).to.be.a('string');
  });

  it('whose answer was under way and has arrived are shown one answer', async () => {
    await using stub = await startFeishuStub();
    await using model = await startModelServer();
    stub.hold(true);
    const first = await startServer(home, model.baseUrl);
    await request(first.url, 'POST', '/api/v1/notify-channels', channelOf(stub));
    await request(first.url, 'POST', PATH, messageEvent());
    await until('the reply to be under way', () => stub.held === 1, 20_000);
    await first.kill('SIGKILL');
    stub.hold(false);
    await until('the reply to have arrived', () => stub.shown.length === 1);
    await using second = await startServer(home, model.baseUrl);
    await until('the second try', () => stub.attempts.length === 2, 20_000);
    await request(second.url, 'POST', PATH, messageEvent());
    await until('the answer to the next message', () => stub.shown.length === 2, 20_000);
    expect(new Set(stub.attempts.map(({ uuid }) => uuid)).size).to.equal(2);
    expect(model.requests).to.have.length(2);
  });
});

describe('answers under way at a stop', function () {
  this.timeout(20_000);

  /** Stops a host while its reply is under way, and goes on with its workspace so much later. */
  async function wentOn(stub: FeishuStub, laterMs: number): Promise<{ readonly host: TestHost; readonly cleanUp: () => Promise<void> }> {
    const clock = fakeClock();
    const made = await mkdtemp(join(tmpdir(), 'oryxos-chat-'));
    await mkdir(join(made, 'workspace/agents/helper'), { recursive: true });
    await writeFile(join(made, 'workspace/agents/helper/AGENT.md'), bound('helper'));
    const first = await startHost({ home: made, clock });
    await first.request('POST', '/api/v1/notify-channels', channelOf(stub));
    stub.hold(true);
    await deliver(first, messageEvent({ sentAt: clock.now() }));
    await until('the reply to be under way', () => stub.held === 1);
    await first.stop();
    stub.hold(false);
    await until('the reply to have arrived', () => stub.shown.length === 1);
    const host = await startChatting(stub, CONFIG, { home: made, clock: fakeClock(clock.now() + laterMs), model: scriptedModel() });
    return { host, cleanUp: () => rm(made, { recursive: true, force: true }) };
  }

  const stateOf = async (host: TestHost): Promise<unknown> => (await host.rows('channel_messages'))[0]?.['state'];

  it('are sent again with the same key at the next start', async () => {
    await using stub = await startFeishuStub();
    const { host, cleanUp } = await wentOn(stub, 30 * 60 * 1000);
    await until('the end', async () => (await stateOf(host)) === 'answered');
    expect(stub.attempts.map(({ uuid }) => uuid)).to.deep.equal([stub.shown[0]?.uuid, stub.shown[0]?.uuid]);
    expect(stub.shown).to.have.length(1);
    await host.stop();
    await cleanUp();
  });

  it('are not sent again when Feishu would not know the key any more', async () => {
    await using stub = await startFeishuStub();
    const { host, cleanUp } = await wentOn(stub, 2 * 3600 * 1000);
    await until('the end', async () => (await stateOf(host)) === 'unknown');
    expect(stub.attempts).to.have.length(1);
    await host.stop();
    await cleanUp();
  });

  it('are left alone by short-lived hosts of the command line', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    const { host, cleanUp } = await wentOn(stub, 0);
    await until('the end', async () => (await stateOf(host)) === 'answered');
    stub.hold(true);
    await deliver(host, messageEvent({ sentAt: clock.now() }));
    await until('the reply to be under way', () => stub.held === 1);
    await host.stop();
    stub.hold(false);
    await until('the reply to have arrived', () => stub.shown.length === 2);
    const embedded = await startHost({ home: host.home, mode: 'embedded', clock });
    expect((await embedded.rows('channel_messages')).map(({ state }) => state)).to.deep.equal(['answered', 'sending']);
    await embedded.stop();
    await cleanUp();
  });
});

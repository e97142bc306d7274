import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { fakeClock, type TestHost, until } from '../../harness/index.ts';
import { CONFIG, deliver, startChatting } from './chatting.ts';
import { APP, encrypted, messageEvent, signature } from './feishu-events.ts';
import { type FeishuStub, startFeishuStub } from './feishu-stub.ts';

const rowOf = async (host: TestHost) => (await host.rows('channel_messages'))[0] ?? {};
const stateIs = (host: TestHost, state: string) => until(`the answer to be ${state}`, async () => (await rowOf(host))['state'] === state);
const texts = (stub: FeishuStub): readonly string[] => stub.shown.map(({ text }) => text);

describe('answers to chats', function () {
  this.timeout(20_000);

  it('of one chat come in the order of its messages, also when the first one has to be sent again', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    await using host = await startChatting(stub, CONFIG, { clock });
    let finish = (): void => undefined;
    host.model.will({ content: 'first', after: new Promise<void>((resolve) => (finish = resolve)) });
    host.model.willSay('second');
    stub.will({ status: 429, body: { code: 99991400, msg: 'request trigger frequency limit' } });
    for (const text of ['one', 'two']) await deliver(host, messageEvent({ text, sentAt: clock.now() }));
    finish();
    await until('a try', () => stub.attempts.length === 1);
    await until('both runs to end', async () => (await host.rows('turns')).every(({ ended_at }) => ended_at !== null));
    await until('the answers', async () => {
      await clock.tick(1_000);
      return stub.shown.length === 2;
    });
    expect(texts(stub)).to.deep.equal(['first', 'second']);
  });

  it('of other chats do not wait for one that cannot be sent', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    await using host = await startChatting(stub, CONFIG, { clock });
    stub.will({ status: 429, body: { code: 99991400, msg: 'slow down' } });
    await deliver(host, messageEvent({ sentAt: clock.now() }));
    await until('a try', () => stub.attempts.length === 1);
    await deliver(host, messageEvent({ chatId: 'oc_other', sentAt: clock.now() }));
    await until('the other answer', () => stub.shown.length === 1);
    expect(stub.attempts).to.have.length(2);
  });

  it('are sent with a new token when the old one is not taken any more', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    await deliver(host, messageEvent());
    await until('the first answer', () => stub.shown.length === 1);
    await deliver(host, messageEvent());
    await until('the second answer', () => stub.shown.length === 2);
    expect(stub.tokens).to.have.length(1);
    stub.expireTokens();
    await deliver(host, messageEvent());
    await until('the third answer', () => stub.shown.length === 3);
    expect(stub.tokens).to.have.length(2);
    expect(stub.shown.map(({ token }) => token)).to.deep.equal(['t-stub-1', 't-stub-1', 't-stub-2']);
  });

  it('ask for a new token before the old one ends', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    await using host = await startChatting(stub, CONFIG, { clock });
    for (const hours of [0, 1.9]) {
      await clock.jump(hours * 3600 * 1000);
      await deliver(host, messageEvent({ sentAt: clock.now() }));
      await until('the answer', () => stub.shown.length === (hours === 0 ? 1 : 2));
    }
    expect(stub.tokens).to.have.length(2);
  });

  it('are sent again, each time later, with the same key', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    await using host = await startChatting(stub, CONFIG, { clock });
    const busy = { status: 500, body: { code: 2200, msg: 'Internal Error' } };
    stub.will(busy, { ...busy, cut: true }, { body: { code: 230020, msg: 'too many' }, headers: { 'x-ogw-ratelimit-reset': '30' } });
    await deliver(host, messageEvent({ sentAt: clock.now() }));
    for (const [attempts, waitMs] of [
      [1, 1_000],
      [2, 2_000],
      [3, 30_000],
    ] as const) {
      await until('a try', () => stub.attempts.length === attempts);
      await until('the wait', () => clock.pending > 0);
      await until('its record', async () => (await rowOf(host))['error'] !== undefined);
      await clock.tick(waitMs - 1);
      expect(stub.attempts).to.have.length(attempts);
      await until('the next try', async () => {
        await clock.tick(1);
        return stub.attempts.length === attempts + 1;
      });
    }
    await stateIs(host, 'answered');
    expect(new Set(stub.attempts.map(({ uuid }) => uuid)).size).to.equal(1);
    expect(stub.shown).to.have.length(1);
  });

  it('wait for a token, and for a secret that is set right', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    await using host = await startChatting(stub, CONFIG, { clock });
    const wrong = { status: 400, body: { code: 10014, msg: 'app secret invalid' } };
    stub.willForToken(wrong, wrong);
    await deliver(host, messageEvent({ sentAt: clock.now() }));
    await until('the reason', async () => String((await rowOf(host))['error']).includes('app secret invalid'));
    expect(await rowOf(host)).to.include({ unsure_since: null });
    const change = { type: 'feishu', url: stub.url, config: { ...CONFIG, base_url: stub.url, app_secret: 'another-app-secret' } };
    expect((await host.request('PUT', '/api/v1/notify-channels/team-lark', change)).status).to.equal(200);
    await until('the answer', async () => {
      await clock.tick(1_000);
      return stub.shown.length === 1;
    });
    expect(stub.tokens.at(-1)).to.include({ appSecret: 'another-app-secret' });
  });

  it('that the service refuses end, with its reason, and hold up nothing', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    stub.will({ status: 400, body: { code: 230011, msg: 'The message was withdrawn.' } });
    await deliver(host, messageEvent());
    await deliver(host, messageEvent());
    await until('the second answer', () => stub.shown.length === 1);
    expect(await rowOf(host)).to.include({ state: 'failed', error: 'Feishu answered 230011: The message was withdrawn.' });
    expect(stub.attempts).to.have.length(2);
  });

  it('are given up after a day', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    await using host = await startChatting(stub, CONFIG, { clock });
    const limit = { status: 429, body: { code: 99991400, msg: 'slow down' } };
    stub.will(limit, limit);
    await deliver(host, messageEvent({ sentAt: clock.now() }));
    await until('a try', () => stub.attempts.length === 1);
    await until('its record', async () => (await rowOf(host))['error'] !== null);
    await until('the end', async () => {
      await clock.jump(25 * 3600 * 1000);
      return (await rowOf(host))['state'] === 'failed';
    });
    expect(stub.shown).to.deep.equal([]);
  });

  it('may stay unknown: what may have arrived is not sent again when the service would not know it any more', async () => {
    await using stub = await startFeishuStub();
    const clock = fakeClock();
    await using host = await startChatting(stub, CONFIG, { clock });
    const cut = { body: {}, cut: true };
    stub.will(cut, cut, cut);
    await deliver(host, messageEvent({ sentAt: clock.now() }));
    await until('a try', () => stub.attempts.length === 1);
    await until('the end', async () => {
      await clock.jump(56 * 60 * 1000);
      return (await rowOf(host))['state'] === 'unknown';
    });
    expect(stub.attempts).to.have.length(1);
  });

  it('that are long come in parts, in order, each under its own key', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    const lines = Array.from({ length: 5_000 }, (_, index) => `${index} "quoted" ünïcode 行`);
    host.model.willSay(lines.join('\n'));
    stub.will({ body: { code: 0 } }, { status: 500, body: {} });
    await deliver(host, messageEvent());
    await stateIs(host, 'answered');
    expect(stub.shown.length).to.be.greaterThan(3);
    expect(texts(stub).join('') === lines.join('\n'), 'nothing is lost').to.equal(true);
    const { id, parts_sent: parts } = await rowOf(host);
    expect(stub.shown.map(({ uuid }) => uuid)).to.deep.equal(stub.shown.map((_, index) => `${String(id)}-${index + 1}`));
    expect(parts).to.equal(stub.shown.length);
    for (const text of texts(stub)) expect(Buffer.byteLength(JSON.stringify({ content: JSON.stringify({ text }) }))).to.be.at.most(30_000);
  });

  it('say in a few words that a run failed, without secrets', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    host.model.willFail({ kind: 'http', status: 401, message: `provider "scripted" refused ${APP.appSecret} ${'x'.repeat(400)}` });
    await deliver(host, messageEvent());
    await until('the answer', () => stub.shown.length === 1);
    expect(texts(stub)[0]).to.match(/^Sorry, this request could not be finished: provider "scripted" refused fixt\*\*\*\* x+…$/);
    expect(texts(stub)[0]?.length).to.be.lessThan(400);
  });

  it('say that a run was stopped, and that there was nothing to say', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    host.model.will({ content: 'never', after: new Promise(() => {}) });
    const { data } = await deliver(host, messageEvent());
    await until('the run', () => host.model.requests.length === 1);
    await host.request('DELETE', `/api/v1/runs/${data.traceId}`);
    await until('the answer', () => stub.shown.length === 1);
    expect(texts(stub)[0]).to.include('stopped');
    host.model.willSay('');
    await deliver(host, messageEvent());
    await until('the second answer', () => stub.shown.length === 2);
    expect(texts(stub)[1]).to.include('nothing to say');
  });

  it('mention nobody', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    host.model.willSay('<at user_id="all">all</at> a < b <attr>');
    await deliver(host, messageEvent());
    await until('the answer', () => stub.shown.length === 1);
    expect(texts(stub)[0]).to.not.match(/<\/?at\b/);
    expect(texts(stub)[0]?.replaceAll('\u200b', '')).to.equal('<at user_id="all">all</at> a < b <attr>');
  });

  it('keep the secrets of the app out of the database, the API and the log', async () => {
    await using stub = await startFeishuStub();
    const config = { ...CONFIG, encrypt_key: APP.key };
    await using host = await startChatting(stub, config, { config: { 'logging.level': 'debug' } });
    await deliver(host, messageEvent());
    stub.will({ status: 400, body: { code: 1, msg: `bad ${APP.appSecret} ${APP.key} ${APP.token}` } });
    const body = JSON.stringify(encrypted(messageEvent()));
    await deliver(host, body, signature(body));
    await stateIs(host, 'failed');
    const log = await until('the log', async () => {
      const text = await readFile(`${host.root}/logs/oryxos.log`, 'utf8').catch(() => '');
      return text.includes('did not reach its chat') ? text : undefined;
    });
    const rows = [await host.rows('channel_messages'), await host.rows('notify_channels')].map((table) => JSON.stringify(table));
    const views = (await host.request('GET', '/api/v1/notify-channels')).text;
    for (const text of [log, ...rows, views]) for (const secret of [APP.appSecret, APP.token, APP.key]) expect(text).to.not.include(secret);
  });
});

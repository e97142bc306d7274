import { expect } from 'chai';
import { agentFile, until } from '../../harness/index.ts';
import { bound, CONFIG, deliver, register, startChatting } from './chatting.ts';
import { APP, challengeEvent, encrypted, messageEvent, oldMessageEvent, signature } from './feishu-events.ts';
import { BOT_ID, startFeishuStub } from './feishu-stub.ts';

const SEALED = { ...CONFIG, encrypt_key: APP.key };
const DAY_MS = 24 * 3600 * 1000;

describe('events from Feishu', function () {
  this.timeout(20_000);

  it('get the challenge back as it is, outside of the envelope', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    const answer = await deliver(host, challengeEvent());
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.include('application/json');
    expect(JSON.parse(answer.text)).to.deep.equal({ challenge: 'ajls384kdjx98XX' });
    expect((await deliver(host, challengeEvent('another token'))).status).to.equal(403);
    expect((await deliver(host, { type: 'url_verification', token: APP.token })).text).to.not.include('challenge');
  });

  it('get an encrypted challenge back in clear, signed or not', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub, SEALED);
    const body = JSON.stringify(encrypted(challengeEvent()));
    for (const headers of [{}, signature(body)]) {
      expect(JSON.parse((await deliver(host, body, headers)).text)).to.deep.equal({ challenge: 'ajls384kdjx98XX' });
    }
    expect((await deliver(host, encrypted(challengeEvent('another token')))).status).to.equal(403);
    expect((await deliver(host, challengeEvent())).status).to.equal(403);
    expect((await deliver(host, encrypted(challengeEvent(), 'another key'))).status).to.equal(403);
  });

  it('start a run in a session of the chat, and are answered with its reply', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    host.model.willSay('Good morning.');
    const event = messageEvent({ text: 'good day' });
    const answer = await deliver(host, event);
    expect(answer.status).to.equal(200);
    expect(answer.code).to.equal(0);
    expect(answer.data).to.deep.equal({ status: 'accepted', traceId: answer.headers['x-trace-id'] });
    await until('the answer', () => stub.shown.length === 1);
    const { message } = event.event;
    expect(stub.shown[0]).to.include({ messageId: message.message_id, text: 'Good morning.', uuid: `${answer.data.traceId}-1` });
    expect(stub.tokens).to.deep.equal([{ appId: APP.appId, appSecret: APP.appSecret }]);

    const sessionId = `feishu:${message.chat_id}:helper`;
    const session = await host.request('GET', `/api/v1/sessions/${encodeURIComponent(sessionId)}`);
    expect(session.data.messages.map(({ content }: { content: string }) => content)).to.deep.equal(['good day', 'Good morning.']);
    expect((await host.rows('sessions'))[0]).to.include({ channel: 'feishu', user_id: event.event.sender.sender_id.open_id });
    expect((await host.rows('turns'))[0]).to.include({ origin: 'channel', id: answer.data.traceId });
  });

  it('are acknowledged before the run has ended', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    let finish = (): void => undefined;
    host.model.will({ content: 'at last', after: new Promise<void>((resolve) => (finish = resolve)) });
    expect((await deliver(host, messageEvent())).status).to.equal(200);
    expect((await host.request('GET', '/api/v1/runs')).data[0]).to.include({ origin: 'channel', agentName: 'helper' });
    expect(stub.attempts).to.deep.equal([]);
    finish();
    await until('the answer', () => stub.shown.length === 1);
  });

  it('start one run, however often and whenever they are delivered', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    const event = messageEvent();
    const answers = await Promise.all([deliver(host, event), deliver(host, event), deliver(host, event)]);
    await until('the answer', () => stub.shown.length === 1);
    const late = await deliver(host, event);
    const sameMessage = await deliver(host, messageEvent({ messageId: event.event.message.message_id }));
    const all = [...answers, late, sameMessage];
    expect(all.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    expect(all.filter(({ data }) => data.status === 'accepted')).to.have.length(1);
    expect(all.filter(({ data }) => data.status === 'duplicate')).to.have.length(4);
    expect(new Set(all.map(({ data }) => data.traceId)).size).to.equal(1);
    expect(host.model.requests).to.have.length(1);
    expect(await host.rows('turns')).to.have.length(1);
    expect(stub.attempts).to.have.length(1);
  });

  it('are refused with a wrong token or for another app, and change nothing', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    for (const shape of [{ token: 'wrong' }, { token: '' }, { appId: 'cli_other' }]) {
      const answer = await deliver(host, messageEvent(shape));
      expect(answer.status).to.equal(403);
      expect(answer.text).to.not.include(APP.token);
    }
    expect((await deliver(host, oldMessageEvent({ app_id: 'cli_other' }))).status).to.equal(403);
    expect((await deliver(host, encrypted(messageEvent()))).status).to.equal(403);
    for (const table of ['turns', 'sessions', 'messages', 'channel_messages']) expect(await host.rows(table), table).to.deep.equal([]);
  });

  it('are taken encrypted and signed', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub, SEALED);
    const body = JSON.stringify(encrypted(messageEvent({ text: '你好 🙂' })));
    expect((await deliver(host, body, signature(body))).data.status).to.equal('accepted');
    await until('the answer', () => stub.shown.length === 1);
    expect(host.model.requests[0]?.messages.at(-1)).to.include({ content: '你好 🙂' });
    const spaced = `{ "encrypt" : ${JSON.stringify(encrypted(messageEvent()).encrypt)} }\n`;
    expect((await deliver(host, spaced, signature(spaced))).data.status).to.equal('accepted');
  });

  it('are taken with a key and no token', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub, { app_id: APP.appId, app_secret: APP.appSecret, encrypt_key: APP.key });
    const body = JSON.stringify(encrypted(messageEvent({ token: 'any' })));
    expect((await deliver(host, body, signature(body))).data.status).to.equal('accepted');
  });

  it('are refused with one and the same text, whatever is wrong with signature or encryption', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub, SEALED);
    const body = JSON.stringify(encrypted(messageEvent()));
    const signed = signature(body);
    const foreign = JSON.stringify(encrypted(messageEvent(), 'another key'));
    const cut = JSON.stringify({ encrypt: encrypted(messageEvent()).encrypt.slice(0, 40) });
    const answers = [
      await deliver(host, body),
      await deliver(host, body, { ...signed, 'X-Lark-Signature': '0'.repeat(64) }),
      await deliver(host, body, { ...signed, 'X-Lark-Request-Nonce': 'other' }),
      await deliver(host, body, signature(body, 'another key')),
      await deliver(host, `${body} `, signed),
      await deliver(host, foreign, signature(foreign)),
      await deliver(host, cut, signature(cut)),
      await deliver(host, messageEvent(), signature(JSON.stringify(messageEvent()))),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 403));
    expect(new Set(answers.map(({ message }) => message)).size).to.equal(1);
    expect(await host.rows('channel_messages')).to.deep.equal([]);
  });

  it('are refused when they were signed long ago or in the future', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub, SEALED);
    const deliverSigned = async (at: number) => {
      const body = JSON.stringify(encrypted(messageEvent()));
      return (await deliver(host, body, signature(body, APP.key, at))).status;
    };
    expect(await deliverSigned(Date.now() - 1.1 * DAY_MS)).to.equal(403);
    expect(await deliverSigned(Date.now() + 600_000)).to.equal(403);
    expect(await deliverSigned(Date.now() - 7.2 * 3600 * 1000)).to.equal(200);
  });

  it('are found by neither an unknown agent nor one that is not bound, with the same text', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub, CONFIG, {
      agents: {
        helper: bound('helper'),
        free: agentFile('free'),
        other: agentFile('other', 'tools: []\nchannels: [feishu, {name: feishu}]'),
      },
    });
    const answers = await Promise.all(['none', 'free', 'other'].map((agent) => deliver(host, messageEvent(), {}, agent)));
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404]);
    const texts = answers.map(({ message }, index) => message?.replace(['none', 'free', 'other'][index] ?? '', '*'));
    expect(new Set(texts).size).to.equal(1);
    expect(await host.rows('channel_messages')).to.deep.equal([]);
  });

  it('are taken from no channel that is not wholly configured, and the answer says what is missing', async () => {
    await using stub = await startFeishuStub();
    const agents = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'gone'].map((name) => [name, bound(name, name)]));
    await using host = await startChatting(stub, CONFIG, { agents });
    const { app_id, app_secret } = CONFIG;
    await register(host, stub, { app_id, app_secret }, 'a');
    await register(host, stub, { ...CONFIG, app_id: '' }, 'b');
    await register(host, stub, { app_id, verification_token: APP.token }, 'c');
    await register(host, stub, { ...CONFIG, base_url: 'http://127.0.0.1:1' }, 'd');
    await host.request('POST', '/api/v1/notify-channels', { name: 'e', type: 'webhook', url: stub.url, config: CONFIG });
    const texts: Record<string, string | undefined> = {};
    for (const name of ['a', 'b', 'c', 'd', 'e', 'gone']) {
      for (const event of [messageEvent({ token: '' }), messageEvent(), challengeEvent()]) {
        const answer = await deliver(host, event, {}, name);
        expect(answer.status, name).to.equal(503);
        texts[name] = answer.message;
      }
    }
    expect(texts['a']).to.include('verification_token').and.include('encrypt_key');
    expect(texts['b']).to.include('app_id');
    expect(texts['c']).to.include('app_secret');
    expect(texts['d']).to.include('base_url');
    expect(texts['e']).to.include('webhook');
    expect(texts['gone']).to.include('not registered');
    expect(await host.rows('channel_messages')).to.deep.equal([]);
  });

  it('in a group count only when the bot itself is mentioned; its mention is left out, others become names', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    const person = 'ou_person000000000000000000000000002';
    const send = async (text: string, mentions?: Record<string, string>) =>
      (await deliver(host, messageEvent({ group: true, text, ...(mentions && { mentions }) }))).data.status;
    expect(await send('good morning all')).to.equal('ignored');
    expect(stub.tokens).to.deep.equal([]);
    expect(await send('@_user_1 hi', { '@_user_1': person })).to.equal('ignored');
    expect(await send('@_all hi', { '@_all': '' })).to.equal('ignored');
    expect(await send('@_user_1 ', { '@_user_1': BOT_ID })).to.equal('ignored');
    expect(await host.rows('turns')).to.deep.equal([]);
    expect(await send('@_user_1 ask @_user_2 and @_user_10', { '@_user_1': BOT_ID, '@_user_2': person })).to.equal('accepted');
    await until('the answer', () => stub.shown.length === 1);
    expect(host.model.requests[0]?.messages.at(-1)).to.include({ content: 'ask @Name of user_2 and @_user_10' });
  });

  it('are to come again when it cannot be told who is mentioned', async () => {
    await using stub = await startFeishuStub();
    stub.knowsBot = false;
    await using host = await startChatting(stub);
    const event = messageEvent({ group: true, text: '@_user_1 hi', mentions: { '@_user_1': BOT_ID } });
    expect((await deliver(host, event)).status).to.equal(503);
    expect(await host.rows('channel_messages')).to.deep.equal([]);
    stub.knowsBot = true;
    expect((await deliver(host, event)).data.status).to.equal('accepted');
  });

  it('are understood in the older format too', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    expect((await deliver(host, oldMessageEvent())).data.status).to.equal('accepted');
    const group = {
      chat_type: 'group',
      text: '<at open_id="ou_x">@Helper</at> hi',
      text_without_at_bot: ' hi <at open_id="ou_y">@Ann</at>',
    };
    expect((await deliver(host, oldMessageEvent(group))).data.status).to.equal('ignored');
    expect((await deliver(host, oldMessageEvent({ ...group, is_mention: true }))).data.status).to.equal('accepted');
    await until('the answers', () => stub.shown.length === 2);
    expect(host.model.requests.map(({ messages }) => messages.at(-1)?.content)).to.deep.equal(['hello of old', 'hi @Ann']);
    expect((await deliver(host, { ...oldMessageEvent(), token: 'wrong' })).status).to.equal(403);
  });

  it('with formatted text are read as text', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    const content = {
      title: 'Plan',
      content: [
        [
          { tag: 'text', text: 'see ' },
          { tag: 'a', text: 'here', href: 'https://example.com/x' },
        ],
        [{ tag: 'img', image_key: 'img_1' }],
        [
          { tag: 'at', user_id: '@_user_1' },
          { tag: 'text', text: ' ok?' },
        ],
      ],
    };
    const mentions = { '@_user_1': 'ou_person000000000000000000000000003' };
    await deliver(host, messageEvent({ type: 'post', content, mentions }));
    await until('the answer', () => stub.shown.length === 1);
    expect(host.model.requests[0]?.messages.at(-1)?.content).to.equal('Plan\nsee here (https://example.com/x)\n\n@Name of user_1 ok?');
  });

  it('that are no text, or too long a text, are answered with a sentence, without a run', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    const image = messageEvent({ type: 'image', content: { image_key: 'img_v2_fixture' } });
    expect((await deliver(host, image)).data.status).to.equal('accepted');
    expect((await deliver(host, image)).data.status).to.equal('duplicate');
    expect((await deliver(host, messageEvent({ text: 'x'.repeat(32_769) }))).data.status).to.equal('accepted');
    await until('the answers', () => stub.shown.length === 2);
    expect(stub.shown[0]?.text).to.include('only read text');
    expect(stub.shown[1]?.text).to.include('too long');
    expect(await host.rows('turns')).to.deep.equal([]);
    await until('their record', async () => (await host.rows('channel_messages')).every(({ state }) => state === 'answered'));
  });

  it('of other kinds, from bots, without ids, or older than a day are ignored', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    const event = messageEvent();
    const ignored = [
      { ...event, header: { ...event.header, event_type: 'im.chat.disbanded_v1' } },
      messageEvent({ senderType: 'app' }),
      messageEvent({ chatId: 'oc_../../etc' }),
      messageEvent({ text: '   ' }),
      messageEvent({ sentAt: Date.now() - 1.1 * DAY_MS }),
      { schema: '2.0', header: event.header },
      { token: APP.token },
      oldMessageEvent({ type: 'add_bot' }),
    ];
    for (const item of ignored) {
      const answer = await deliver(host, item);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.data, JSON.stringify(item)).to.deep.equal({ status: 'ignored', traceId: null });
    }
    expect(await host.rows('channel_messages')).to.deep.equal([]);
  });

  it('pass the rules of every other request: JSON only, at most 1 MB, POST, no pages of others', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    expect((await deliver(host, '{broken')).status).to.equal(400);
    expect((await deliver(host, '[]')).status).to.equal(400);
    expect((await deliver(host, 'x', { 'content-type': 'text/plain' })).status).to.equal(415);
    expect((await deliver(host, { pad: 'x'.repeat(1_100_000) })).status).to.equal(413);
    expect((await deliver(host, messageEvent(), { host: 'evil.example' })).status).to.equal(403);
    expect((await deliver(host, messageEvent(), { origin: 'https://evil.example' })).status).to.equal(403);
    expect((await host.request('GET', '/api/v1/channels/feishu/helper')).status).to.equal(405);
    expect((await host.request('POST', '/api/v1/channels/other/helper', messageEvent())).status).to.equal(404);
  });

  it('find the app among several to which an agent is bound', async () => {
    await using stub = await startFeishuStub();
    const file = agentFile('helper', 'tools: []\nchannels: [{name: feishu, channel: other}, {name: feishu, channel: team-lark}]');
    await using host = await startChatting(stub, CONFIG, { agents: { helper: file } });
    await register(host, stub, { ...CONFIG, app_secret: 'other-app-secret', verification_token: 'other-verification-token' }, 'other');
    expect((await deliver(host, messageEvent())).data.status).to.equal('accepted');
    expect((await deliver(host, messageEvent({ token: 'other-verification-token' }))).data.status).to.equal('accepted');
    expect((await deliver(host, messageEvent({ token: 'third' }))).status).to.equal(403);
    expect((await host.rows('channel_messages')).map(({ channel }) => channel)).to.deep.equal(['team-lark', 'other']);
  });

  it('have nowhere to go when the adapter is left out', async () => {
    await using stub = await startFeishuStub();
    await using host = await startChatting(stub);
    await host.write('application.yml', 'oryxos: {disable: [feishu]}');
    await until('the route to go', async () => (await deliver(host, messageEvent({ token: 'wrong' }))).status === 404);
    await host.write('application.yml', 'oryxos: {disable: []}');
    await until('the route to come back', async () => (await deliver(host, messageEvent({ token: 'wrong' }))).status === 403);
    expect((await deliver(host, messageEvent())).data.status).to.equal('accepted');
  });
});

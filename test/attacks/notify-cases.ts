/** Cases about channels to people: what is stored and shown of them, what a model learns, and where their messages may go. */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import outside from '../../plugins/outside/index.ts';
import { agentFile, startHost, type TestHost } from '../harness/index.ts';
import { callsTools, startModelServer } from '../harness/model-server.ts';
import { startReceiver } from '../harness/receiver.ts';
import { toolbox } from '../plugins/tools/toolbox.ts';
import type { RunCase } from './corpus.ts';
import { listOf } from './corpus.ts';
import { holds } from './holds.ts';
import { isSignedWith, makeParts, namesAs, textOf, withLookup, withRobot } from './robot.ts';
import { isIn, watchSockets } from './socket-watch.ts';

const CHANNELS = '/api/v1/notify-channels';
const NOTIFIES = agentFile('a1', 'tools: [notify]\nsettings: {on_fatal_tool_error: feedback}');
const newSecret = (): string => randomBytes(16).toString('hex');

/** Texts of the database with its log, and of each backup. */
function storedTexts(root: string): ReadonlyMap<string, string> {
  const read = (name: string): string => readFileSync(join(root, name), 'latin1');
  const backups = readdirSync(join(root, 'backups')).map((name) => [name, read(`backups/${name}`)] as const);
  expect(backups, 'backups').to.not.deep.equal([]);
  return new Map([['the database', read('oryxos.db') + read('oryxos.db-wal')], ...backups]);
}

/** Sends a test message. It must be delivered. */
async function sendTest(host: TestHost, name: string): Promise<string> {
  const { status, data, text } = await host.request('POST', `${CHANNELS}/${name}/test`);
  expect(status, text).to.equal(200);
  expect(data, text).to.include({ state: 'delivered' });
  return text;
}

const encryptedAtRest = holds(async (testCase) => {
  const secret = newSecret();
  await using robot = await startReceiver();
  await using host = await startHost();
  const { setup, expect: expected } = withRobot(testCase, robot, { SECRET: secret, STUBPORT: '9' });
  await makeParts(host, setup);
  // What is replaced and removed leaves pages behind.
  const gone = { name: 'gone', type: 'webhook', url: `${robot.origin}/h`, config: { secret, headers: { authorization: secret } } };
  expect((await host.request('POST', CHANNELS, gone)).status).to.equal(200);
  expect((await host.request('PUT', `${CHANNELS}/gone`, { ...gone, config: { secret: 'another', headers: null } })).status).to.equal(200);
  expect((await host.request('DELETE', `${CHANNELS}/gone`)).status).to.equal(200);
  await sendTest(host, 'n');
  expect(robot.requests.map((request) => isSignedWith(secret, request))).to.deep.equal([true]);
  expect((await host.request('POST', '/api/v1/backups')).status).to.equal(200);
  for (const [name, text] of storedTexts(host.root)) {
    for (const part of expected['file_not_contains'] as readonly string[])
      expect(text.includes(part), `${name} has the secret`).to.equal(false);
    for (const part of expected['file_contains'] as readonly string[]) expect(text.includes(part), `${name} has ${part}`).to.equal(true);
  }
  const provider = (await host.rows('providers')).find(({ name }) => name === 'deepseek');
  expect(provider?.['api_key']).to.match(/^enc:v1:/);
  const [channel] = await host.rows('notify_channels');
  expect(JSON.parse(String(channel?.['config'])).secret).to.match(/^enc:v1:/);
});

const maskRoundtrip = holds(async (testCase) => {
  await using robot = await startReceiver();
  await using host = await startHost();
  const { setup, input, expect: expected } = withRobot(testCase, robot, {});
  await makeParts(host, setup);
  const [{ name, config }] = setup['notify'] as readonly [{ readonly name: string; readonly config: { readonly secret: string } }];
  const texts: string[] = [];
  for (const one of listOf(input)) {
    const { kind, method, path, json } = one as unknown as Readonly<Record<'kind' | 'method' | 'path' | 'json' | 'name', string>>;
    if (kind === 'send_notify') texts.push(await sendTest(host, String(one['name'])));
    else {
      const { status, text } = await host.request(method, path, json);
      expect(status, text).to.equal(200);
      texts.push(text);
    }
  }
  for (const [index, part] of (expected['result_contains_each'] as readonly string[]).entries()) expect(texts[index]).to.include(part);
  const signatures = (): readonly boolean[] => robot.requests.map((request) => isSignedWith(config.secret, request));
  expect(signatures(), 'signed with the secret itself').to.deep.equal([true]);
  const change = { type: 'webhook', url: `${robot.origin}/h` };
  // A blank and nothing at all mean the same as the mask.
  for (const kept of [{ secret: '' }, { secret: '****' }, {}]) {
    const { text } = await host.request('PUT', `${CHANNELS}/${name}`, { ...change, config: kept });
    texts.push(text, await sendTest(host, name));
  }
  expect(signatures()).to.deep.equal([true, true, true, true]);
  expect(texts.join('\n')).to.not.include(config.secret);
  await host.request('PUT', `${CHANNELS}/${name}`, { ...change, config: { secret: 'anothersecretvalue' } });
  await sendTest(host, name);
  expect(signatures().at(-1), 'a new secret is used').to.equal(false);
});

const promptLeak = holds(async (testCase) => {
  const secret = newSecret();
  await using robot = await startReceiver();
  await using model = await startModelServer();
  await using host = await startHost({ agents: { a1: NOTIFIES }, modelUrl: model.baseUrl });
  const meanings = { SECRET: secret, STUBPORT: new URL(model.origin).port };
  const { setup, input, expect: expected } = withRobot(testCase, robot, meanings);
  await makeParts(host, setup);
  expect((await host.request('PUT', '/api/v1/agents/a1/basic', { provider: 'deepseek' })).status).to.equal(200);
  const invoke = async (content: unknown): Promise<void> => {
    const { status, data, text } = await host.request('POST', '/api/v1/agents/a1/invoke', { content });
    expect(status, text).to.equal(200);
    expect(data, text).to.include({ stopReason: 'completed' });
  };
  for (const one of listOf(input)) await invoke(one['message']);
  // What a message came to is told to the model as well, even if the receiver repeats all that it was sent.
  robot.will({}, ({ path, headers }) => ({ status: 403, body: JSON.stringify({ error: `${path} ${secret}`, headers }) }));
  for (const content of ['delivered', 'refused']) {
    model.will(callsTools([{ name: 'notify', arguments: { channel: 'n', content } }]));
    await invoke(content);
  }
  expect(robot.requests.map(({ path }) => path)).to.deep.equal([`/h?token=${secret}`, `/h?token=${secret}`]);
  expect(model.requests).to.have.length(5);
  for (const { headers, path, body } of model.requests) {
    expect(headers.authorization, 'the key is where it belongs').to.equal(`Bearer sk-${secret}`);
    const text = JSON.stringify([path, { ...headers, authorization: '' }, body]);
    expect(text, 'the model knows the channel').to.include('Channels: n');
    for (const [rule, target, part] of expected['net'] as readonly (readonly string[])[]) {
      expect([rule, target]).to.deep.equal(['request_not_contains', 'llm']);
      expect(text).to.not.include(part);
    }
  }
});

/** Other ways to write an address that nobody may reach. */
const FORBIDDEN = [
  'http://2852039166/x',
  'http://0xa9.0xfe.0xa9.0xfe/x',
  'http://0251.0376.0251.0376/x',
  'http://169.254.169.254./x',
  'http://[::ffff:169.254.169.254]/x',
  'http://[fe80::1]/x',
  'http://100.100.100.200/x',
  'http://metadata.google.internal/x',
];

const serverSideRequest = holds(async ({ setup, input, expect: expected }) => {
  const { http } = setup['config'] as { readonly http: Readonly<Record<string, unknown>> };
  await using robot = await startReceiver();
  await using box = await toolbox({ agents: { a1: NOTIFIES }, config: { 'http.allowed_domains': http['allowed_domains'] } });
  const asked: string[] = [];
  await box.host.kernel.replace(withLookup(outside, namesAs({ 'www.example.test': '169.254.169.254' }, asked)));
  using sockets = watchSockets();
  const portOf = (origin: string): number => Number(new URL(origin).port);
  const dialled = (network: string): boolean =>
    sockets.dials.some(({ address, port }) => isIn(address, network) && port !== portOf(box.host.url));
  const noneDialled = (what: string): void => {
    for (const [rule, network = ''] of expected['net'] as readonly (readonly string[])[]) {
      expect(rule).to.equal('no_connect');
      expect(dialled(network), `${what}: ${network} was dialled`).to.equal(false);
    }
  };
  /** Registers the URL and sends to it: no later than then it must be refused. */
  const attempt = async (channel: Readonly<Record<string, unknown>>, message: object): Promise<number> => {
    const { status } = await box.host.request('POST', CHANNELS, channel);
    const result = await box.call('notify', message);
    expect(result.success, `${String(channel['url'])}: ${textOf(result)}`).to.equal(false);
    noneDialled(String(channel['url']));
    return status;
  };
  const [create, send] = input as unknown as readonly [{ readonly json: Readonly<Record<string, unknown>> }, { readonly args: object }];
  expect(await attempt(create.json, send.args)).to.equal(400);
  for (const url of FORBIDDEN) expect(await attempt({ ...create.json, url }, send.args), url).to.equal(400);
  // A name is judged by its addresses, which are known when it is dialled.
  expect(await attempt({ ...create.json, url: 'http://www.example.test/x' }, send.args)).to.equal(200);
  expect(asked).to.deep.equal(['www.example.test']);
  // A server inside is what an administrator may register; it cannot send anybody further.
  robot.will({ status: 307, headers: { location: 'http://169.254.169.254/x' } });
  await box.host.request('POST', CHANNELS, { name: 'inside', type: 'webhook', url: `${robot.origin}/h` });
  expect((await box.call('notify', { channel: 'inside', content: 'hi' })).success).to.equal(false);
  expect(robot.requests).to.have.length(1);
  expect(sockets.dials, 'the watch sees what is dialled').to.deep.include({ address: '127.0.0.1', port: portOf(robot.origin) });
  expect(dialled('169.254.0.0/16')).to.equal(false);
});

/** Cases of the area SECRET. */
export const notifySecretCases: Readonly<Record<string, RunCase>> = {
  'secret-enc-at-rest': encryptedAtRest,
  'secret-mask-roundtrip': maskRoundtrip,
  'secret-prompt-leak': promptLeak,
};

/** Cases of the area HTTP. */
export const notifyHttpCases: Readonly<Record<string, RunCase>> = { 'http-notify-ssrf': serverSideRequest };

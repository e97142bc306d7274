/** Cases of the area SECRET that change the database, the key file or the metrics behind the back of the server. */
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { agentFile, startHost, type TestHost } from '../harness/index.ts';
import { request } from '../harness/http-client.ts';
import { startModelServer } from '../harness/model-server.ts';
import type { RunCase } from './corpus.ts';
import { Unsupported } from './corpus.ts';
import { holds } from './holds.ts';
import { notifySecretCases } from './notify-cases.ts';
import { type Home, makeHome, refusedProgram, startProgram } from './program.ts';

const KEY = 'sk-';

const addProvider = async (host: Pick<TestHost, 'request'>, secret: string, baseUrl: string): Promise<void> => {
  const made = await host.request('POST', '/api/v1/providers', { name: 'deepseek', apiKey: `${KEY}${secret}`, baseUrl });
  expect(made.status, made.text).to.equal(200);
};

/** What each change makes of "enc:v1:<key>:<iv>:<ciphertext>:<tag>". */
const MUTATIONS: Readonly<Record<string, (parts: readonly string[]) => string>> = {
  'flip-iv': (parts) => replaced(parts, 3, flipped(parts[3])),
  'flip-ciphertext': (parts) => replaced(parts, 4, flipped(parts[4])),
  'flip-tag': (parts) => replaced(parts, 5, flipped(parts[5])),
  'truncate-tag-to-4': (parts) =>
    replaced(
      parts,
      5,
      Buffer.from(parts[5] ?? '', 'base64')
        .subarray(0, 4)
        .toString('base64'),
    ),
  'drop-prefix': (parts) => parts.slice(2).join(':'),
  'empty-after-prefix': () => 'enc:v1:',
  'base64-garbage': () => `enc:v1:${randomBytes(40).toString('base64')}`,
};
const flipped = (text = ''): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
const replaced = (parts: readonly string[], index: number, text: string): string =>
  parts.map((part, at) => (at === index ? text : part)).join(':');

const tampered: RunCase = holds(async ({ input }) => {
  await using bad = await startModelServer();
  await using good = await startModelServer();
  const secret = randomBytes(16).toString('hex');
  await using home = await makeHome(good.baseUrl, []);
  const agent = agentFile('tampered').replace('scripted', 'deepseek');
  mkdirSync(join(home.root, 'agents/tampered'));
  writeFileSync(join(home.root, 'agents/tampered/AGENT.md'), agent);
  const start = (): Promise<TestHost> => startHost({ home: home.home, modelUrl: good.baseUrl });
  {
    await using host = await startHostOf(home, good.baseUrl);
    await addProvider(host, secret, bad.baseUrl);
  }
  const sealed = change(home, (value) => value);
  for (const name of (input as unknown as { readonly mutations: readonly string[] }).mutations) {
    const mutate = MUTATIONS[name];
    if (mutate === undefined) throw new Unsupported(`mutation ${name}`);
    change(home, () => mutate(sealed.split(':')));
    await using host = await start();
    const answer = await host.request('POST', '/api/v1/agents/tampered/invoke', { content: 'x' });
    expect(answer.status, `${name}: ${answer.text}`).to.equal(503);
    expect(answer.message, name)
      .to.include('deepseek')
      .and.match(/decrypt|key/i);
    expect((await host.request('POST', '/api/v1/providers/deepseek/test')).status, name).to.be.at.least(400);
    expect((await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'x' })).data, name).to.include({ reply: 'ok' });
    expect([...bad.requests, ...bad.others], name).to.deep.equal([]);
    const views = (await host.request('GET', '/api/v1/providers')).text;
    expect(views).to.not.include(secret);
  }
});

const startHostOf = ({ home }: Home, modelUrl: string): Promise<TestHost> => startHost({ home, modelUrl });

/** Changes the sealed key of the provider while no server runs; gives what it was. */
function change({ root }: Home, to: (value: string) => string): string {
  const db = new Database(join(root, 'oryxos.db'));
  const { api_key: value } = db.prepare("SELECT api_key FROM providers WHERE name = 'deepseek'").get() as { readonly api_key: string };
  db.prepare("UPDATE providers SET api_key = ? WHERE name = 'deepseek'").run(to(value));
  db.close();
  return value;
}

const keyGone = holds(async () => {
  await using home = await makeHome('http://127.0.0.1:9/v1', []);
  const file = join(home.root, 'master.key');
  {
    await using program = await startProgram(home);
    const call = { request: (method: string, path: string, body?: unknown) => request(program.url, method, path, body) };
    await addProvider(call, 'abcdefghijklmnopqrstuvwxyz', 'http://127.0.0.1:9/v1');
    expect(await program.stop('SIGTERM')).to.equal(0);
  }
  const key = readFileSync(file, 'utf8');
  const losses: readonly (() => void)[] = [
    () => rmSync(file),
    () => writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 }),
  ];
  for (const lose of losses) {
    lose();
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    const { code, output } = await refusedProgram(home);
    expect(code).to.equal(1);
    expect(output).to.include('master.key');
    expect(output, 'no stack').to.not.match(/^\s+at /m);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : undefined, 'no new key over what the old one has sealed').to.equal(before);
  }
  writeFileSync(file, key, { mode: 0o600 });
  await using again = await startProgram(home);
  expect((await request(again.url, 'GET', '/api/v1/providers/deepseek')).status).to.equal(200);
});

/** Names that a model makes up must not become labels. */
const metrics = holds(async () => {
  const secret = randomBytes(16).toString('hex');
  await using host = await startHost({
    agents: { a1: agentFile('a1', 'tools: [current_time]\nsettings: {on_fatal_tool_error: feedback}') },
  });
  await addProvider(host, secret, 'http://127.0.0.1:9/v1');
  for (const name of [`invented_${secret}`, 'another_invented', 'x'.repeat(500)]) {
    host.model.willCall(name, { key: `${KEY}${secret}` });
    await host.request('POST', '/api/v1/agents/a1/invoke', { content: `${KEY}${secret}` });
  }
  for (const path of ['/actuator/prometheus', '/metrics']) {
    const { status, text } = await host.request('GET', path);
    expect(status).to.equal(200);
    expect(text).to.not.include(secret).and.not.include('invented').and.not.include('xxxxxxxx');
    expect(text).to.match(
      /oryxos_tool_invocations_total\{tool="unknown",outcome="failed"\} [1-9]|oryxos_tool_invocations_total\{tool="unknown",outcome="blocked"\} [1-9]/,
    );
  }
  const { text } = await host.request('GET', '/metrics');
  const tools = new Set([...text.matchAll(/tool="([^"]*)"/g)].map(([, name]) => name));
  const known = new Set([
    'unknown',
    ...host.kernel
      .registry('tool')
      .list()
      .map(({ name }) => name),
  ]);
  expect([...tools].filter((name) => !known.has(name ?? ''))).to.deep.equal([]);
});

/** The runner of these cases is another; here are those that it cannot play, and those that wait for a feature. */
export const secretCases: Readonly<Record<string, RunCase>> = {
  ...notifySecretCases,
  'secret-enc-tamper': tampered,
  'secret-key-missing': keyGone,
  'secret-metrics-leak': metrics,
  'secret-mcp-env': waitsFor('MCP servers'),
};

function waitsFor(feature: string): RunCase {
  return async () => {
    throw new Unsupported(feature);
  };
}

/** Databases that are damaged, cut, full or cannot be written. */
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestHost } from '../harness/index.ts';
import { agentFile, startHost, until } from '../harness/index.ts';
import type { RunCase } from './corpus.ts';
import { CannotRun } from './corpus.ts';
import { holds } from './holds.ts';
import { makeHome, refusedProgram } from './program.ts';

const MESSAGES = '/api/v1/agents/a1/session/messages';
const MODEL = 'http://127.0.0.1:9/v1';
const writer = agentFile('a1', 'tools: [append_file]\nsettings: {on_fatal_tool_error: feedback}');

/** A directory whose workspace was left by a host with some sessions; `crashed` as it stands in the middle of a run of the process. */
async function leftBehind(sessions: number, crashed: boolean): Promise<{ readonly home: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), 'oryxos-attack-'));
  const root = join(home, 'workspace');
  for (const [name, text] of [
    ['default', agentFile('default')],
    ['a1', writer],
  ] as const) {
    mkdirSync(join(root, 'agents', name), { recursive: true });
    writeFileSync(join(root, 'agents', name, 'AGENT.md'), text);
  }
  {
    await using host = await startHost({ home });
    for (let number = 0; number < sessions; number += 1) {
      await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: `u${number}` });
      await host.request('POST', `/api/v1/sessions/web:u${number}:a1/messages`, { content: `hello ${number} `.repeat(20) });
    }
    if (crashed) {
      mkdirSync(join(home, 'copy'));
      for (const name of databaseFiles(root)) copyFileSync(join(root, name), join(home, 'copy', name));
    }
  }
  if (crashed) {
    for (const name of databaseFiles(root)) rmSync(join(root, name));
    for (const name of readdirSync(join(home, 'copy'))) copyFileSync(join(home, 'copy', name), join(root, name));
  }
  return { home, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}

const databaseFiles = (root: string): readonly string[] => readdirSync(root).filter((name) => name.startsWith('oryxos.db'));

/** Starts on what is left, or resolves with why it refuses. */
const tryStart = async (home: string): Promise<TestHost | Error> => startHost({ home }).catch((error: unknown) => error as Error);

const soundness = async (host: TestHost): Promise<unknown> =>
  (await host.kernel.service('store').get<{ integrity_check: string }>('PRAGMA integrity_check'))?.integrity_check;

/** Starts or refuses; what starts is sound and takes a message, what refuses says what to do and leaves the file as it is. */
async function soundOrRefused(home: string): Promise<'sound' | 'refused'> {
  const file = join(home, 'workspace/oryxos.db');
  const before = readFileSync(file);
  const started = await tryStart(home);
  if (started instanceof Error) {
    expect(started).to.have.property('code', 'ORYX_STORE_UNAVAILABLE');
    expect(started.message)
      .to.match(/oryxos\.db/)
      .and.match(/backup/);
    expect(readFileSync(file).equals(before), 'the damaged file is left as it was').to.equal(true);
    return 'refused';
  }
  await using host = started;
  expect(await soundness(host)).to.equal('ok');
  expect((await host.request('POST', MESSAGES, { content: 'go' })).status).to.equal(200);
  return 'sound';
}

/** Pages are chosen anew each time: a free one may be damaged without harm, any other is found. */
const corruptPage = (rounds: number): RunCase =>
  holds(async () => {
    await using left = await leftBehind(50, false);
    const file = join(left.home, 'workspace/oryxos.db');
    const whole = readFileSync(file);
    const pageBytes = whole.readUInt16BE(16);
    let refused = 0;
    for (let round = 0; round < rounds; round += 1) {
      const bytes = Buffer.from(whole);
      for (let page = 0; page < 3; page += 1) {
        const at = Math.floor(Math.random() * (whole.length / pageBytes)) * pageBytes;
        for (let index = at; index < at + 64; index += 1) bytes[index] = (bytes[index] ?? 0) ^ 0xff;
      }
      for (const name of databaseFiles(join(left.home, 'workspace'))) rmSync(join(left.home, 'workspace', name));
      writeFileSync(file, bytes);
      if ((await soundOrRefused(left.home)) === 'refused') refused += 1;
    }
    expect(refused, 'damage that was noticed').to.be.greaterThan(rounds / 2);
  });

const truncated = holds(async () => {
  const damages: readonly ((file: string) => void)[] = [
    (file) => truncateSync(file, statSync(file).size / 2),
    (file) => truncateSync(file, 0),
    (file) => writeFileSync(file, 'this is a text file, not a database\n'.repeat(500)),
  ];
  for (const damage of damages) {
    await using left = await leftBehind(5, false);
    await using home = await makeHome(MODEL, ['append_file']);
    const file = join(home.root, 'oryxos.db');
    copyFileSync(join(left.home, 'workspace/oryxos.db'), file);
    damage(file);
    const before = readFileSync(file);
    const { code, output } = await refusedProgram(home);
    expect(code).to.equal(1);
    expect(output)
      .to.match(/oryxos\.db is (damaged|empty)/)
      .and.match(/backup/);
    expect(output, 'no stack').to.not.match(/^\s+at /m);
    expect(readFileSync(file).equals(before)).to.equal(true);
  }
});

const walLost = holds(async () => {
  const losses: readonly ((root: string) => void)[] = [
    (root) => rmSync(join(root, 'oryxos.db-shm'), { force: true }),
    (root) => rmSync(join(root, 'oryxos.db-wal'), { force: true }),
    (root) => staleLog(root),
  ];
  for (const [index, lose] of losses.entries()) {
    await using left = await leftBehind(20, index === 0);
    lose(join(left.home, 'workspace'));
    expect(await soundOrRefused(left.home)).to.equal('sound');
  }
});

/** A log that belongs to another database: its salt does not fit, so that nothing of it may be taken over. */
function staleLog(root: string): void {
  const other = join(root, 'other.db');
  const db = new Database(other);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE foreign_rows (id); INSERT INTO foreign_rows VALUES (1)');
  copyFileSync(`${other}-wal`, join(root, 'oryxos.db-wal'));
  db.close();
  rmSync(other);
}

/** A turn that writes while nothing can be stored, and one when there is space again. */
async function refusesAndRecovers(host: TestHost, allowed: string, recover: () => Promise<unknown>): Promise<void> {
  const agents = join(host.root, 'agents');
  const texts = (): readonly string[] => readdirSync(agents).map((name) => readFileSync(join(agents, name, 'AGENT.md'), 'utf8'));
  const before = texts();
  const refused = await until('a turn to be refused', async () => {
    host.model.willCall('append_file', { path: join(allowed, 'effects.log'), content: 'E\n' });
    const answer = await host.request('POST', MESSAGES, { content: 'go '.repeat(5_000) });
    return answer.status === 200 ? undefined : answer;
  });
  expect(refused.status).to.be.oneOf([500, 503, 507]);
  expect(refused.message).to.match(/disk|space|full|read-?only|written/i);
  expect((await host.request('GET', '/api/v1/health')).data).to.include({ status: 'degraded' });
  expect((await host.request('GET', '/api/v1/agents/a1')).status, 'reads go on').to.equal(200);
  expect((await host.request('GET', '/api/v1/sessions')).status, 'reads go on').to.equal(200);
  expect(texts(), 'definitions are whole').to.deep.equal(before);
  await recover();
  await until(
    'turns to work again',
    async () => {
      const { status } = await host.request('POST', MESSAGES, { content: 'after' });
      return status === 200;
    },
    10_000,
  );
  expect((await host.request('GET', '/api/v1/health')).data).to.deep.equal({ status: 'ok' });
  expect(await soundness(host)).to.equal('ok');
}

/** The database may not grow: the same to SQLite as a disk without space, and nobody else's disk. */
const diskFull = holds(async () => {
  await using left = await leftBehind(1, false);
  const allowed = join(left.home, 'allowed');
  mkdirSync(allowed);
  await using host = await startHost({ home: left.home, config: { 'file.allowed_paths': [allowed] } });
  const store = host.kernel.service('store');
  const { page_count: pages } = (await store.get<{ page_count: number }>('PRAGMA page_count')) ?? { page_count: 0 };
  await store.write({ sql: `PRAGMA max_page_count = ${pages}`, params: [] });
  await refusesAndRecovers(host, allowed, () => store.write({ sql: 'PRAGMA max_page_count = 1000000', params: [] }).catch(() => undefined));
});

/** A small file system of its own as the workspace: really full, files of agents and logs too. */
const smallDisk = holds(async () => {
  await using disk = await mounted('size=6m');
  await using host = await startHost({ home: disk.home, config: { 'file.allowed_paths': [disk.home], 'logging.level': 'info' } });
  const filler = join(disk.workspace, 'filler');
  const fill = (): void => {
    for (const size of [65_536, 4_096, 1]) {
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
      } catch {
        // Full, to this granularity.
      }
    }
  };
  fill();
  const saved = await host.request('PUT', '/api/v1/agents/a1', { agentMarkdown: `${writer}${'x'.repeat(100_000)}` });
  expect(saved.status).to.be.oneOf([500, 503, 507]);
  expect(readFileSync(join(host.root, 'agents/a1/AGENT.md'), 'utf8')).to.equal(writer);
  await refusesAndRecovers(host, disk.home, async () => rmSync(filler));
  expect(
    readdirSync(host.root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('AGENT.md') && name.includes('tmp')),
  ).to.deep.equal([]);
});

/** Files that nobody may write, not even who has them open: what a file system does that the system has made read-only. */
const readOnly = holds(async () => {
  await using left = await leftBehind(1, false);
  const root = join(left.home, 'workspace');
  const freeze = (how: '+i' | '-i'): void => void execFileSync('chattr', ['-R', how, root], { stdio: 'ignore' });
  await using host = await startHost({ home: left.home, config: { 'file.allowed_paths': [left.home] } });
  try {
    freeze('+i');
  } catch {
    throw new CannotRun('files cannot be made immutable here');
  }
  try {
    await refusesAndRecovers(host, left.home, async () => freeze('-i'));
  } finally {
    freeze('-i');
  }
});

/** A workspace on a file system of its own in memory. */
async function mounted(options: string) {
  const home = await mkdtemp(join(tmpdir(), 'oryxos-attack-'));
  const workspace = join(home, 'workspace');
  mkdirSync(workspace);
  const mount = (...args: readonly string[]): void => void execFileSync('mount', [...args, workspace], { stdio: 'ignore' });
  try {
    mount('-t', 'tmpfs', '-o', options, 'tmpfs');
  } catch {
    await rm(home, { recursive: true, force: true });
    throw new CannotRun('a small disk cannot be mounted without the right to mount');
  }
  for (const [name, text] of [
    ['default', agentFile('default')],
    ['a1', writer],
  ] as const) {
    mkdirSync(join(workspace, 'agents', name), { recursive: true });
    writeFileSync(join(workspace, 'agents', name, 'AGENT.md'), text);
  }
  return {
    home,
    workspace,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', ['-l', workspace]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

const both =
  (...plays: readonly RunCase[]): RunCase =>
  async (testCase) => {
    const wrong: string[] = [];
    for (const play of plays) wrong.push(...(await play(testCase)));
    return wrong;
  };

/** A log of a kill is left by every crash test. */
export const databaseCases = (full: boolean): Readonly<Record<string, RunCase>> => ({
  'durable-db-corrupt-page': corruptPage(full ? 60 : 8),
  'durable-db-truncated': truncated,
  'durable-wal-lost': walLost,
  'durable-disk-full': existsSync('/proc/mounts') ? both(diskFull, smallDisk) : diskFull,
  'durable-readonly': readOnly,
});

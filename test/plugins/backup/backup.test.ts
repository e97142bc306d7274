import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOryxError } from '../../../kernel/index.ts';
import { ArchiveWriter } from '../../../plugins/backup/archive-writer.ts';
import { readArchive } from '../../../plugins/backup/read-archive.ts';
import { restoreArchive } from '../../../plugins/backup/restore-archive.ts';
import { verifyCopy } from '../../../plugins/store/verify-copy.ts';
import { lockWorkspace } from '../../../plugins/store/workspace-lock.ts';
import { agentFile, startHost } from '../../harness/index.ts';
import type { TestHost } from '../../harness/index.ts';

const parts = { verifyDatabase: verifyCopy, lock: lockWorkspace };

/** What the promise was rejected with, as text. */
const refusal = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isOryxError(error) ? `${error.code}: ${error.message}` : `no refusal: ${String(error)}`;
};

describe('a backup', function () {
  this.timeout(20_000);
  let host: TestHost;
  let home: string;
  beforeEach(async () => {
    host = await startHost({ agents: { helper: agentFile('helper', 'description: Helps\ntools: []') } });
    home = await mkdtemp(join(tmpdir(), 'oryxos-restored-'));
  });
  afterEach(async () => {
    await host.stop();
    await rm(home, { recursive: true, force: true });
  });

  const target = (): string => join(home, 'workspace');
  const restore = (file: string, options: { readonly force?: boolean; readonly root?: string } = {}) =>
    restoreArchive({ file, root: options.root ?? target(), force: options.force === true, at: 1_784_707_200_000 }, parts);
  async function backUp(
    body?: object,
  ): Promise<{ readonly file: string; readonly view: { withKey: boolean; skipped: unknown[]; path: string } }> {
    const answer = await host.request('POST', '/api/v1/backups', body);
    expect(answer.status, answer.text).to.equal(200);
    return { file: join(host.root, answer.data.path as string), view: answer.data };
  }
  const pathsOf = async (file: string): Promise<readonly string[]> => (await readArchive(file)).entries.map(({ path }) => path);

  it('made while messages come in restores to a workspace that starts and has every message acknowledged before', async function () {
    this.timeout(60_000);
    host.model.always(() => ({ content: 'noted' }));
    const acknowledged: string[] = [];
    const state = { stopped: false };
    const talk = async (user: string): Promise<void> => {
      const { data } = await host.request('POST', '/api/v1/sessions', { profile: 'helper', userId: user });
      for (let number = 0; !state.stopped; number += 1) {
        const content = `${user} says ${number}`;
        const answer = await host.request('POST', `/api/v1/sessions/${data.sessionId}/messages`, { content });
        if (answer.status === 200) acknowledged.push(content);
      }
    };
    const talking = Promise.all(['ann', 'bob', 'cho'].map(talk));
    while (acknowledged.length < 30) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = [...acknowledged];
    const { file } = await backUp();
    state.stopped = true;
    await talking;
    expect(acknowledged.length).to.be.greaterThan(before.length);

    await restore(file);
    await using restored = await startHost({ home });
    const messages = (await restored.rows('messages')).map(({ content }) => content);
    expect(before.filter((content) => !messages.includes(content))).to.deep.equal([]);
    expect(
      (await restored.request('GET', '/api/v1/agents')).data.map(({ name, status }: Record<string, string>) => `${name} ${status}`),
    ).to.deep.equal(['default ok', 'helper ok']);
    const { data } = await restored.request('GET', '/api/v1/sessions/web:ann:helper');
    expect(data.messages).to.have.length.greaterThan(1);
  });

  it('holds agents, their links to skills, memory, configuration and empty directories, with their modes; and nothing of the process', async () => {
    await host.write('skills/report/SKILL.md', '---\nname: report\n---\n');
    await mkdir(join(host.root, 'agents/helper/skills'));
    await symlink('../../../skills/report', join(host.root, 'agents/helper/skills/report'));
    await host.write('agents/helper/MEMORY.md', '## Core memory\n');
    await host.write('agents/helper/output/报告 1.txt', 'x');
    await host.write('application.yml', 'logging: {level: warn}\n');
    await chmod(join(host.root, 'application.yml'), 0o600);
    await mkdir(join(host.root, 'knowledge/empty'), { recursive: true });
    await host.write('logs/oryxos.log', 'x');
    await host.write('plugins/node_modules/p/index.js', 'x');
    await host.write('plugins/mine/package.json', '{}');
    await symlink('/etc/hostname', join(host.root, 'agents/helper/output/outside'));
    const { file, view } = await backUp();
    expect(view.skipped).to.deep.equal([
      { path: 'agents/helper/output/outside', reason: 'it is a link that leads out of the workspace' },
      { path: 'plugins/node_modules', reason: 'packages can be installed again' },
    ]);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    const paths = await pathsOf(file);
    expect(paths).to.include.members([
      'oryxos.db',
      'skills/report/SKILL.md',
      'agents/helper/AGENT.md',
      'agents/helper/MEMORY.md',
      'plugins/mine/package.json',
    ]);
    expect(
      paths.filter((path) => /^(logs|backups|server\.json|oryxos\.lock|oryxos\.db-|master\.key$|\.instance)/.test(path)),
    ).to.deep.equal([]);

    await restore(file);
    expect(await readlink(join(target(), 'agents/helper/skills/report'))).to.equal('../../../skills/report');
    expect(await readFile(join(target(), 'agents/helper/output/报告 1.txt'), 'utf8')).to.equal('x');
    expect((await stat(join(target(), 'application.yml'))).mode & 0o777).to.equal(0o600);
    expect((await stat(target())).mode & 0o777).to.equal(0o700);
    expect(await readdir(join(target(), 'knowledge/empty'))).to.deep.equal([]);
    expect(await readdir(home)).to.deep.equal(['workspace']);
  });

  it('leaves nothing beside itself in backups, and two at once are two', async () => {
    await Promise.all([backUp(), backUp()]);
    const names = await readdir(join(host.root, 'backups'));
    expect(names).to.have.length(2);
    for (const name of names) expect(name).to.match(/^\d{8}T\d{9}Z-workspace(-2)?\.tar$/);
  });

  it('has the key only when it was asked for; without it stored secrets stay closed until the key is put back', async () => {
    const provider = { name: 'p1', baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-1234567890' };
    expect((await host.request('POST', '/api/v1/providers', provider)).status).to.equal(200);
    const { file, view } = await backUp();
    expect(view.withKey).to.equal(false);
    expect(await pathsOf(file))
      .to.include('master.key.id')
      .and.not.include('master.key');
    await restore(file);
    const failure = await refusal(startHost({ home }));
    expect(failure).to.match(/ORYX_SECRET_KEY: .*master\.key/);
    const key = await readFile(join(host.root, 'master.key'));
    await writeFile(join(target(), 'master.key'), key, { mode: 0o600 });
    await using restored = await startHost({ home });
    expect((await restored.request('GET', '/api/v1/providers/p1')).data.apiKey).to.equal('****7890');
  });

  it('with the key opens by itself', async () => {
    await host.request('POST', '/api/v1/providers', { name: 'p1', baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-1234567890' });
    const { file, view } = await backUp({ withKey: true });
    expect(view.withKey).to.equal(true);
    await restore(file);
    expect((await stat(join(target(), 'master.key'))).mode & 0o777).to.equal(0o600);
    await using restored = await startHost({ home });
    expect((await restored.request('GET', '/api/v1/providers/p1')).data.apiKey).to.equal('****7890');
  });

  describe('that was tampered with', () => {
    let file: string;
    let bytes: Buffer;
    beforeEach(async () => {
      await host.write('agents/helper/notes.md', 'MARK'.repeat(200));
      ({ file } = await backUp());
      bytes = await readFile(file);
    });
    const refused = async (changed: Buffer): Promise<string> => {
      await writeFile(file, changed);
      const message = await refusal(restore(file));
      expect(await readdir(home)).to.deep.equal([]);
      return message;
    };

    it('in the content of a file is refused', async () => {
      const changed = Buffer.from(bytes);
      changed[bytes.indexOf('MARKMARK')] = 0x58;
      expect(await refused(changed)).to.match(/^ORYX_INVALID_INPUT: .*"agents\/helper\/notes.md" was changed. Nothing was changed\.$/);
    });

    it('in its database is refused', async () => {
      const changed = Buffer.from(bytes);
      changed[3_000] = (changed[3_000] ?? 0) ^ 1;
      expect(await refused(changed)).to.contain('"oryxos.db" was changed');
    });

    it('by cutting it is refused, wherever', async () => {
      for (const part of [0, 0.1, 0.5, 0.9, 0.999])
        expect(await refused(bytes.subarray(0, Math.floor(bytes.length * part)))).to.contain('cut short');
    });

    it('by leaving out its manifest, or an entry, is refused', async function () {
      const directory = join(home, 'x');
      try {
        await mkdir(directory);
        execFileSync('tar', ['-xf', file, '-C', directory], { stdio: 'pipe' });
        const names = await readdir(directory);
        const packed = (...args: readonly string[]): Promise<Buffer> => {
          execFileSync('tar', ['--format=ustar', '-b', '1', '-cf', file, '-C', directory, ...args], { stdio: 'pipe' });
          return readFile(file);
        };
        const without = await packed(...names.filter((name) => name !== 'manifest.json'));
        await rm(join(directory, 'agents/helper/notes.md'));
        const lacking = await packed(...names.filter((name) => name !== 'manifest.json'), 'manifest.json');
        await rm(directory, { recursive: true });
        expect(await refused(without)).to.contain('no manifest');
        expect(await refused(lacking)).to.contain('"agents/helper/notes.md" is missing');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.skip();
        throw error;
      }
    });
  });

  describe('that was forged', () => {
    const forged = async (entries: readonly (readonly [string, 'file' | 'link', string])[], content = 'x'): Promise<string> => {
      const file = join(home, 'forged.tar');
      await rm(file, { force: true });
      await writeFile(join(home, 'content'), content);
      const handle = await open(file, 'wx');
      const archive = new ArchiveWriter(handle);
      for (const [path, type, goal] of entries) {
        const found = { path, type, mode: 0o644, modifiedAt: 0, target: goal };
        await (type === 'link' ? archive.add(found) : archive.addFile(found, join(home, 'content')));
      }
      const manifest = { format: 1, product: 'oryxos', version: '1', createdAt: '2026-01-01T00:00:00Z', withKey: false, skipped: [] };
      await archive.finish('manifest.json', JSON.stringify({ ...manifest, entries: archive.entries }), 0);
      await handle.close();
      await rm(join(home, 'content'));
      const message = await refusal(restore(file));
      expect(await readdir(home)).to.deep.equal(['forged.tar']);
      return message;
    };

    it('never writes outside of the workspace', async () => {
      for (const path of ['../evil', '/tmp/evil', 'agents/../../evil', 'a//b', './a', 'a\nb'])
        expect(
          await forged([
            ['oryxos.db', 'file', ''],
            [path, 'file', ''],
          ]),
          path,
        ).to.contain('leads out of the workspace');
      for (const goal of ['/etc', '../..', 'x/../..', 'agents/../../etc', '..'])
        expect(
          await forged([
            ['oryxos.db', 'file', ''],
            ['agents', 'link', goal],
          ]),
          goal,
        ).to.contain('leads out of the workspace');
    });

    it('is refused with an entry twice, without a database, or with one that is none', async () => {
      expect(
        await forged([
          ['a', 'file', ''],
          ['a', 'file', ''],
        ]),
      ).to.contain('"a" is in it twice');
      expect(await forged([['a', 'file', '']])).to.contain('it holds no database');
      expect(await forged([['oryxos.db', 'file', '']])).to.contain('it holds no database');
      expect(await forged([['oryxos.db', 'file', '']], 'x'.repeat(5_000))).to.match(
        /ORYX_STORE_UNAVAILABLE: The copy of the database is not sound/,
      );
    });
  });

  describe('restoring it', () => {
    it('refuses a workspace in use, also with force', async () => {
      const { file } = await backUp();
      expect(await refusal(restore(file, { root: host.root, force: true }))).to.match(
        new RegExp(`^ORYX_WORKSPACE_BUSY: .*pid ${process.pid} .* at ${host.url}`),
      );
    });

    it('refuses a workspace that is there; with force moves it aside whole', async () => {
      const { file } = await backUp();
      await mkdir(join(target(), 'agents/mine'), { recursive: true });
      expect(await refusal(restore(file))).to.match(/^ORYX_CONFLICT: .*--force/);
      const { aside } = await restore(file, { force: true });
      expect(aside).to.equal(`${target()}.before-restore-20260722T080000000Z`);
      expect(await readdir(join(aside ?? '', 'agents'))).to.deep.equal(['mine']);
      expect(await readdir(join(target(), 'agents'))).to.deep.equal(['default', 'helper']);
      const release = lockWorkspace(target());
      release();
    });

    it('never moves aside what is no workspace', async () => {
      const { file } = await backUp();
      await mkdir(join(target(), 'photos'), { recursive: true });
      expect(await refusal(restore(file, { force: true }))).to.match(/^ORYX_CONFLICT: .*neither empty nor a workspace/);
      await writeFile(join(home, 'file'), '');
      expect(await refusal(restore(file, { root: join(home, 'file') }))).to.match(/^ORYX_CONFLICT: .*is a file/);
      expect(await refusal(restore(join(home, 'none.tar'), { root: join(home, 'new') }))).to.match(/^ORYX_NOT_FOUND: /);
      expect(await refusal(restore(home, { root: join(home, 'new') }))).to.match(/^ORYX_INVALID_INPUT: .*not a file/);
    });

    it('uses an empty directory, and makes missing ones', async () => {
      const { file } = await backUp();
      await mkdir(target());
      await restore(file);
      await restore(file, { root: join(home, 'far/away/workspace') });
      expect(await readdir(join(home, 'far/away/workspace/agents'))).to.deep.equal(['default', 'helper']);
    });
  });

  it('of a database that is damaged is refused, and the check says what is wrong', async () => {
    expect((await host.request('GET', '/api/v1/database/check')).data).to.deep.equal({ sound: true, problem: null });
    {
      await using first = await startHost({ home });
      const store = first.kernel.service('store');
      await store.migrate('filler', [{ name: '001_filler', up: ['CREATE TABLE filler (id INTEGER PRIMARY KEY, value TEXT)'] }]);
      await store.write(
        ...Array.from({ length: 400 }, (_, id) => ({ sql: 'INSERT INTO filler VALUES (?, ?)', params: [id, 'x'.repeat(2_000)] })),
      );
    }
    await using second = await startHost({ home });
    const handle = await open(join(second.root, 'oryxos.db'), 'r+');
    const middle = Math.floor((await handle.stat()).size / 2 / 4096) * 4096;
    await handle.write(Buffer.alloc(4096 * 4, 0xff), 0, 4096 * 4, middle);
    await handle.close();

    const { data } = await second.request('GET', '/api/v1/database/check');
    expect(data.sound).to.equal(false);
    expect(data.problem).to.be.a('string').and.not.equal('');
    expect((await second.request('POST', '/api/v1/backups')).status).to.equal(503);
    expect(await readdir(join(second.root, 'backups'))).to.deep.equal([]);
  });
});

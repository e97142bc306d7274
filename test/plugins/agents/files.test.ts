import { expect } from 'chai';
import { existsSync } from 'node:fs';
import fsp, { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { agentFile, startHost, type TestHost } from '../../harness/index.ts';

describe('POST /api/v1/agents/{name}/files', () => {
  let host: TestHost;
  const file = (path: string): string => join(host.root, 'agents', path);
  const text = (path: string): Promise<string> => readFile(file(path), 'utf8');
  const post = (name: string, files: unknown, more: object = {}) =>
    host.request('POST', `/api/v1/agents/${name}/files`, { files, ...more });
  /** Every file of an agent with its text, and every folder. */
  async function tree(name: string): Promise<Record<string, string>> {
    const entries = await readdir(file(name), { withFileTypes: true, recursive: true }).catch(() => []);
    const pairs = entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(file(name).length + 1), entry.isFile() ? await readFile(path, 'utf8') : entry.isDirectory() ? '/' : '@'] as const;
    });
    return Object.fromEntries(await Promise.all(pairs));
  }

  before(async () => {
    host = await startHost();
  });
  after(() => host.stop());

  it('creates an agent with its files, and is live when it answers', async () => {
    const { status, data } = await post('n1', {
      'AGENT.md': agentFile('n1', 'description: d'),
      'scripts/deep/run.py': 'print(1)\n',
      './notes.md': '',
    });
    expect([status, data.description, data.status]).to.deep.equal([200, 'd', 'ok']);
    expect(await tree('n1')).to.deep.equal({
      'AGENT.md': agentFile('n1', 'description: d'),
      scripts: '/',
      'scripts/deep': '/',
      'scripts/deep/run.py': 'print(1)\n',
      'notes.md': '',
    });
    expect(host.kernel.service('profiles').current('n1')?.description).to.equal('d');
  });

  it('replaces and adds files, keeps the others and their permissions', async () => {
    await post('n2', { 'AGENT.md': agentFile('n2'), 'run.sh': 'old' });
    await writeFile(file('n2/MEMORY.md'), 'mine');
    await fsp.chmod(file('n2/run.sh'), 0o750);
    expect((await post('n2', { 'AGENT.md': agentFile('n2'), 'run.sh': 'new', 'more.txt': 'x' })).status).to.equal(200);
    expect([await text('n2/MEMORY.md'), await text('n2/run.sh'), await text('n2/more.txt')]).to.deep.equal(['mine', 'new', 'x']);
    expect((await stat(file('n2/run.sh'))).mode & 0o777).to.equal(0o750);
    expect(Object.keys(await tree('n2')).filter((path) => path.includes('.save-'))).to.deep.equal([]);
    expect(await host.rows('agent_saves')).to.deep.equal([]);
  });

  for (const [what, files, words] of [
    ['a way out', { '../x': '1' }, '..'],
    ['a way out by detours', { 'a/../../x': '1' }, '..'],
    ['an absolute path', { '/tmp/x': '1' }, 'relative'],
    ['a drive', { 'C:/x': '1' }, 'relative'],
    ['a backslash', { 'a\\b': '1' }, 'backslash'],
    ['a NUL', { 'a\u0000b': '1' }, 'control'],
    ['a line break', { 'a\nb': '1' }, 'control'],
    ['an empty path', { '': '1' }, 'not the path of a file'],
    ['a folder', { 'a/': '1' }, 'not the path of a file'],
    ['a skill', { 'skills/x/SKILL.md': '1' }, 'skill bindings'],
    ['a skill in capitals', { 'Skills/x': '1' }, 'skill bindings'],
    ['a file twice', { 'a.txt': '1', './a.txt': '2' }, 'twice'],
    ['a file that is also a folder', { a: '1', 'a/b': '2' }, 'a file and a folder'],
    ['another spelling of AGENT.md', { 'agent.md': '1' }, 'spelled'],
    ['a very long name', { ['x'.repeat(256)]: '1' }, 'too long'],
    ['a name of the saving itself', { '.save-x.tmp': '1' }, 'itself'],
  ] as const) {
    it(`refuses ${what} and changes nothing`, async () => {
      if (!existsSync(file('keep'))) await post('keep', { 'AGENT.md': agentFile('keep') });
      const before = await tree('keep');
      const { status, message } = await post('keep', { 'AGENT.md': agentFile('keep', 'description: changed'), ...files });
      expect(status).to.equal(400);
      expect(message).to.include(words);
      expect(await tree('keep')).to.deep.equal(before);
      expect(existsSync(join(host.root, 'agents/x')) || existsSync(join(host.root, 'x'))).to.equal(false);
    });
  }

  it('refuses files without a valid AGENT.md, and creates nothing', async () => {
    for (const files of [
      {},
      { 'a.txt': '1' },
      { 'AGENT.md': 'broken', 'a.txt': '1' },
      { 'AGENT.md': agentFile('other') },
      { 'AGENT.md': 5 },
      null,
      [],
    ]) {
      expect((await post('n3', files)).status, JSON.stringify(files)).to.equal(400);
    }
    expect((await post('bad.name', { 'AGENT.md': agentFile('bad.name') })).status).to.equal(400);
    expect(existsSync(file('n3')) || existsSync(file('bad.name'))).to.equal(false);
  });

  it('refuses an AGENT.md of more than 1 MB, also one that fits the request', async () => {
    const { status, message } = await post('big', { 'AGENT.md': agentFile('big', 'tools: []', 'x'.repeat(1_048_576)) });
    expect([status, message]).to.deep.equal([400, 'agents/big/AGENT.md: the file is larger than 1 MB']);
    expect((await post('big', { 'AGENT.md': agentFile('big'), 'data.txt': 'x'.repeat(5_000_000) })).status).to.equal(200);
    expect((await post('big', { 'AGENT.md': agentFile('big'), 'data.txt': 'x'.repeat(11_000_000) })).status).to.equal(413);
  });

  it('refuses a directory that exists and is no agent', async () => {
    await mkdir(file('dir'));
    await writeFile(file('dir/keep.txt'), 'mine');
    expect((await post('dir', { 'AGENT.md': agentFile('dir') })).status).to.equal(400);
    expect(await tree('dir')).to.deep.equal({ 'keep.txt': 'mine' });
  });

  it('writes neither through links nor over folders', async () => {
    await post('ln', { 'AGENT.md': agentFile('ln') });
    const outside = join(host.home, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'f'), 'mine');
    await symlink(outside, file('ln/out'));
    await symlink(join(outside, 'f'), file('ln/f'));
    await mkdir(file('ln/folder'));
    const before = await tree('ln');
    for (const path of ['out/f', 'out/new', 'f', 'folder', 'AGENT.md/x']) {
      expect((await post('ln', { 'AGENT.md': agentFile('ln', 'description: x'), [path]: 'pwned' })).status, path).to.equal(400);
    }
    expect(await tree('ln')).to.deep.equal(before);
    expect([await readFile(join(outside, 'f'), 'utf8'), await readdir(outside)]).to.deep.equal(['mine', ['f']]);
  });

  it('repairs a broken agent', async () => {
    await host.write('agents/br/AGENT.md', 'broken');
    await host.kernel.service('agents').settled();
    expect((await post('br', { 'AGENT.md': agentFile('br') })).data.status).to.equal('ok');
  });

  describe('when something fails on the way', () => {
    const original = { ...fsp };
    afterEach(() => {
      Object.assign(fsp, original);
      syncBuiltinESMExports();
    });
    /** The `count`-th call of a function of the file system fails. */
    function failing(name: 'rename' | 'mkdir' | 'rm' | 'chmod', count: number): void {
      let calls = 0;
      const real = original[name] as (...args: unknown[]) => Promise<unknown>;
      Object.assign(fsp, {
        [name]: (...args: unknown[]) => {
          calls += 1;
          return calls === count ? Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })) : real(...args);
        },
      });
      syncBuiltinESMExports();
    }

    for (const [name, count] of [
      ['mkdir', 1],
      ['chmod', 1],
      ['chmod', 3],
      ['rename', 1],
      ['rename', 2],
      ['rename', 3],
    ] as const) {
      it(`puts every file back (${name} number ${count})`, async () => {
        await post('f1', { 'AGENT.md': agentFile('f1'), 'a.txt': 'a', 'b.txt': 'b' });
        const before = await tree('f1');
        failing(name, count);
        const { status, message } = await post('f1', {
          'AGENT.md': agentFile('f1', 'description: new'),
          'a.txt': 'A',
          'b.txt': 'B',
          'new/c.txt': 'C',
        });
        expect([status, message?.includes(host.root)]).to.deep.equal([503, false]);
        expect(await tree('f1')).to.deep.equal(before);
        expect((await host.request('GET', '/api/v1/agents/f1')).data).to.deep.include({ description: null, status: 'ok' });
        expect(await host.rows('agent_saves')).to.deep.equal([]);
      });
    }

    for (const [name, count] of [
      ['mkdir', 1],
      ['mkdir', 2],
      ['rm', 1],
      ['rm', 2],
    ] as const) {
      it(`leaves nothing of an agent that was to be created (${name} number ${count})`, async () => {
        failing(name, count);
        const { status } = await post('f2', { 'AGENT.md': agentFile('f2'), 'a/b.txt': 'b' });
        expect([status, existsSync(file('f2'))]).to.deep.equal([503, false]);
        expect((await host.request('GET', '/api/v1/agents/f2')).status).to.equal(404);
        expect(await host.rows('agent_saves')).to.deep.equal([]);
      });
    }

    it('does without hard links where the file system has none', async () => {
      Object.assign(fsp, { link: () => Promise.reject(Object.assign(new Error('not permitted'), { code: 'EPERM' })) });
      syncBuiltinESMExports();
      expect((await post('f5', { 'AGENT.md': agentFile('f5'), 'a/b.txt': 'b' })).status).to.equal(200);
      expect((await post('f5', { 'AGENT.md': agentFile('f5'), 'a/b.txt': 'c' })).status).to.equal(200);
      expect(await tree('f5')).to.deep.equal({ 'AGENT.md': agentFile('f5'), a: '/', 'a/b.txt': 'c' });
    });

    it('keeps what somebody else has put into the new directory meanwhile', async () => {
      const real = original.link;
      Object.assign(fsp, {
        async link(...args: Parameters<typeof real>) {
          await writeFile(file('f3/theirs.txt'), 'theirs');
          await writeFile(file('f3/AGENT.md'), 'theirs too');
          return real(...args);
        },
      });
      syncBuiltinESMExports();
      expect((await post('f3', { 'AGENT.md': agentFile('f3') })).status).to.equal(500);
      expect(await tree('f3')).to.deep.equal({ 'AGENT.md': 'theirs too', 'theirs.txt': 'theirs' });
    });

    it('puts the files back when the database takes no writes', async () => {
      await post('f4', { 'AGENT.md': agentFile('f4'), 'a.txt': 'a' });
      const before = await tree('f4');
      const store = host.kernel.service('store');
      await store.write({ sql: 'ALTER TABLE agent_versions RENAME TO hidden', params: [] });
      try {
        expect((await post('f4', { 'AGENT.md': agentFile('f4', 'description: new'), 'a.txt': 'A', 'b/c.txt': 'C' })).status).to.be.at.least(
          500,
        );
      } finally {
        await store.write({ sql: 'ALTER TABLE hidden RENAME TO agent_versions', params: [] });
      }
      expect(await tree('f4')).to.deep.equal(before);
      expect(host.kernel.service('profiles').current('f4')?.description).to.equal('');
    });
  });
});

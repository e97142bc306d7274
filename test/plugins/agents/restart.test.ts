import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentFile, startHost, type TestHost } from '../../harness/index.ts';

const described = (name: string, description: string): string => agentFile(name, `description: ${description}`);

describe('agents over a restart', () => {
  let home: string;
  let host: TestHost | undefined;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'oryxos-restart-'));
  });
  afterEach(async () => {
    await host?.stop();
    await rm(home, { recursive: true, force: true });
  });
  /** Stops the host that runs and starts the next one in the same workspace. */
  async function restart(): Promise<TestHost> {
    await host?.stop();
    host = await startHost({ home });
    return host;
  }
  const view = (name: string) => host?.kernel.service('agents').view(name);

  it('keep the last good version when the file became invalid meanwhile', async () => {
    const first = await restart();
    await first.write('agents/a/AGENT.md', described('a', 'good'));
    await first.kernel.service('agents').settled();
    const version = view('a')?.version;
    await first.stop();
    await first.write('agents/a/AGENT.md', '---\nname: "a\n---\n');
    const second = await restart();
    expect(view('a')).to.deep.include({ status: 'stale', description: 'good', version });
    expect(view('a')?.error).to.deep.include({ line: 2 });
    expect(second.kernel.service('profiles').current('a')?.description).to.equal('good');
    await restart();
    expect(view('a')?.status).to.equal('stale');
    await host?.write('agents/a/AGENT.md', described('a', 'repaired'));
    await restart();
    expect(view('a')).to.deep.include({ status: 'ok', description: 'repaired' });
  });

  it('are broken when no good version is known', async () => {
    const first = await restart();
    await first.write('agents/a/AGENT.md', 'broken');
    await first.kernel.service('agents').settled();
    await restart();
    expect(view('a')?.status).to.equal('broken');
  });

  it('do not come back from the table when their directory is gone', async () => {
    const first = await restart();
    await first.write('agents/a/AGENT.md', described('a', 'old'));
    await first.kernel.service('agents').settled();
    await first.stop();
    await rm(join(home, 'workspace/agents/a'), { recursive: true });
    const second = await restart();
    expect(() => view('a'))
      .to.throw()
      .and.include({ code: 'ORYX_NOT_FOUND' });
    await second.write('agents/a/AGENT.md', 'broken');
    await second.kernel.service('agents').settled();
    expect(view('a')?.status).to.equal('broken');
  });

  it('stay loaded, with a warning, when their provider is gone', async () => {
    const first = await restart();
    await first.request('POST', '/api/v1/providers', { name: 'passing', baseUrl: 'http://127.0.0.1:9/v1' });
    await first.request('POST', '/api/v1/agents', { name: 'a', provider: 'passing', model: 'm' });
    await first.request('DELETE', '/api/v1/providers/passing');
    await restart();
    expect(view('a')?.status).to.equal('ok');
    expect(view('a')?.warnings[0]).to.include('there is no provider "passing" now');
    expect((await host?.say('a', 'hi'))?.error?.status).to.equal(503);
  });

  it('are found by version, each text stored once', async () => {
    const first = await restart();
    const versions: string[] = [];
    for (const description of ['one', 'two', 'one', 'three']) {
      await first.request('POST', `/api/v1/agents/a/files`, { files: { 'AGENT.md': described('a', description) } });
      versions.push(String(view('a')?.version));
    }
    const profiles = (await restart()).kernel.service('profiles');
    const found = await Promise.all(versions.map(async (version) => (await profiles.at('a', version))?.description));
    expect(found).to.deep.equal(['one', 'two', 'one', 'three']);
    expect((await profiles.at('a', String(versions[1])))?.version).to.equal(versions[1]);
    expect(await profiles.at('a', 'f'.repeat(64))).to.equal(undefined);
    expect(await profiles.at('b', String(versions[0]))).to.equal(undefined);
    const rows = (await host?.rows('agent_versions'))?.filter(({ name }) => name === 'a');
    expect(rows).to.have.length(3);
    expect(rows?.filter(({ live }) => live === 1).map(({ version }) => version)).to.deep.equal([versions[3]]);
  });

  it('are found by version also when their provider is gone and the agent with it', async () => {
    const first = await restart();
    await first.request('POST', '/api/v1/providers', { name: 'passing', baseUrl: 'http://127.0.0.1:9/v1' });
    await first.request('POST', '/api/v1/agents', { name: 'a', provider: 'passing', model: 'm' });
    const version = String(view('a')?.version);
    await first.request('DELETE', '/api/v1/agents/a');
    await first.request('DELETE', '/api/v1/providers/passing');
    expect((await first.kernel.service('profiles').at('a', version))?.provider).to.equal('passing');
  });

  for (const call of [1, 2, 3, 4]) {
    it(`are as before a save that a kill cut short (before step ${call} of putting files in place)`, async function () {
      this.timeout(30_000);
      const first = await restart();
      const old = { 'AGENT.md': described('a', 'old'), 'one.txt': '1', 'two.txt': '2' };
      await first.request('POST', '/api/v1/agents/a/files', { files: old });
      await first.stop();
      const script = new URL(import.meta.url.endsWith('.ts') ? './killed-save.ts' : './killed-save.js', import.meta.url);
      const child = fork(fileURLToPath(script), [home, String(call)]);
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
      expect(signal).to.equal('SIGKILL');
      await restart();
      const files = await readdir(join(home, 'workspace/agents/a'));
      expect(files.sort()).to.deep.equal(Object.keys(old).sort());
      for (const [name, text] of Object.entries(old)) expect(await readFile(join(home, 'workspace/agents/a', name), 'utf8')).to.equal(text);
      expect(view('a')).to.deep.include({ status: 'ok', description: 'old' });
      expect(await host?.rows('agent_saves')).to.deep.equal([]);
    });
  }
});

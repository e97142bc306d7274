import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HostOptions, RunningHost } from '../../../adapters/cli/index.ts';
import { isolationFinding, nodeFinding } from '../../../adapters/cli/doctor-machine.ts';
import { settingFindings } from '../../../adapters/cli/doctor-settings.ts';
import { diskFinding } from '../../../adapters/cli/doctor-workspace.ts';
import type { Finding } from '../../../adapters/cli/finding.ts';
import { isolationHere, settingsOnDisk } from '../../../config/without-server.ts';
import { definePlugin, OryxError } from '../../../kernel/index.ts';
import { agentFile, startHost } from '../../harness/index.ts';
import { refuse, startApiServer } from './api-server.ts';
import { hostAt, openTerminal } from './terminal.ts';

/** A host of the command's own, in the workspace of the test. */
const embedded = async ({ root }: HostOptions): Promise<RunningHost> => {
  const host = await startHost({ home: dirname(root), mode: 'embedded' });
  return hostAt(host.url, root, () => void host.stop());
};

const levels = (findings: readonly Finding[], part: string): readonly string[] =>
  findings.filter(({ what }) => what.includes(part)).map(({ level }) => level);

describe('oryxos doctor', function () {
  this.timeout(20_000);
  const settings = async ({ root, config }: { readonly root: string; readonly config?: string }) => settingsOnDisk(root, config, root, {});
  const look = async (root: string, ...more: readonly string[]): Promise<{ code: number; findings: readonly Finding[] }> => {
    await using terminal = await openTerminal({ startHost: embedded, settings });
    const code = await terminal.run('doctor', '--json', '--root', root, ...more);
    return { code, findings: JSON.parse(terminal.stdout()) as readonly Finding[] };
  };

  it('finds a new workspace in order, with and without a running server', async () => {
    const host = await startHost();
    await chmod(host.root, 0o700);
    const running = await look(host.root);
    expect(running.findings.filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect(running.code).to.equal(0);
    for (const part of [
      'Node.js',
      'bubblewrap',
      'Only its owner',
      'free on the disk',
      `A server runs at ${host.url}`,
      'The database is sound',
      'The agent is valid',
      'plugins are active',
    ])
      expect(levels(running.findings, part), part).to.have.length(1);
    await host.stop();

    const home = await mkdtemp(join(tmpdir(), 'oryxos-doctor-'));
    await (await startHost({ home })).stop();
    await mkdir(join(home, 'workspace/agents/default'), { recursive: true });
    await writeFile(join(home, 'workspace/agents/default/AGENT.md'), agentFile('default'));
    const alone = await look(join(home, 'workspace'));
    expect(alone.code).to.equal(0);
    expect(levels(alone.findings, 'No server runs')).to.deep.equal(['ok']);
    expect(levels(alone.findings, 'The database is sound')).to.deep.equal(['ok']);
    await rm(home, { recursive: true });
  });

  it('finds broken and stale agents, failed plugins and risky settings, and says what to do', async () => {
    await using host = await startHost({
      agents: { wrong: '---\nname: [\n---\n', odd: agentFile('odd', 'tools: [fly]') },
      config: { 'file.protect': false, 'oryxos.web.reveal-api-keys': true },
    });
    await host.kernel.load(definePlugin({ name: 'guest', setup: () => Promise.reject(new Error('no luck')) }));
    await host.request('POST', '/api/v1/sandbox/whitelist/shell', { value: 'python3' });
    await chmod(join(host.root, 'master.key'), 0o644);
    await chmod(host.root, 0o755);
    const { code, findings } = await look(host.root);
    expect(code).to.equal(1);
    for (const [part, level] of [
      ['The agent wrong is broken: agents/wrong/AGENT.md:', 'error'],
      ['The agent odd: ', 'warn'],
      ['can read master.key', 'error'],
      ['can look into the workspace', 'warn'],
      ['file.protect is false', 'warn'],
      ['reveal-api-keys is true', 'warn'],
      ['programs that can start any other: python3', 'warn'],
    ] as const)
      expect(levels(findings, part), part).to.deep.equal([level]);
    for (const { level, whatToDo } of findings) expect(whatToDo === null).to.equal(level === 'ok');
  });

  it('asks providers only when it may go online; one that agents need and that does not answer is an error', async () => {
    await using server = await startApiServer();
    await using terminal = await openTerminal();
    await terminal.withServer(server.url);
    server.on('GET /api/v1/config', () => []);
    server.on('GET /api/v1/agents', () => [{ name: 'a', provider: 'bad', status: 'ok', error: null, warnings: [] }]);
    server.on('GET /api/v1/providers', () => [{ name: 'bad' }, { name: 'good' }, { name: 'spare' }]);
    server.on('POST /api/v1/providers/good/test', () => ({ ok: true, modelCount: 0, sampleModels: [] }));
    for (const name of ['bad', 'spare'])
      server.on(`POST /api/v1/providers/${name}/test`, (_, response) => refuse(response, 503, 'refused'));
    expect(await terminal.run('doctor')).to.equal(0);
    expect(server.asked('GET /api/v1/providers')).to.deep.equal([]);
    expect(await terminal.run('doctor', '--online')).to.equal(1);
    expect(terminal.stdout())
      .to.match(/error {2}The provider bad does not answer: refused\n +→ Check/)
      .and.match(/warn {3}The provider spare/)
      .and.match(/ok {5}The provider good answers/);
  });

  it('finds failed, waiting and half-changed plugins, and a damaged database', async () => {
    await using server = await startApiServer();
    await using terminal = await openTerminal();
    await terminal.withServer(server.url);
    server.on('GET /api/v1/config', () => []);
    server.on('GET /api/v1/agents', () => []);
    server.on('GET /api/v1/database/check', () => ({ sound: false, problem: 'page 7 is torn' }));
    server.on('GET /api/v1/plugins', () => [
      { name: 'p1', state: 'failed', missing: [], error: 'boom', warnings: [] },
      { name: 'p2', state: 'pending', missing: ['notify'], error: null, warnings: [] },
      { name: 'p3', state: 'active', missing: [], error: 'bad config', warnings: ['needs a restart'] },
    ]);
    expect(await terminal.run('doctor')).to.equal(1);
    for (const text of [
      'error  The plugin p1 has failed: boom.',
      'oryxos plugin retry p1',
      'warn   The plugin p2 waits for notify.',
      'warn   The plugin p3 goes on as it was before: bad config.',
      'warn   The plugin p3: needs a restart.',
      'error  The database is not sound: page 7 is torn.',
      'oryxos restore',
      'warn   There is no agent.',
      'Errors: 2.',
    ])
      expect(terminal.stdout()).to.contain(text);
  });

  it('is of use where nothing starts: no workspace, a wrong configuration, a host that fails', async () => {
    await using terminal = await openTerminal({
      startHost: () => Promise.reject(new OryxError('ORYX_STORE_UNAVAILABLE', 'The database oryxos.db is damaged.')),
      settings: () => Promise.reject(new OryxError('ORYX_CONFIG', 'unknown key "sever"')),
    });
    expect(await terminal.run('doctor')).to.equal(1);
    expect(terminal.stdout()).to.contain(`error  There is no workspace at ${terminal.root}.\n       → oryxos init`);
    await terminal.run('init');
    expect(await terminal.run('doctor')).to.equal(1);
    expect(terminal.stdout()).to.contain('The configuration cannot be used: unknown key "sever"').and.contain('oryxos.db is damaged');
  });

  it('judges Node.js, the disk and the isolation of programs', async () => {
    expect(['20.18.9', '18.20.0', '20.19.0', '22.0.0'].map((version) => nodeFinding(version).level)).to.deep.equal([
      'error',
      'error',
      'ok',
      'ok',
    ]);
    expect([50e6, 500e6, 500e9].map((bytes) => diskFinding(bytes).level)).to.deep.equal(['error', 'warn', 'ok']);
    expect(isolationFinding(true, 'x')).to.deep.equal({ level: 'ok', what: 'bubblewrap works. x', whatToDo: null });
    expect(isolationFinding(false, 'bubblewrap is not installed').whatToDo).to.contain('apt-get install bubblewrap');
    expect(isolationFinding(false, 'shell.isolation is none').whatToDo).to.contain('Set shell.isolation to auto');
    const { isolated, summary } = await isolationHere('none');
    expect([isolated, summary.includes('shell.isolation is none')]).to.deep.equal([false, true]);
  });

  it('has a word for every setting that gives up protection, and none for the defaults', () => {
    expect(settingFindings(settingsOnDisk(tmpdir(), undefined, tmpdir(), {})).map(({ level }) => level)).to.deep.equal(['ok']);
    const bad = {
      'server.host': '0.0.0.0',
      'oryxos.unsafe': true,
      'oryxos.web.reveal-api-keys': true,
      'file.protect': false,
      'file.allowed-paths': ['/'],
    };
    const found = settingFindings(Object.entries(bad).map(([key, value]) => ({ key, value, origin: 'flag' })));
    expect(found.map(({ level }) => level)).to.deep.equal(['warn', 'error', 'warn', 'warn', 'warn']);
    const known = new Set(settingsOnDisk(tmpdir(), undefined, tmpdir(), {}).map(({ key }) => key));
    expect(Object.keys(bad).filter((key) => !known.has(key))).to.deep.equal([]);
  });
});

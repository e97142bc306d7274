import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createKernel, isOryxError, type KernelHost, systemClock } from '../../../kernel/index.ts';
import type { Workspace } from '../../../plugins/workspace/contract.ts';
import workspacePlugin from '../../../plugins/workspace/index.ts';
import { initWorkspace } from '../../../plugins/workspace/init-workspace.ts';
import { recordedLog } from '../logging/recorded-log.ts';

const TEMPLATE = { 'agents/default/AGENT.md': 'agent', 'USER.md': 'user' };

describe('workspace', () => {
  let home: string;
  let root: string;
  let template: string;
  let kernel: KernelHost;

  const put = async (base: string, name: string, text: string): Promise<string> => {
    const file = join(base, name);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
    return file;
  };
  const open = async (): Promise<Workspace> => {
    const status = await kernel.load(workspacePlugin, { root, template });
    if (status.error) throw status.error;
    return kernel.service('workspace');
  };
  const reopen = async (): Promise<Workspace> => {
    await kernel.unload('workspace');
    return open();
  };
  const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;
  const rejection = async (work: Promise<unknown>): Promise<Error> => {
    try {
      await work;
    } catch (error) {
      return error as Error;
    }
    throw new Error('nothing was rejected');
  };

  beforeEach(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-workspace-')));
    root = join(home, 'root');
    template = join(home, 'template');
    for (const [name, text] of Object.entries(TEMPLATE)) await put(template, name, text);
    kernel = createKernel({ clock: systemClock() });
    await kernel.load(recordedLog().plugin);
  });
  afterEach(async () => {
    await kernel.close();
    await rm(home, { recursive: true, force: true });
  });

  it('creates a missing workspace from the template, closed to other users', async () => {
    const workspace = await open();
    expect(workspace.root).to.equal(root);
    for (const [name, text] of Object.entries(TEMPLATE)) expect(await readFile(workspace.path(name), 'utf8')).to.equal(text);
    expect(await modeOf(root)).to.equal(0o700);
    expect((await readdir(root)).sort()).to.deep.equal(['.instance', 'USER.md', 'agents']);
  });

  it('leaves a workspace that has agents as it is, also when its user has deleted files of the template', async () => {
    await put(root, 'agents/mine/AGENT.md', 'mine');
    await open();
    expect((await readdir(root)).sort()).to.deep.equal(['.instance', 'agents']);
    expect(await readdir(join(root, 'agents'))).to.deep.equal(['mine']);
  });

  it('fills a directory that holds only a configuration file', async () => {
    await put(root, 'application.yml', 'server: {}');
    await open();
    expect(await readFile(join(root, 'application.yml'), 'utf8')).to.equal('server: {}');
    expect(await readFile(join(root, 'agents/default/AGENT.md'), 'utf8')).to.equal('agent');
  });

  it('goes on with a copy that a crash cut short', async () => {
    await put(root, '.initializing', '');
    await put(root, 'agents/default/AGENT.md', 'edited');
    await open();
    expect(await readFile(join(root, 'agents/default/AGENT.md'), 'utf8')).to.equal('edited');
    expect(await readFile(join(root, 'USER.md'), 'utf8')).to.equal('user');
    expect(await readdir(root)).not.to.include('.initializing');
  });

  it('reports which files init created, and none the second time', async () => {
    await put(root, 'USER.md', 'mine');
    expect(await initWorkspace(root, template)).to.deep.equal(['agents/default/AGENT.md']);
    expect(await initWorkspace(root, template)).to.deep.equal([]);
    expect(await readFile(join(root, 'USER.md'), 'utf8')).to.equal('mine');
  });

  it('gives the real path of a workspace that is reached through a link', async () => {
    await put(root, 'agents/mine/AGENT.md', 'mine');
    await symlink(root, join(home, 'link'));
    const status = await kernel.load(workspacePlugin, { root: join(home, 'link') });
    expect(status.error).to.equal(undefined);
    expect(kernel.service('workspace').root).to.equal(root);
  });

  it('names the setting when the root is a file', async () => {
    await put(home, 'root', 'a file');
    const error = await rejection(open());
    expect(isOryxError(error) && error.code).to.equal('ORYX_CONFIG');
    expect(error.message).to.match(/oryxos\.root.*not a directory/);
  });

  it('keeps its instance id over restarts, readable by its owner only', async () => {
    const first = (await open()).instanceId;
    expect(first).to.match(/^[0-9a-f-]{36}$/);
    expect(await modeOf(join(root, '.instance'))).to.equal(0o600);
    expect((await reopen()).instanceId).to.equal(first);
  });

  it('replaces an instance id that is no id', async () => {
    await put(root, '.instance', '');
    const id = (await open()).instanceId;
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect((await readFile(join(root, '.instance'), 'utf8')).trim()).to.equal(id);
  });

  it('replaces a file, creates its parents and leaves no temporary file', async () => {
    const workspace = await open();
    const file = workspace.path('agents', 'new', 'AGENT.md');
    await workspace.writeFile(file, 'one');
    await workspace.writeFile(file, new TextEncoder().encode('two'));
    expect(await readFile(file, 'utf8')).to.equal('two');
    expect(await readdir(join(file, '..'))).to.deep.equal(['AGENT.md']);
  });

  it('keeps the mode of a file that it replaces, unless another is asked for', async () => {
    const workspace = await open();
    const file = await put(root, 'run.sh', 'old');
    await chmod(file, 0o750);
    await workspace.writeFile(file, 'new');
    expect(await modeOf(file)).to.equal(0o750);
    await workspace.writeFile(file, 'new', { mode: 0o600 });
    expect(await modeOf(file)).to.equal(0o600);
  });

  it('shows readers the old or the new text, never a part', async () => {
    const workspace = await open();
    const file = workspace.path('big.txt');
    const texts = ['a'.repeat(300_000), 'b'.repeat(200_000)];
    await workspace.writeFile(file, texts[0] ?? '');
    const state = { writing: true };
    const reads = (async () => {
      while (state.writing) expect(texts).to.include(await readFile(file, 'utf8'));
    })();
    for (let round = 0; round < 20; round += 1) await workspace.writeFile(file, texts[round % 2] ?? '');
    state.writing = false;
    await reads;
  });

  it('creates a file once, whoever asks', async () => {
    const workspace = await open();
    const file = workspace.path('once');
    const created = await Promise.all(['a', 'b', 'c'].map((text) => workspace.createFile(file, text, { mode: 0o600 })));
    expect(created.filter(Boolean)).to.have.length(1);
    expect(await readFile(file, 'utf8')).to.equal(['a', 'b', 'c'][created.indexOf(true)]);
    expect((await readdir(root)).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });

  it('leaves neither a part nor a temporary file when the write fails', async () => {
    const workspace = await open();
    await mkdir(workspace.path('taken'));
    await put(root, 'taken/file', 'x');
    await rejection(workspace.writeFile(workspace.path('taken'), 'text'));
    expect((await readdir(root)).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });

  it('removes temporary files of an earlier process from the root and the agents, and no others', async () => {
    const longAgo = new Date(performance.timeOrigin - 60_000);
    const nobody = 4_194_303;
    const stale = [`.x.${nobody}-ab.tmp`, 'agents/a/.AGENT.md.k3j.tmp'];
    const kept = ['notes.tmp', 'agents/a/output/.y.tmp', `agents/a/.written-by-another-process.${process.ppid}-ab.tmp`];
    for (const name of [...stale, ...kept]) await utimes(await put(root, name, ''), longAgo, longAgo);
    await put(root, `agents/a/.young.${nobody}-ab.tmp`, '');

    await open();

    for (const name of [...kept, `agents/a/.young.${nobody}-ab.tmp`]) expect(existsSync(join(root, name)), name).to.equal(true);
    for (const name of stale) expect(existsSync(join(root, name)), name).to.equal(false);
  });

  it('holds nothing after it was closed', async () => {
    await open();
    await kernel.unload('workspace');
    expect(kernel.hasService('workspace')).to.equal(false);
  });
});

import { expect } from 'chai';
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestHost } from '../../harness/index.ts';
import { startHost } from '../../harness/index.ts';
import { toolbox } from '../tools/toolbox.ts';

const PATH = '/api/v1/sandbox/whitelist';
const config = { 'shell.allowed_commands': ['ls', 'cat'], 'http.allowed_domains': ['api.example.com'] };

const lists = async (host: TestHost) => (await host.request('GET', PATH)).data;
const add = (host: TestHost, category: string, value: unknown) => host.request('POST', `${PATH}/${category}`, { value });
const remove = (host: TestHost, category: string, value: string) =>
  host.request('DELETE', `${PATH}/${category}?value=${encodeURIComponent(value)}`);

describe('the whitelists', function () {
  this.timeout(20_000);

  let home: string;
  let top: string;
  const start = (more: Readonly<Record<string, unknown>> = {}) => startHost({ home, config: { ...config, ...more } });
  beforeEach(async () => {
    top = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-lists-')));
    home = join(top, 'home');
    await mkdir(home);
  });
  afterEach(() => rm(top, { recursive: true, force: true }));

  it('begin with the workspace and the entries of the configuration', async () => {
    await using host = await start();
    expect(await lists(host)).to.deep.equal({ file: [host.root], shell: ['ls', 'cat'], http: ['api.example.com'] });
  });

  it('take an entry and give it up, telling whether anything changed', async () => {
    await using host = await start();
    const added = await add(host, 'HTTP', '*.Example.com');
    expect([added.status, added.data]).to.deep.equal([
      200,
      { category: 'http', value: '*.Example.com', changed: true, entries: ['api.example.com', '*.example.com'] },
    ]);
    expect((await add(host, 'http', '*.example.com')).data.changed).to.equal(false);
    expect((await lists(host)).http).to.deep.equal(['api.example.com', '*.example.com']);

    const removed = await remove(host, 'Http', '*.EXAMPLE.com');
    expect(removed.data).to.deep.equal({ category: 'http', value: '*.EXAMPLE.com', changed: true, entries: ['api.example.com'] });
    expect((await remove(host, 'http', '*.example.com')).data.changed).to.equal(false);
    expect((await add(host, 'shell', 'jq')).data.entries).to.deep.equal(['ls', 'cat', 'jq']);
  });

  it('keep files as real paths', async () => {
    await mkdir(join(top, 'docs'));
    await symlink(join(top, 'docs'), join(top, 'link'));
    await using host = await start();
    const { data } = await add(host, 'file', `${join(top, 'link')}/sub/../x`);
    expect(data.value).to.equal(`${join(top, 'link')}/sub/../x`);
    expect(data.entries).to.deep.equal([host.root, join(top, 'docs/x')]);
    expect((await add(host, 'file', '.oryxos')).data).to.deep.include({ changed: false, entries: [host.root, join(top, 'docs/x')] });
  });

  const bad: readonly (readonly [string, unknown])[] = [
    ...['', ' ', '\0', '../..', '~/x', 'a\nb', 'agents/../../x'].map((value) => ['file', value] as const),
    ...['', ' ', 'ls -l', 'a/b', '..', 'rm;ls', '\t'].map((value) => ['shell', value] as const),
    ...['', ' ', '*', 'https://x.test', 'x.test/path', 'a b', 'x.test:99999'].map((value) => ['http', value] as const),
    ['file', 7],
    ['file', null],
    ['http', ['x.test']],
    ['nothing', 'x'],
    ['FILES', '/x'],
    ['__proto__', 'x'],
  ];
  it('refuse values that mean nothing, and change nothing', async () => {
    await using host = await start();
    const before = await lists(host);
    for (const [category, value] of bad) {
      const answer = await add(host, category, value);
      expect(answer.status, `${category} ${JSON.stringify(value)}`).to.equal(400);
      expect(answer.data).to.equal(null);
      expect(answer.message).to.not.equal('');
    }
    expect((await host.request('POST', `${PATH}/file`, {})).status).to.equal(400);
    expect((await host.request('DELETE', `${PATH}/file`)).status).to.equal(400);
    expect((await host.request('DELETE', `${PATH}/file?value=`)).status).to.equal(400);
    expect((await remove(host, 'nothing', 'ls')).status).to.equal(400);
    expect((await remove(host, 'http', "x' OR 1=1--")).status).to.equal(400);
    expect(await lists(host)).to.deep.equal(before);
  });

  it('say so when the workspace is to be removed, which is always allowed', async () => {
    await using host = await start();
    const answer = await remove(host, 'file', host.root);
    expect(answer.status).to.equal(400);
    expect(answer.message).to.include('always');
  });

  it('do not bring back after a restart what an administrator removed', async () => {
    await mkdir(join(top, 'docs'));
    const more = { 'file.allowed_paths': [join(top, 'docs')] };
    {
      await using host = await start(more);
      expect((await lists(host)).file).to.deep.equal([host.root, join(top, 'docs')]);
      for (const [category, value] of [
        ['file', join(top, 'docs')],
        ['shell', 'cat'],
        ['http', 'api.example.com'],
      ] as const) {
        expect((await remove(host, category, value)).data.changed).to.equal(true);
      }
      await add(host, 'shell', 'jq');
    }
    {
      await using host = await start({ ...more, 'shell.allowed_commands': ['ls', 'cat', 'head'] });
      expect(await lists(host)).to.deep.equal({ file: [host.root], shell: ['ls', 'jq', 'head'], http: [] });
      expect((await add(host, 'shell', 'cat')).data.changed).to.equal(true);
    }
    await using host = await start(more);
    expect((await lists(host)).shell).to.have.members(['ls', 'cat', 'jq', 'head']);
  });

  it('follow the workspace when it is moved', async () => {
    await start().then((host) => host.stop());
    const moved = join(top, 'moved');
    await rename(home, moved);
    await using host = await startHost({ home: moved, config });
    expect((await lists(host)).file).to.deep.equal([join(moved, 'workspace')]);
  });

  it('do not let a configured directory that became a link in again after a restart', async () => {
    const docs = join(top, 'docs');
    await mkdir(docs);
    await start({ 'file.allowed_paths': [docs] }).then((host) => host.stop());
    await rename(docs, `${docs}.bak`);
    await symlink('/etc', docs);
    await using host = await start({ 'file.allowed_paths': [docs] });
    expect((await lists(host)).file).to.deep.equal([host.root, docs]);
    // The stored entry can still be removed, by the name that it was stored under.
    expect((await remove(host, 'file', docs)).data.changed).to.equal(true);
  });

  it('leave out entries of the configuration that mean nothing, and take them up when they do', async () => {
    const docs = join(top, 'docs');
    await symlink(join(top, 'later'), docs);
    const more = {
      'file.allowed_paths': [docs],
      'http.allowed_domains': ['*', 'https://x.test', 'x.test'],
      'shell.allowed_commands': ['a b'],
    };
    {
      await using host = await start(more);
      expect(await lists(host)).to.deep.equal({ file: [host.root], shell: [], http: ['x.test'] });
    }
    await mkdir(join(top, 'later'));
    await using host = await start(more);
    expect((await lists(host)).file).to.deep.equal([host.root, join(top, 'later')]);
  });

  it('keep every one of many changes that come at once', async () => {
    await using host = await start();
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => add(host, 'shell', name)));
    expect((await lists(host)).shell).to.have.members(['ls', 'cat', ...names]);
    const answers = await Promise.all(names.map(() => remove(host, 'shell', 'p0')));
    expect(answers.filter(({ data }) => data.changed)).to.have.length(1);
  });

  it('count from the next call on', async () => {
    await using box = await toolbox();
    const path = join(box.outside, 'secret.txt');
    await writeFile(path, 'now open');
    expect((await box.failure('read_file', { path })).blockedBy).to.equal('sandbox');
    await add(box.host, 'file', box.outside);
    expect(await box.text('read_file', { path })).to.equal('now open');
    await remove(box.host, 'file', box.outside);
    expect((await box.failure('read_file', { path })).blockedBy).to.equal('sandbox');
  });
});

import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { link, mkdir, readFile, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, defineTool, ok } from '../../../kernel/index.ts';
import { agentFile, startHost } from '../../harness/index.ts';
import { toolbox } from '../tools/toolbox.ts';
import type { Toolbox } from '../tools/toolbox.ts';

const SECRET = 'TOP-SECRET';

describe('the sandbox', function () {
  this.timeout(20_000);

  describe('with files', () => {
    let box: Toolbox;
    before(async () => {
      box = await toolbox();
    });
    after(() => box[Symbol.asyncDispose]());

    const denied = async (tool: string, args: Readonly<Record<string, unknown>>): Promise<string> => {
      const result = await box.failure(tool, args);
      expect(result, JSON.stringify(args)).to.include({ retryable: false, blockedBy: 'sandbox' });
      expect(result.errorMessage)
        .to.include('whitelist')
        .and.not.include(SECRET)
        .and.not.match(/ERR_|at Object/);
      return result.errorMessage;
    };

    it('allows the workspace and what is listed', async () => {
      expect(await box.text('read_file', { path: join(box.allowed, 'ok.txt') })).to.equal('OK');
      expect(await box.text('write_file', { path: 'output/report.md', content: 'hi' })).to.equal('Wrote output/report.md');
      expect(await readFile(join(box.home, 'output/report.md'), 'utf8')).to.equal('hi');
      expect(await box.text('read_file', { path: join(box.root, 'agents/a1/output/report.md') })).to.equal('hi');
    });

    it('names the path, the list and what an administrator would add', async () => {
      expect(await denied('read_file', { path: '/etc/passwd' })).to.equal(
        '"/etc/passwd" is not on the file whitelist; an administrator can add it, or a directory above it, with POST /api/v1/sandbox/whitelist/file',
      );
    });

    it('ends a run with 422 unless the agent wants failures fed back', async () => {
      box.host.model.willCall('read_file', { path: '/etc/passwd' });
      await box.host.write('agents/strict/AGENT.md', agentFile('strict', 'tools: [read_file]'));
      await box.host.kernel.service('agents').settled();
      const outcome = await box.host.say('strict', 'go');
      expect(outcome.status).to.equal('failed');
      expect(outcome.error?.status).to.equal(422);
      expect(outcome.error?.message).to.include('"/etc/passwd" is not on the file whitelist');
    });

    it('refuses every way out of an allowed directory', async () => {
      const { allowed, outside } = box;
      await mkdir(`${allowed}-evil`);
      await writeFile(`${allowed}-evil/x`, SECRET);
      await symlink(join(outside, 'secret.txt'), join(allowed, 'ln'));
      await symlink(outside, join(allowed, 'd'));
      await symlink(join(outside, 'created.txt'), join(allowed, 'dang'));
      await symlink('b', join(allowed, 'a'));
      await symlink('a', join(allowed, 'b'));
      for (const path of [
        '../outside/secret.txt',
        'ln',
        'd/secret.txt',
        'a',
        'dang',
        '../allowed-evil/x',
        'ok.txt\0/../../etc/passwd',
        'new/../../x',
      ]) {
        await denied('read_file', { path: `${allowed}/${path}` });
        await denied('write_file', { path: `${allowed}/${path}`, content: 'PWN' });
      }
      await denied('write_file', { path: `${allowed}/d/new/deep.txt`, content: 'PWN' });
      await denied('write_file', { path: `${allowed}-evil/new.txt`, content: 'PWN' });
      await denied('list_dir', { path: `${allowed}/d` });
      await denied('list_dir', { path: box.top });
      expect(await readdir(outside)).to.deep.equal(['secret.txt']);
      expect(await readFile(join(outside, 'secret.txt'), 'utf8')).to.equal(SECRET);
      expect(await readdir(`${allowed}-evil`)).to.deep.equal(['x']);
    });

    it('takes ".." after a link as the kernel does, so a bound skill is no way up', async () => {
      await mkdir(join(box.root, 'skills/s'), { recursive: true });
      await mkdir(join(box.home, 'skills'), { recursive: true });
      await symlink('../../../skills/s', join(box.home, 'skills/s'));
      await writeFile(join(box.host.home, 'f'), SECRET);
      await denied('read_file', { path: 'skills/s/../../../f' });
      await denied('read_file', { path: `${box.root}/agents/a1/skills/s/../../../f` });
      await denied('list_dir', { path: 'skills/s/../../..' });
    });

    it('allows links that stay inside, and links from outside that lead inside', async () => {
      await symlink('ok.txt', join(box.allowed, 'in'));
      await symlink(join(box.allowed, 'ok.txt'), join(box.outside, 'toA'));
      expect(await box.text('read_file', { path: join(box.allowed, 'in') })).to.equal('OK');
      expect(await box.text('read_file', { path: join(box.outside, 'toA') })).to.equal('OK');
    });

    it('takes encodings and look-alikes for the names that they are', async () => {
      for (const path of ['%2e%2e/%2e%2e/etc/passwd', '．．∕．．∕etc∕passwd', '~/x', '..\\..\\etc']) {
        const result = await box.failure('read_file', { path: `${box.allowed}/${path}` });
        expect(result.retryable, path).to.equal(true);
        expect(result.errorMessage).to.match(/^File not found/);
      }
    });

    it('never opens pipes, and says so at once', async function () {
      this.timeout(5_000);
      execFileSync('mkfifo', [join(box.allowed, 'p')]);
      const result = await box.failure('read_file', { path: join(box.allowed, 'p') });
      expect(result).to.include({ retryable: false, blockedBy: 'sandbox' });
    });

    it('never reads a file with a second name', async () => {
      await link(join(box.root, 'oryxos.db'), join(box.home, 'innocent.txt'));
      expect(await box.failure('read_file', { path: 'innocent.txt' })).to.include({ retryable: false, blockedBy: 'sandbox' });
    });

    it('keeps tools away from secrets, configuration and state of the workspace', async () => {
      for (const name of [
        'oryxos.db',
        'oryxos.db-wal',
        'master.key',
        'mcp_servers.yaml',
        'application.yml',
        'server.json',
        '.instance',
        'logs/x',
        'backups/x',
      ]) {
        expect(await denied('read_file', { path: join(box.root, name) })).to.include('is protected');
        expect(await denied('write_file', { path: `../../${name}`, content: 'x' })).to.include('is protected');
      }
      await denied('list_dir', { path: join(box.root, 'logs') });
      expect(await box.text('list_dir', { path: box.root })).to.include('agents/');
    });

    it('lets no agent rewrite an agent, a skill or a plugin', async () => {
      const before = await readFile(join(box.home, 'AGENT.md'), 'utf8');
      for (const path of [
        'AGENT.md',
        '../a2/notes.md',
        '../new/AGENT.md',
        '../../SOUL.md',
        '../../skills/x/SKILL.md',
        '../../plugins/p/index.js',
      ]) {
        expect(await denied('write_file', { path, content: 'tools: [shell]' }))
          .to.include('is protected')
          .and.to.include('file.protect');
      }
      expect(await readFile(join(box.home, 'AGENT.md'), 'utf8')).to.equal(before);
      expect(await readdir(join(box.root, 'agents'))).to.not.include('new');
      expect(await box.text('read_file', { path: 'AGENT.md' })).to.equal(before);
    });

    it('calls an empty path a bad argument', async () => {
      const result = await box.failure('read_file', { path: '' });
      expect(result.retryable).to.equal(true);
      expect(result.errorMessage).to.include('path');
    });
  });

  it('denies everything outside the workspace with an empty list', async () => {
    await using box = await toolbox({ config: { 'file.allowed_paths': [] } });
    expect(await box.failure('read_file', { path: join(box.allowed, 'ok.txt') })).to.include({ retryable: false, blockedBy: 'sandbox' });
    expect(await box.text('write_file', { path: 'x', content: 'y' })).to.equal('Wrote x');
  });

  it('never allows /proc, /sys and /dev, even with "/" on the list', async function () {
    if (process.platform !== 'linux') this.skip();
    await using box = await toolbox({ config: { 'file.allowed_paths': ['/'] } });
    await symlink('/proc/self/environ', join(box.allowed, 'e'));
    const fds = Array.from({ length: 64 }, (_, fd) => `/proc/self/fd/${fd}`);
    for (const path of [
      '/proc/self/environ',
      `/proc/self/root${box.outside}/secret.txt`,
      '/dev/zero',
      '/sys/power/state',
      `${box.allowed}/e`,
      ...fds,
    ]) {
      const result = await box.failure('read_file', { path });
      expect(result, path).to.include({ retryable: false, blockedBy: 'sandbox' });
      expect(result.errorMessage).to.include('whitelist');
    }
    expect(await box.text('read_file', { path: join(box.outside, 'secret.txt') })).to.equal(SECRET);
  });

  it('follows a listed directory that is itself a link, and not one that becomes a link later', async () => {
    await using box = await toolbox();
    await mkdir(join(box.outside, 'real'));
    await writeFile(join(box.outside, 'real/f'), 'HELLO');
    await symlink(join(box.outside, 'real'), join(box.top, 'rootlink'));
    await box.host.request('POST', '/api/v1/sandbox/whitelist/file', { value: join(box.top, 'rootlink') });
    expect(await box.text('read_file', { path: join(box.top, 'rootlink/f') })).to.equal('HELLO');

    await rename(box.allowed, `${box.allowed}.bak`);
    await symlink(box.outside, box.allowed);
    expect(await box.failure('read_file', { path: join(box.allowed, 'secret.txt') })).to.include({ blockedBy: 'sandbox' });
  });

  it('tells names apart that only look the same', async () => {
    await using box = await toolbox();
    const [composed, decomposed] = [join(box.top, 'caf\u00e9'), join(box.top, 'cafe\u0301')];
    await mkdir(composed);
    await mkdir(decomposed);
    await writeFile(join(decomposed, 's'), SECRET);
    await box.host.request('POST', '/api/v1/sandbox/whitelist/file', { value: composed });
    if (process.platform === 'linux')
      expect(await box.failure('read_file', { path: join(decomposed, 's') })).to.include({ blockedBy: 'sandbox' });
  });

  it('lets tools write definitions when file.protect is off, and secrets never', async () => {
    await using box = await toolbox({ config: { 'file.protect': false } });
    expect(await box.text('write_file', { path: '../a2/notes.md', content: 'x' })).to.equal('Wrote ../a2/notes.md');
    expect(await box.text('write_file', { path: '../../SOUL.md', content: 'x' })).to.equal('Wrote ../../SOUL.md');
    expect(await box.failure('write_file', { path: '../../master.key', content: 'x' })).to.include({ blockedBy: 'sandbox' });
  });

  describe('with tools of other plugins', () => {
    const touching = (kind: string, value: string, access?: 'read' | 'write') =>
      definePlugin({
        name: 'toucher',
        setup(ctx) {
          const tool = defineTool({
            name: 'touch',
            description: 'Touches something.',
            input: { type: 'object' },
            claims: () => [{ kind, value, ...(access && { access }) }],
            execute: async () => ok('touched'),
          });
          ctx.register('tool', tool);
        },
      });
    const touched = async (kind: string, value: string, access?: 'read' | 'write', config: Readonly<Record<string, unknown>> = {}) => {
      await using host = await startHost({
        agents: { t: agentFile('t', 'tools: [touch]') },
        config: { 'http.allowed_domains': ['*.example.test'], 'shell.allowed_commands': ['ls'], ...config },
        plugins: [touching(kind, value, access)],
      });
      host.model.willCall('touch');
      const outcome = await host.say('t', 'go');
      return outcome.error?.message ?? 'touched';
    };

    it('judges what they claim, whatever they are called', async () => {
      expect(await touched('command', 'ls')).to.equal('touched');
      expect(await touched('command', 'bash')).to.include('shell whitelist');
      expect(await touched('url', 'https://a.example.test/')).to.equal('touched');
      expect(await touched('url', 'https://example.test/')).to.include('http whitelist');
      expect(await touched('file', '../../master.key', 'read')).to.include('is protected');
      expect(await touched('database', 'main')).to.include('There is no whitelist for "database"');
    });

    it('takes a claim that does not say what it does for a write', async () => {
      expect(await touched('file', 'AGENT.md')).to.include('is protected');
      expect(await touched('file', 'AGENT.md', 'read')).to.equal('touched');
      const open = { 'http.read_policy': 'public' };
      expect(await touched('url', 'https://elsewhere.com/', undefined, open)).to.include('http whitelist');
      expect(await touched('url', 'https://elsewhere.com/', 'read', open)).to.equal('touched');
    });
  });
});

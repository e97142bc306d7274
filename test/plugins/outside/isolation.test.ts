import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKernel, definePlugin, systemClock } from '../../../kernel/index.ts';
import type { ToolRun } from '../../../kernel/index.ts';
import { ProcessProblem } from '../../../plugins/outside/contract.ts';
import { findIsolation } from '../../../plugins/outside/isolation.ts';
import { createProcesses } from '../../../plugins/outside/processes.ts';
import { until } from '../../harness/index.ts';
import { toolbox } from '../tools/toolbox.ts';
import type { Toolbox } from '../tools/toolbox.ts';

const { status } = await findIsolation('auto');
const COMMANDS = ['sh', 'cat', 'ls', 'printenv', 'unshare', 'python3'];
const sh = (script: string) => ({ executable: 'sh', arguments: ['-c', script] });

const boxWith = (config: Readonly<Record<string, unknown>>): Promise<Toolbox> =>
  toolbox({ config: { 'shell.timeout_seconds': 5, 'shell.allowed_commands': COMMANDS, ...config } });

describe('programs that are isolated', function () {
  this.timeout(30_000);
  before(function () {
    if (status.isolated) return;
    console.log(`    skipped: ${status.warning}`);
    this.skip();
  });

  describe('with shell.isolation: auto', () => {
    let box: Toolbox;
    before(async () => {
      box = await boxWith({ 'shell.isolation': 'auto' });
      for (const directory of ['skills/s', 'plugins/p', 'knowledge', 'logs', 'backups'])
        await mkdir(join(box.root, directory), { recursive: true });
      await writeFile(join(box.root, 'AGENTS.md'), 'agents');
      await writeFile(join(box.root, 'skills/s/SKILL.md'), 'skill');
      await writeFile(join(box.root, 'backups/copy'), 'TOP-SECRET');
      await symlink('knowledge', join(box.root, 'link'));
    });
    after(() => box[Symbol.asyncDispose]());

    it('work in their own directory, in the workspace and in whitelisted places', async () => {
      const { root, allowed } = box;
      const script = `echo 1 > a; mkdir -p output && echo 2 > output/b; echo 3 > ${root}/knowledge/c; echo 4 > ${root}/link/d; echo 5 > ${allowed}/e; cat ${allowed}/ok.txt`;
      expect(await box.text('shell', sh(script))).to.equal('OK');
      const written = [`${box.home}/a`, `${box.home}/output/b`, `${root}/knowledge/c`, `${root}/knowledge/d`, `${allowed}/e`];
      expect(await Promise.all(written.map((file) => readFile(file, 'utf8')))).to.deep.equal(['1\n', '2\n', '3\n', '4\n', '5\n']);
    });

    it('do not see the keys, the database, the configuration and the backups', async () => {
      const names = (await box.text('shell', { executable: 'ls', arguments: ['-A', box.root] })).trim().split('\n');
      expect(names).to.deep.equal(['AGENTS.md', 'agents', 'knowledge', 'link', 'plugins', 'skills']);
      for (const name of ['master.key', 'oryxos.db', 'server.json', 'backups/copy', '.instance']) {
        const { errorMessage } = await box.failure('shell', { executable: 'cat', arguments: [join(box.root, name)] });
        expect(errorMessage, name).to.include('No such file').and.not.include('TOP-SECRET');
      }
    });

    it('do not see a hidden file that comes while they run', async () => {
      const file = join(box.root, 'application.yml');
      box.host.model.willCall('shell', sh(`touch begun; sleep 1; cat ${file}`));
      const said = box.host.say('a1', 'go');
      await until('the program to begin', () => readFile(join(box.home, 'begun')).catch(() => undefined));
      await writeFile(file, '# TOP-SECRET\n');
      await said;
      await unlink(file);
      const answer = JSON.stringify(box.host.model.requests.at(-1)?.messages);
      expect(answer).to.include('No such file').and.not.include('TOP-SECRET');
    });

    const forbidden: readonly string[] = [
      'echo X > AGENT.md',
      'echo X > new && mv new AGENT.md',
      'rm -f AGENT.md',
      'mv AGENT.md gone',
      'chmod 777 AGENT.md',
      'mv ../a1 ../a3',
      'echo X > ../a2/x',
      'mkdir ../evil',
      'echo X > ../../AGENTS.md',
      'echo X > ../../SOUL.md',
      'echo X > ../../skills/s/SKILL.md',
      'mkdir ../../plugins/evil',
      'echo X > ../../application.yml',
      'echo X > ../../master.key',
      'mkdir ../../new',
      'rm -rf ../../skills',
      'echo X > /etc/oryxos-test',
      'echo X > /usr/bin/oryxos-test',
      'unshare -U true',
      'mount -t tmpfs none /mnt',
      'umount ../..',
    ];
    for (const script of forbidden) {
      it(`cannot: ${script}`, async () => {
        const before = execFileSync(
          'sh',
          ['-c', 'find . -not -name "oryxos.db*" -type f | sort | xargs md5sum; ls -ld agents/*/AGENT.md'],
          { cwd: box.root },
        );
        const result = await box.failure('shell', sh(script));
        expect(result.errorMessage).to.match(/^Exit code/);
        await rm(join(box.home, 'new'), { force: true });
        const after = execFileSync('sh', ['-c', 'find . -not -name "oryxos.db*" -type f | sort | xargs md5sum; ls -ld agents/*/AGENT.md'], {
          cwd: box.root,
        });
        expect(after.toString()).to.equal(before.toString());
      });
    }

    it('have processes, an environment and a /tmp of their own', async () => {
      process.env['WITHHELD'] = 'TOP-SECRET';
      const text = await box.text(
        'shell',
        sh('ls -d /proc/[0-9]* | wc -l; cat /proc/1/environ; ls /tmp | wc -l; echo x > /tmp/x; cat /tmp/x'),
      );
      expect(text).to.not.include('TOP-SECRET');
      expect(Number(text.split('\n')[0])).to.be.below(10);
      expect((await box.failure('shell', sh('kill -9 1; kill -9 2; sleep 1; exit 1'))).errorMessage).to.match(/^(Exit code|Ended)/);
    });

    it('cannot make a definition where there is none, or only a link', async () => {
      await using other = await boxWith({ 'shell.isolation': 'auto', 'watch.enabled': false });
      await rm(join(other.home, 'AGENT.md'));
      expect((await other.failure('shell', sh('echo X > AGENT.md'))).errorMessage).to.include('Read-only');
      await symlink('elsewhere', join(other.home, 'AGENT.md'));
      expect((await other.failure('shell', sh('rm AGENT.md'))).errorMessage).to.include('Read-only');
    });

    it('cannot change what a whitelisted path leads to when it has become a link', async () => {
      const inner = join(box.allowed, 'inner');
      await mkdir(inner);
      await box.host.request('POST', '/api/v1/sandbox/whitelist/file', { value: inner });
      await rm(inner, { recursive: true });
      await symlink('/var/tmp', inner);
      expect((await box.failure('shell', sh(`echo X > ${inner}/oryxos-test`))).errorMessage).to.include('Read-only');
    });

    it('is what the service says', () => {
      const { isolation } = box.host.kernel.service('outside').processes;
      expect(isolation).to.include({ setting: 'auto', isolated: true, warning: undefined });
      expect(isolation.summary).to.include('can read the machine and use its network');
    });
  });

  it('may write definitions with file.protect: false, and still see no secrets', async () => {
    await using box = await boxWith({ 'shell.isolation': 'auto', 'file.protect': false });
    expect(await box.text('shell', sh('echo >> AGENT.md; echo >> ../a2/AGENT.md; mkdir ../a4; ls ../..'))).to.equal('agents\n');
    expect((await box.failure('shell', sh('cat ../../master.key'))).errorMessage).to.include('No such file');
  });

  it('may write everywhere when everything is listed, but see no secrets of the workspace', async () => {
    await using box = await boxWith({ 'shell.isolation': 'strict', 'file.allowed_paths': ['/'] });
    expect(
      await box.text('shell', sh(`cat ${box.outside}/secret.txt; echo x > ${box.outside}/y; ls /proc | grep -c '^[0-9]*$' > /dev/null`)),
    ).to.equal('TOP-SECRET');
    expect((await box.failure('shell', sh('cat ../../master.key'))).errorMessage).to.include('No such file');
    expect((await box.failure('shell', sh('echo X > AGENT.md'))).errorMessage).to.include('Read-only');
  });

  describe('with shell.isolation: strict', () => {
    let box: Toolbox;
    before(async () => {
      box = await boxWith({ 'shell.isolation': 'strict' });
    });
    after(() => box[Symbol.asyncDispose]());

    it('see system folders and whitelisted paths only', async () => {
      expect(await box.text('shell', sh(`cat ${box.allowed}/ok.txt`))).to.equal('OK');
      for (const path of [join(box.outside, 'secret.txt'), '/etc/passwd', '/root', '/home', '/var/log', '/sys/kernel']) {
        expect((await box.failure('shell', { executable: 'ls', arguments: [path] })).errorMessage, path).to.include('No such file');
      }
      expect((await box.failure('shell', sh('echo X > AGENT.md'))).errorMessage).to.include('Read-only');
      expect(await box.text('shell', sh('echo 1 > kept; cat kept'))).to.equal('1\n');
    });

    it('have no network, not even to this machine', async () => {
      const { port } = new URL(box.host.url);
      const connect = `import socket; socket.create_connection(("127.0.0.1", ${port}), 1); print("connected")`;
      expect((await box.failure('shell', { executable: 'python3', arguments: ['-c', connect] })).errorMessage).to.include('refused');
    });

    it('run from a listed place that is not a system folder', async () => {
      const tool = join(box.outside, 'tool');
      await copyFile('/usr/bin/printenv', tool);
      await chmod(tool, 0o755);
      await box.host.request('POST', '/api/v1/sandbox/whitelist/shell', { value: tool });
      expect(await box.text('shell', { executable: tool, arguments: ['HOME'] })).to.equal(`${box.home}\n`);
    });
  });
});

describe('isolation without bubblewrap', () => {
  const nothing = () => Promise.resolve(undefined);

  it('is none with auto, and says so', async () => {
    const isolation = await findIsolation('auto', nothing);
    expect(isolation.refuses).to.equal(false);
    expect(isolation.status).to.include({ setting: 'auto', isolated: false });
    expect(isolation.status.warning).to.equal(
      "Programs of the shell tool are not isolated: bubblewrap is not installed. They can read and change whatever the server's user can.",
    );
  });

  it('is none when bubblewrap does not work here, with its own words', async () => {
    const broken = async () => ({ file: '/bin/false', foundAt: '/bin/false' });
    expect((await findIsolation('auto', broken)).status.warning).to.include('bubblewrap does not work here');
  });

  it('lets nothing start with strict', async () => {
    const kernel = createKernel({ clock: systemClock() });
    let problem: unknown;
    await kernel.load(
      definePlugin({
        name: 'probe',
        async setup(ctx) {
          const processes = createProcesses({
            clock: ctx.clock,
            signal: ctx.signal,
            root: '/',
            instanceId: 'x',
            homeOf: () => '/',
            timeoutSeconds: 1,
            passThrough: [],
            isolation: await findIsolation('strict', nothing),
            confinements: ctx.registry('confinement'),
          });
          problem = await processes.run({ executable: 'true', arguments: [] }, toolRun([])).catch((error: unknown) => error);
        },
      }),
    );
    await kernel.close();
    expect(problem).to.be.instanceOf(ProcessProblem);
    expect(problem).to.include({
      blockedBy: 'sandbox',
      message: 'The shell tool starts nothing: shell.isolation is strict and bubblewrap is not installed.',
    });
  });

  it('starts exactly what was judged, even when the caller’s objects change afterwards', async () => {
    const kernel = createKernel({ clock: systemClock() });
    let outcome: unknown;
    const claims: string[] = [];
    await kernel.load(
      definePlugin({
        name: 'probe',
        async setup(ctx) {
          const processes = createProcesses({
            clock: ctx.clock,
            signal: ctx.signal,
            root: '/',
            instanceId: 'x',
            homeOf: () => '/',
            timeoutSeconds: 5,
            passThrough: [],
            isolation: await findIsolation('none'),
            confinements: ctx.registry('confinement'),
          });
          let reads = 0;
          const args = ['judged'];
          Object.defineProperty(args, 0, { get: () => (reads++ === 0 ? 'judged' : 'changed'), enumerable: true });
          const command = { executable: 'echo', arguments: args };
          const run = toolRun(claims, () => {
            command.executable = 'id';
            args.push('more');
          });
          outcome = await processes.run(command, run);
        },
      }),
    );
    await kernel.close();
    expect(claims).to.deep.equal(['echo']);
    expect(outcome).to.deep.equal({ end: { kind: 'exit', code: 0 }, stdout: 'judged\n', stderr: '' });
  });
});

/** What a tool gets, as far as programs need it. */
function toolRun(claims: string[], onClaim: () => void = () => undefined): ToolRun {
  const run = {
    signal: new AbortController().signal,
    turn: { agent: { name: 'a1' } },
    claim: async ({ value }: { value: string }) => {
      claims.push(value);
      onClaim();
    },
  };
  return run as unknown as ToolRun;
}

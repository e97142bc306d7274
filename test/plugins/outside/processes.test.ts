import { expect } from 'chai';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { definePlugin, defineTool, ok } from '../../../kernel/index.ts';
import { findIsolation } from '../../../plugins/outside/isolation.ts';
import { agentFile, startHost, until } from '../../harness/index.ts';
import { toolbox } from '../tools/toolbox.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { marked } from './marked-processes.ts';

const COMMANDS = ['sh', 'ls', 'cat', 'pwd', 'printenv', 'echo', 'yes', 'git', 'nosuch-program', 'sleep'];
const LONE = agentFile('a1', 'tools: [shell]\nsettings:\n  on_fatal_tool_error: feedback');
const { status: bubblewrap } = await findIsolation('auto');

const boxWith = (config: Readonly<Record<string, unknown>>): Promise<Toolbox> =>
  toolbox({ config: { 'shell.timeout_seconds': 2, 'shell.isolation': 'none', 'shell.allowed_commands': COMMANDS, ...config } });
const instanceOf = (box: Toolbox): string => `ORYXOS_INSTANCE=${box.host.kernel.service('workspace').instanceId}`;
const sh = (script: string) => ({ executable: 'sh', arguments: ['-c', script] });

describe('programs', function () {
  this.timeout(30_000);

  let box: Toolbox;
  before(async () => {
    process.env['PASSED_ON'] = 'yes';
    process.env['WITHHELD'] = 'TOP-SECRET';
    process.env['ORYXOS_SOMETHING'] = 'TOP-SECRET';
    box = await boxWith({ 'shell.env_passthrough': ['PASSED_ON', 'ORYXOS_SOMETHING', 'NOT_SET'] });
  });
  after(() => box[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(await marked(instanceOf(box)), 'processes that are left').to.deep.equal([]);
  });

  it('run in the agent’s own directory and say what they wrote', async () => {
    expect(await box.text('shell', { executable: 'pwd' })).to.equal(`${box.home}\n`);
    expect(await box.text('shell', { command: "echo 'a  b' c" })).to.equal('a  b c\n');
    expect(await box.text('shell', sh('true'))).to.equal('(no output)');
    expect(await box.text('shell', sh('echo out; echo err >&2'))).to.equal('out\n\n[stderr]\nerr\n');
  });

  it('that fail are failures with code and both streams, which the model may repeat', async () => {
    const result = await box.failure('shell', sh('echo out; echo err >&2; exit 3'));
    expect(result).to.deep.equal({ success: false, errorMessage: 'Exit code 3: err\n[stdout]\nout', retryable: true });
    expect((await box.failure('shell', sh('echo out; exit 1'))).errorMessage).to.equal('Exit code 1: out');
    expect((await box.failure('shell', sh('exit 7'))).errorMessage).to.equal('Exit code 7: (no output)');
    expect((await box.failure('shell', sh('kill -9 $$'))).errorMessage).to.equal('Ended by signal SIGKILL: (no output)');
  });

  it('get nothing of the server’s environment but what is passed on', async () => {
    const lines = (await box.text('shell', { executable: 'printenv' })).trim().split('\n');
    const names = lines.map((line) => line.split('=')[0]);
    expect(names).to.have.members(['HOME', 'LANG', 'ORYXOS_CALL_ID', 'ORYXOS_INSTANCE', 'PASSED_ON', 'PATH', 'TMPDIR', 'TZ']);
    expect(lines).to.include.members(['PATH=/usr/local/bin:/usr/bin:/bin', `HOME=${box.home}`, 'PASSED_ON=yes', instanceOf(box)]);
  });

  it('of git are kept from the configuration of the machine and from asking', async () => {
    const text = await box.text('shell', { command: "git -c 'alias.env=!env' env" });
    expect(text).to.include('GIT_CONFIG_GLOBAL=/dev/null').and.include('GIT_CONFIG_NOSYSTEM=1').and.include('GIT_TERMINAL_PROMPT=0');
  });

  it('get no input', async () => {
    expect(await box.text('shell', { executable: 'cat' })).to.equal('(no output)');
  });

  it('are looked up on a fixed path, never in the working directory', async () => {
    await writeFile(join(box.home, 'ls'), '#!/bin/sh\necho PWNED\n');
    await chmod(join(box.home, 'ls'), 0o755);
    expect(await box.text('shell', { executable: 'ls', arguments: ['AGENT.md'] })).to.equal('AGENT.md\n');
    const { errorMessage } = await box.failure('shell', { executable: 'nosuch-program' });
    expect(errorMessage).to.equal('Program not found: nosuch-program');
  });

  it('with an absolute path need that very path on the whitelist, and keep the name under which they were found', async () => {
    const link = join(box.allowed, 'printer');
    await symlink('/usr/bin/printenv', link);
    expect((await box.failure('shell', { executable: link })).errorMessage).to.include(`"${link}" is not on the shell whitelist`);
    await box.host.request('POST', '/api/v1/sandbox/whitelist/shell', { value: link });
    expect(await box.text('shell', { executable: link, arguments: ['PASSED_ON'] })).to.equal('yes\n');
    expect((await box.failure('shell', { executable: link, arguments: ['--nope'] })).errorMessage).to.include(`${link}: `);
    expect((await box.failure('shell', { executable: '/usr/bin/printenv' })).blockedBy).to.equal('sandbox');
  });

  it('that are not listed are refused with the list and what an administrator would add', async () => {
    const result = await box.failure('shell', { executable: 'id' });
    expect(result).to.deep.equal({
      success: false,
      errorMessage: '"id" is not on the shell whitelist; an administrator can add it with POST /api/v1/sandbox/whitelist/shell',
      retryable: false,
      blockedBy: 'sandbox',
    });
    for (const executable of ['ls; id', ' ls', '../ls', '-c', 'ls\n', '.', '..']) {
      expect((await box.failure('shell', { executable })).errorMessage, executable).to.include(
        'is not on the shell whitelist and cannot be put there',
      );
    }
  });

  const unusable: readonly (readonly [unknown, string])[] = [
    [{}, 'executable is missing'],
    [{ executable: 'ls', command: 'ls' }, 'give either that or these'],
    [{ command: 'ls', arguments: ['x'] }, 'give either that or these'],
    [{ executable: 'ls', cwd: '/' }, 'cwd'],
    [{ executable: 'ls', env: { PATH: '/x' } }, 'env'],
    [{ executable: 'ls', arguments: 'x' }, 'arguments'],
    [{ executable: 'ls', arguments: ['a\0b'] }, 'NUL'],
    [{ executable: 'ls', arguments: ['x'.repeat(200_000)] }, 'Could not start ls: its arguments are too long'],
    [{ command: 'ls "x' }, 'ends inside quotes'],
    [{ command: 'ls | cat' }, 'no shell syntax'],
  ];
  for (const [args, text] of unusable) {
    it(`say what is wrong with ${JSON.stringify(args).slice(0, 60)}`, async () => {
      const result = await box.failure('shell', args);
      expect(result.errorMessage)
        .to.include(text)
        .and.not.match(/ at |ERR_/);
      expect(result.retryable).to.equal(true);
    });
  }

  it('are judged where they are started too, and started with the arguments that were judged', async () => {
    const runner = defineTool({
      name: 'runner',
      description: 'Starts a program without having said so.',
      input: { type: 'object', properties: { executable: { type: 'string' } }, required: ['executable'] } as const,
      async execute({ executable }, run) {
        const args = ['judged'];
        const running = lone.host.kernel.service('outside').processes.run({ executable, arguments: args }, run);
        args[0] = 'changed';
        return ok((await running).stdout);
      },
    });
    const plugin = definePlugin({ name: 'runner', setup: (ctx) => void ctx.register('tool', runner) });
    const lone = await toolbox({
      plugins: [plugin],
      config: { 'shell.isolation': 'none', 'shell.allowed_commands': ['echo'] },
      agents: { r1: agentFile('r1', 'tools: [runner]\nsettings: {on_fatal_tool_error: feedback}') },
    });
    try {
      expect(await lone.text('runner', { executable: 'echo' }, 'r1')).to.equal('judged\n');
      const refused = await lone.failure('runner', { executable: 'printenv' }, 'r1');
      expect(refused).to.include({ blockedBy: 'sandbox', retryable: false });
    } finally {
      await lone[Symbol.asyncDispose]();
    }
  });

  it('that take too long are ended with everything they started, and the call is final', async () => {
    const since = performance.now();
    const result = await box.failure('shell', sh('echo begun; sleep 977 & (sleep 976 & sleep 975) & sleep 974'));
    expect(result).to.deep.equal({
      success: false,
      errorMessage: 'Command timed out after 2 s and was ended\nbegun\n',
      retryable: false,
    });
    expect(performance.now() - since).to.be.below(4_000);
  });

  it('that ignore SIGTERM are killed a second later', async () => {
    const since = performance.now();
    const result = await box.failure('shell', sh("trap '' TERM; while :; do sleep 0.2; done"));
    expect(result.errorMessage).to.include('timed out');
    expect(performance.now() - since).to.be.within(2_900, 5_000);
  });

  it('leave no child behind, in another session or without open pipes either', async () => {
    const since = performance.now();
    expect(await box.text('shell', sh('sleep 973 & echo started'))).to.equal('started\n');
    expect(await box.text('shell', sh('setsid sleep 972 & echo started'))).to.equal('started\n');
    expect(await box.text('shell', sh('setsid sleep 971 >/dev/null 2>&1 & sleep 970 >/dev/null 2>&1 & echo started'))).to.equal(
      'started\n',
    );
    expect(performance.now() - since).to.be.below(4_000);
  });

  it('that write more than 10 MiB are ended, and beginning and end of it are kept', async () => {
    const result = await box.failure('shell', { executable: 'yes' });
    expect(result.errorMessage)
      .to.match(/^Command wrote more than 10 MiB and was ended\ny\ny\n/)
      .and.include('bytes are left out here');
    expect(result.errorMessage.length).to.be.below(66 * 1024);
    const both = await box.text('shell', sh('head -c 9000000 /dev/zero | tr "\\0" a; head -c 9000000 /dev/zero | tr "\\0" b >&2'));
    expect(both.length).to.be.below(132 * 1024);
  });

  it('run under limits of the operating system', async function () {
    const limits = await box.text('shell', sh('cat /proc/self/limits'));
    expect(limits)
      .to.match(/Max core file size\s+0\s+0/)
      .and.match(/Max file size\s+2147483648\s/);
    const failed = await box.failure('shell', sh('truncate -s 3G big; code=$?; rm -f big; exit $code'));
    expect(failed.errorMessage).to.match(/^Exit code/);
  });

  it('are stopped when the run is cancelled', async () => {
    box.host.model.willCall('shell', sh('sleep 969'));
    const said = box.host.say('a1', 'go');
    await until('the program to run', async () => (await marked(instanceOf(box))).length > 0);
    const engine = box.host.kernel.service('engine');
    await engine.cancel(engine.active()[0]?.traceId ?? '');
    expect((await said).status).to.equal('failed');
    await until('it to be gone', async () => (await marked(instanceOf(box))).length === 0);
  });

  it('are stopped when the server stops', async () => {
    const other = await boxWith({ 'shell.timeout_seconds': 60 });
    const instance = instanceOf(other);
    other.host.model.willCall('shell', sh('setsid sleep 968 & sleep 967'));
    const said = other.host.say('a1', 'go').catch(() => undefined);
    await until('the programs to run', async () => (await marked(instance)).length >= 2);
    await other[Symbol.asyncDispose]();
    await said;
    expect(await marked(instance)).to.deep.equal([]);
  });

  it('leave no pipe, process or timer of the server behind', async () => {
    const held = () => process.getActiveResourcesInfo().filter((name) => /Pipe|Process|Timeout/.test(name)).length;
    await box.text('shell', { executable: 'echo', arguments: ['x'] });
    const before = held();
    for (let count = 0; count < 20; count += 1) await box.text('shell', { executable: 'echo', arguments: ['x'] });
    await until('pipes to close', () => held() <= before);
  });

  it('say in the list which entries can start others', async () => {
    const { data } = await box.host.request('GET', '/api/v1/sandbox/whitelist');
    const risks: readonly { entry: string; risk: string }[] = data.shellRisks;
    expect(risks.map(({ entry }) => entry)).to.deep.equal(['sh', 'git']);
    expect(risks[0]?.risk).to.equal('interpreter/wrapper');
  });

  describe('of a server that was killed', () => {
    const script = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './kill-server.ts' : './kill-server.js', import.meta.url));
    let home: string;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'oryxos-kill-'));
      await mkdir(join(home, 'workspace/agents/a1'), { recursive: true });
      await writeFile(join(home, 'workspace/agents/a1/AGENT.md'), LONE);
    });
    afterEach(() => rm(home, { recursive: true, force: true }));

    async function killed(isolation: string): Promise<string> {
      const server = fork(script, [JSON.stringify({ home, isolation })], {
        execArgv: process.execArgv.filter((argument) => !argument.includes('mocha')),
      });
      const [{ instance }] = (await once(server, 'message')) as [{ instance: string }];
      const mark = `ORYXOS_INSTANCE=${instance}`;
      await until('the programs to run', async () => (await marked(mark)).length >= 3, 15_000);
      server.kill('SIGKILL');
      await once(server, 'exit');
      return mark;
    }

    it('are ended at its next start, those of other workspaces are not', async () => {
      const mark = await killed('none');
      expect((await marked(mark)).length).to.be.at.least(3);
      const stranger = spawn('/bin/sleep', ['60'], { env: { ORYXOS_INSTANCE: 'another-workspace', ORYXOS_CALL_ID: 'x' } });
      try {
        await using host = await startHost({ home });
        expect(host.url).to.be.a('string');
        expect(await marked(mark)).to.deep.equal([]);
        expect((await marked('ORYXOS_INSTANCE=another-workspace')).includes(stranger.pid ?? 0)).to.equal(true);
      } finally {
        stranger.kill('SIGKILL');
      }
    });

    it('are ended with it when they are isolated', async function () {
      if (!bubblewrap.isolated) {
        console.log(`      skipped: ${bubblewrap.warning}`);
        this.skip();
      }
      const mark = await killed('auto');
      await until('nothing to be left', async () => (await marked(mark)).length === 0);
    });
  });

  it('that run are not taken for left-overs when the plugin is set up again', async () => {
    box.host.model.willCall('shell', sh('sleep 1; echo done'));
    const said = box.host.say('a1', 'go');
    await until('the program to run', async () => (await marked(instanceOf(box))).length > 0);
    const { endStrays } = await import('../../../plugins/outside/strays.ts');
    const { isLeftBehind } = await import('../../../plugins/outside/child-environment.ts');
    expect(await endStrays(isLeftBehind(box.host.kernel.service('workspace').instanceId))).to.equal(0);
    expect((await said).status).to.equal('completed');
    expect(await readFile(join(box.home, 'AGENT.md'), 'utf8')).to.include('name: a1');
  });
});

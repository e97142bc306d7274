import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { agentFile, fakeClock, startHost, type TestHost, until } from '../../harness/index.ts';

/** What "live" may take. */
const LIVE_MS = 500;
const described = (name: string, description: string): string => agentFile(name, `description: ${description}`);

describe('agents on disk', () => {
  let host: TestHost;
  const dir = (name: string): string => join(host.root, 'agents', name);
  const view = (name: string) => host.request('GET', `/api/v1/agents/${name}`);
  const edit = (name: string, text: string) => host.write(`agents/${name}/AGENT.md`, text);
  const shows = (name: string, description: string) =>
    until(`${name} shows ${description}`, async () => (await view(name)).data?.description === description, LIVE_MS);
  const has = (name: string, status: string) => until(`${name} is ${status}`, async () => (await view(name)).data?.status === status, LIVE_MS);
  const gone = (name: string) => until(`${name} is gone`, async () => (await view(name)).status === 404, LIVE_MS);

  before(async () => {
    host = await startHost();
    await edit('warm', agentFile('warm'));
    await until('the watch is up', async () => (await view('warm')).status === 200);
  });
  after(() => host.stop());

  it('are there soon after their directory is, and gone soon after it is', async () => {
    await edit('b1', described('b1', 'one'));
    await shows('b1', 'one');
    await rm(dir('b1'), { recursive: true });
    await gone('b1');
    expect(host.kernel.service('profiles').current('b1')).to.equal(undefined);
  });

  it('come with a file that is added to an old directory, and go with it', async () => {
    await mkdir(dir('b2'));
    await writeFile(join(dir('b2'), 'notes.md'), 'x');
    expect((await view('b2')).status).to.equal(404);
    await edit('b2', described('b2', 'one'));
    await shows('b2', 'one');
    await unlink(join(dir('b2'), 'AGENT.md'));
    await gone('b2');
    expect(existsSync(join(dir('b2'), 'notes.md'))).to.equal(true);
  });

  it('change with every save, in whatever way an editor saves', async () => {
    await edit('b3', described('b3', 'one'));
    await shows('b3', 'one');
    const path = join(dir('b3'), 'AGENT.md');
    const saves: Record<string, (text: string) => Promise<unknown>> = {
      'over the old text': (text) => writeFile(path, text),
      'as a new file that is renamed': async (text) => {
        await writeFile(`${path}.tmp`, text);
        await rename(`${path}.tmp`, path);
      },
      'with a backup that is moved away first': async (text) => {
        await rename(path, `${path}~`);
        await writeFile(path, text);
        await unlink(`${path}~`);
      },
      'after removing it': async (text) => {
        await unlink(path);
        await writeFile(path, text);
      },
      'in two pieces': async (text) => {
        await truncate(path, 0);
        await writeFile(path, text.slice(0, 20));
        await writeFile(path, text);
      },
      'with the same length': (text) => writeFile(path, text),
    };
    for (const [how, save] of Object.entries(saves)) {
      const word = how.replaceAll(' ', '-');
      await save(described('b3', word));
      await shows('b3', word);
    }
  });

  it('are never missing while a file is saved, over and over', async function () {
    this.timeout(10_000);
    await edit('b4', described('b4', 'start'));
    await shows('b4', 'start');
    const path = join(dir('b4'), 'AGENT.md');
    let saving = true;
    const seen = new Set<number>();
    const polling = (async () => {
      while (saving) {
        seen.add((await view('b4')).status);
        expect(host.kernel.service('profiles').current('b4')).to.not.equal(undefined);
      }
    })();
    for (let round = 0; round < 50; round += 1) {
      if (round % 2 === 0) await host.request('PUT', '/api/v1/agents/b4', { agentMarkdown: described('b4', `r${round}`) });
      else {
        await rename(path, `${path}~`);
        await writeFile(path, described('b4', `r${round}`));
      }
    }
    saving = false;
    await polling;
    expect([...seen]).to.deep.equal([200]);
    await shows('b4', 'r49');
  });

  it('keep the last good version of a file that becomes invalid, and say what is wrong', async () => {
    await edit('b5', described('b5', 'good'));
    await shows('b5', 'good');
    const { version } = (await view('b5')).data;
    await edit('b5', '---\nname: b5\nprovider: {name: nobody, model: x}\n---\n');
    await has('b5', 'stale');
    expect((await view('b5')).data).to.deep.include({
      description: 'good',
      version,
      error: { message: 'provider.name "nobody" is not a known provider: register it, or name another one', file: 'agents/b5/AGENT.md', line: 3, column: 12 },
    });
    host.model.willSay('still here');
    expect((await host.say('b5', 'hi')).reply).to.equal('still here');
    await edit('b5', described('b5', 'good'));
    await has('b5', 'ok');
    expect((await view('b5')).data.error).to.equal(null);
  });

  it('are listed when they are broken, and refuse to talk with the reason', async () => {
    await edit('b6', '---\nname: b6\n---\n');
    await has('b6', 'broken');
    expect((await host.request('GET', '/api/v1/agents')).data.find(({ name }: { name: string }) => name === 'b6').error.line).to.equal(2);
    expect((await host.request('GET', '/api/v1/profiles')).data.some(({ name }: { name: string }) => name === 'b6')).to.equal(false);
    expect(() => host.kernel.service('agents').requireRunnable('b6')).to.throw('agents/b6/AGENT.md:2:1').and.include({ code: 'ORYX_CONFLICT' });
    expect(() => host.kernel.service('agents').requireRunnable('nobody')).to.throw().and.include({ code: 'ORYX_NOT_FOUND' });
    await edit('b6', agentFile('b6'));
    await has('b6', 'ok');
  });

  it('become valid when the provider that they name is registered', async () => {
    await edit('b7', '---\nname: b7\nprovider: {name: late, model: x}\n---\n');
    await has('b7', 'broken');
    await host.request('POST', '/api/v1/providers', { name: 'late', baseUrl: 'http://127.0.0.1:9/v1' });
    await has('b7', 'ok');
  });

  it('belong to the directory whose name they bear, after a rename too', async () => {
    await edit('b8', described('b8', 'mine'));
    await shows('b8', 'mine');
    await rename(dir('b8'), dir('b9'));
    await gone('b8');
    await has('b9', 'broken');
    expect((await view('b9')).data.error.message).to.include('must equal the name of the directory, "b9"');
    await edit('b9', described('b9', 'mine'));
    await has('b9', 'ok');
  });

  it('are not found in directories with other names, or under other spellings of the file', async () => {
    for (const name of ['with space', 'dot.dot', '.hidden', 'x'.repeat(65)]) await edit(name, agentFile(name));
    await mkdir(dir('b10'));
    await writeFile(join(dir('b10'), 'Agent.md'), agentFile('b10'));
    await writeFile(join(host.root, 'agents', 'file'), 'x');
    await has('b10', 'broken');
    expect((await view('b10')).data.error.message).to.equal('the file is called "Agent.md": rename it to "AGENT.md"');
    await rename(join(dir('b10'), 'Agent.md'), join(dir('b10'), 'AGENT.md'));
    await has('b10', 'ok');
    const names = (await host.request('GET', '/api/v1/agents')).data.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => !/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === 'file')).to.deep.equal([]);
  });

  it('are read through links only as long as these stay inside', async () => {
    const outside = join(host.home, 'elsewhere');
    await mkdir(outside);
    await writeFile(join(outside, 'AGENT.md'), agentFile('b11'));
    await symlink(outside, dir('b11'));
    await mkdir(dir('b12'));
    await symlink(join(outside, 'AGENT.md'), join(dir('b12'), 'AGENT.md'));
    await mkdir(dir('b13'));
    await symlink('nowhere', join(dir('b13'), 'AGENT.md'));
    await mkdir(join(dir('b14'), 'versions'), { recursive: true });
    await writeFile(join(dir('b14'), 'versions', 'v2.md'), described('b14', 'linked'));
    await symlink('versions/v2.md', join(dir('b14'), 'AGENT.md'));
    await mkdir(join(dir('b15'), 'AGENT.md'), { recursive: true });
    await mkdir(dir('b16'));
    await promisify(execFile)('mkfifo', [join(dir('b16'), 'AGENT.md')]);
    await host.kernel.service('agents').settled();
    const messages = Object.fromEntries(
      ['b11', 'b12', 'b13', 'b15', 'b16'].map((name) => [name, host.kernel.service('agents').view(name).error?.message]),
    );
    expect(messages).to.deep.equal({
      b11: 'the directory is a link that leads out of the agents directory: put the directory itself there',
      b12: 'AGENT.md is a link that leads out of the agents directory: put the file itself there',
      b13: 'AGENT.md is a link to nothing',
      b15: 'AGENT.md is not a regular file',
      b16: 'AGENT.md is not a regular file',
    });
    expect(host.kernel.service('agents').view('b14')).to.deep.include({ status: 'ok', description: 'linked' });
  });

  it('must be UTF-8 text of a sensible size', async () => {
    await edit('b17', '');
    await writeFile(join(dir('b17'), 'AGENT.md'), Buffer.from(agentFile('b17', 'description: 运维'), 'utf16le'));
    await edit('b18', agentFile('b18', 'tools: []', 'x'.repeat(1_100_000)));
    await host.kernel.service('agents').settled();
    expect(host.kernel.service('agents').view('b17').error?.message).to.equal('the file is not UTF-8 text: save it as UTF-8');
    expect(host.kernel.service('agents').view('b18').error?.message).to.equal('the file is larger than 1 MB');
  });

  it('do not lose their last good version to a writer that is slow', async function () {
    this.timeout(10_000);
    const whole = described('b19', 'whole');
    await edit('b19', whole);
    await shows('b19', 'whole');
    const descriptions = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      await writeFile(join(dir('b19'), 'AGENT.md'), whole.slice(0, round % 60));
      const profile = host.kernel.service('profiles').current('b19');
      descriptions.add(String(profile?.description));
      if (round % 10 === 0) await view('b19');
    }
    await writeFile(join(dir('b19'), 'AGENT.md'), whole);
    await has('b19', 'ok');
    expect([...descriptions]).to.deep.equal(['whole']);
  });

  it('are loaded once by a save over the API, and not at all by a save of the same text', async () => {
    const profiles = host.kernel.registry('profile');
    await host.request('POST', '/api/v1/agents', { name: 'b20', provider: 'mock', model: 'mock' });
    const loaded = profiles.version;
    const text = await readFile(join(dir('b20'), 'AGENT.md'), 'utf8');
    await edit('b20', text);
    await host.kernel.service('agents').settled();
    await edit('b21', agentFile('b21'));
    await has('b21', 'ok');
    expect(profiles.version).to.equal(loaded + 1);
  });

  it('do not disturb runs that are under way', async () => {
    await edit('b22', agentFile('b22', 'tools: []', 'old instructions'));
    await has('b22', 'ok');
    let finish = (): void => undefined;
    host.model.will({ content: 'done', after: new Promise<void>((resolve) => (finish = resolve)) });
    const asked = host.model.requests.length;
    const running = host.say('b22', 'go');
    await until('the model is asked', () => host.model.requests.length > asked);
    await edit('b22', agentFile('b22', 'tools: []', 'new instructions'));
    await until('the new text is live', () => host.kernel.service('profiles').current('b22')?.instructions === 'new instructions');
    finish();
    expect((await running).reply).to.equal('done');
    await host.say('b22', 'again');
    expect(host.model.requests.at(-1)?.system).to.include('new instructions');
  });
});

describe('agents on disk whose events are lost', () => {
  it('are found by the comparison after 30 s', async () => {
    const clock = fakeClock();
    await using host = await startHost({ clock, config: { 'watch.enabled': true } });
    const agents = host.kernel.service('agents');
    await mkdir(join(host.home, 'made'));
    await writeFile(join(host.home, 'made', 'AGENT.md'), described('made', 'one'));
    await rename(join(host.home, 'made'), join(host.root, 'agents', 'made'));
    await clock.tick(31_000);
    await until('the agent is there', () => agents.list().some(({ name }) => name === 'made'));
    await rm(join(host.root, 'agents', 'made'), { recursive: true });
    await until('it is gone', async () => {
      await clock.tick(1_000);
      return !agents.list().some(({ name }) => name === 'made');
    });
  });

  it('are found at once by those who ask, though no clock moves', async () => {
    await using host = await startHost({ clock: fakeClock(), config: { 'watch.enabled': false } });
    const agents = host.kernel.service('agents');
    await host.write('agents/x/AGENT.md', agentFile('x'));
    await agents.settled();
    expect(agents.view('x').status).to.equal('ok');
    await host.write('agents/x/AGENT.md', 'broken');
    await agents.settled();
    expect(agents.view('x').status).to.equal('stale');
    await rm(join(host.root, 'agents/x'), { recursive: true });
    await agents.settled();
    expect(agents.list().map(({ name }) => name)).to.deep.equal(['default']);
  });
});

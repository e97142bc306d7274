import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentFile, fakeClock, startHost, type TestHost, until } from '../../harness/index.ts';

const described = (name: string, description: string): string => agentFile(name, `description: ${description}`);

describe('agents on disk', () => {
  let host: TestHost;
  const dir = (name: string): string => join(host.root, 'agents', name);
  const view = (name: string) => host.request('GET', `/api/v1/agents/${name}`);
  const edit = (name: string, text: string) => host.write(`agents/${name}/AGENT.md`, text);
  const shows = (name: string, description: string) =>
    until(`${name} shows ${description}`, async () => (await view(name)).data?.description === description);
  const has = (name: string, status: string) => until(`${name} is ${status}`, async () => (await view(name)).data?.status === status);
  const gone = (name: string) => until(`${name} is gone`, async () => (await view(name)).status === 404);

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

  it('are live within half a second of a save, and gone within half a second of a removal', async () => {
    const delays: number[] = [];
    const timed = async (change: () => Promise<unknown>, done: () => Promise<unknown>): Promise<void> => {
      const began = performance.now();
      await change();
      await done();
      delays.push(performance.now() - began);
    };
    for (let round = 0; round < 7; round += 1) {
      await timed(
        () => edit('b0', described('b0', `r${round}`)),
        () => shows('b0', `r${round}`),
      );
    }
    for (let round = 0; round < 4; round += 1) {
      await timed(
        () => rm(dir('b0'), { recursive: true, force: true }),
        () => gone('b0'),
      );
      await edit('b0', agentFile('b0'));
      await has('b0', 'ok');
    }
    // The median, so that a pause of a busy machine does not count.
    expect(delays.sort((a, b) => a - b)[5]).to.be.below(500);
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
      error: {
        message: 'provider.name "nobody" is not a known provider: register it, or name another one',
        file: 'agents/b5/AGENT.md',
        line: 3,
        column: 12,
      },
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
    expect(() => host.kernel.service('agents').requireRunnable('b6'))
      .to.throw('agents/b6/AGENT.md:2:1')
      .and.include({ code: 'ORYX_CONFLICT' });
    expect(() => host.kernel.service('agents').requireRunnable('nobody'))
      .to.throw()
      .and.include({ code: 'ORYX_NOT_FOUND' });
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

describe('bad news from the disk', () => {
  it('counts only when a second look 100 ms later sees the same', async () => {
    const clock = fakeClock();
    await using host = await startHost({ clock, agents: { a: agentFile('a'), b: agentFile('b'), c: agentFile('c') } });
    const agents = host.kernel.service('agents');
    const statuses = () => agents.list().map(({ name, status }) => `${name} ${status}`);
    /** All earlier events have been looked at once when this one is live: they are looked at in order. */
    let marks = 0;
    const lookedAt = async (): Promise<void> => {
      const mark = `mark${(marks += 1)}`;
      await host.write('agents/default/AGENT.md', described('default', mark));
      await until('the mark', () => agents.view('default').description === mark);
    };
    await lookedAt();
    const good = await readFile(join(host.root, 'agents/c/AGENT.md'), 'utf8');
    await unlink(join(host.root, 'agents/a/AGENT.md'));
    await host.write('agents/b/AGENT.md', 'broken');
    await host.write('agents/c/AGENT.md', '');
    await lookedAt();
    expect(statuses()).to.deep.equal(['a ok', 'b ok', 'c ok', 'default ok']);
    await host.write('agents/c/AGENT.md', good);
    await lookedAt();
    await clock.tick(100);
    await until('the second look', () => statuses().join() === 'b stale,c ok,default ok');
  });
});

describe('agents on disk whose events are lost', () => {
  it('are found by the comparison after 30 s', async () => {
    const clock = fakeClock();
    await using host = await startHost({ clock });
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

import { expect } from 'chai';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentFile, fakeClock, startHost, type TestHost } from '../../harness/index.ts';

describe('the prompt of an agent', () => {
  let host: TestHost;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

  before(async () => {
    host = await startHost({ clock: fakeClock(Date.UTC(2026, 10, 30, 9, 5)), config: { 'watch.enabled': false } });
  });
  after(() => host.stop());

  async function promptOf(yaml: string, body = 'THE BODY'): Promise<string> {
    await host.write('agents/p/AGENT.md', agentFile('p', yaml, body));
    await host.kernel.service('agents').settled();
    expect(host.kernel.service('agents').view('p').error).to.equal(null);
    const outcome = await host.say('p', 'hi');
    if (outcome.error !== undefined) throw outcome.error;
    return host.model.requests.at(-1)?.system ?? '';
  }

  it('has identity, body, output folder, bootstrap files and date, in this order', async () => {
    await host.write('STYLE.md', 'Write briefly.\n');
    await host.write('docs/MORE.md', 'Use metres.');
    const prompt = await promptOf('identity: {prompt: You are P.}\ntools: [write_file]\nbootstrap: [STYLE.md, docs/MORE.md, STYLE.md]');
    const order = ['You are P.', 'THE BODY', 'output/p_report_<yyyy-MM-dd>.md', 'Write briefly.', 'Use metres.', 'Current date and time: '];
    const places = order.map((part) => prompt.indexOf(part));
    expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    expect(places).to.not.include(-1);
    expect(prompt.split('Write briefly.')).to.have.length(2);
  });

  it('gives the date in the zone of the server', async () => {
    const local = new Date(Date.UTC(2026, 10, 30, 9, 5));
    const two = (value: number): string => String(value).padStart(2, '0');
    const expected = `${local.getFullYear()}-${two(local.getMonth() + 1)}-${two(local.getDate())} ${two(local.getHours())}:${two(local.getMinutes())}`;
    expect(await promptOf('tools: []')).to.include(`Current date and time: ${expected} (${zone})`);
  });

  it('says nothing of files when the agent writes none', async () => {
    expect(await promptOf('tools: [read_file]')).to.not.include('output/');
  });

  it('reads bootstrap files anew for every prompt, and goes without those that are missing', async () => {
    await host.write('LIVE.md', 'first');
    expect(await promptOf('bootstrap: [LIVE.md, MISSING.md]')).to.include('first');
    await host.write('LIVE.md', 'second');
    await host.say('p', 'again');
    expect(host.model.requests.at(-1)?.system).to.include('second').and.not.include('first');
  });

  for (const [what, make] of [
    ['a folder', () => mkdir(join(host.root, 'BAD.md'))],
    ['a link that leads out', () => symlink('/etc/hostname', join(host.root, 'BAD.md'))],
    ['a link to a secret', () => symlink(join(host.root, 'master.key'), join(host.root, 'BAD.md'))],
    ['a very large file', () => writeFile(join(host.root, 'BAD.md'), 'x'.repeat(300_000))],
  ] as const) {
    it(`ends the run when a bootstrap file is ${what}`, async () => {
      const { rm } = await import('node:fs/promises');
      await writeFile(join(host.root, 'master.key'), 'secret');
      await make();
      const asked = host.model.requests.length;
      await host.write('agents/q/AGENT.md', agentFile('q', 'bootstrap: [BAD.md]'));
      await host.kernel.service('agents').settled();
      const outcome = await host.say('q', 'hi');
      await rm(join(host.root, 'BAD.md'), { recursive: true });
      expect(outcome.status).to.equal('failed');
      expect(outcome.error?.message).to.include('BAD.md').and.not.include(host.root);
      expect(host.model.requests.length).to.equal(asked);
    });
  }
});

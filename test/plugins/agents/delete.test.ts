import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHost, type TestHost } from '../../harness/index.ts';

describe('DELETE /api/v1/agents/{name}', () => {
  let host: TestHost;
  const file = (name: string, path = 'AGENT.md'): string => join(host.root, 'agents', name, path);
  const create = (name: string, more: object = { provider: 'mock', model: 'mock' }) =>
    host.request('POST', '/api/v1/agents', { name, ...more });
  const view = (name: string) => host.request('GET', `/api/v1/agents/${name}`);

  before(async () => {
    host = await startHost();
  });
  after(() => host.stop());

  it('moves the directory to the archive, under a name that is free', async () => {
    for (const round of [1, 2, 3]) {
      await create('gone');
      await host.write('agents/gone/round.txt', String(round));
      const { status, data } = await host.request('DELETE', '/api/v1/agents/gone');
      expect([status, data]).to.deep.equal([200, null]);
      expect((await view('gone')).status).to.equal(404);
      expect(host.kernel.service('profiles').current('gone')).to.equal(undefined);
    }
    const places = (await readdir(join(host.root, 'archive'))).filter((name) => name.startsWith('gone')).sort();
    expect(places).to.have.length(3);
    expect(places[0]).to.equal('gone');
    expect(places[1]).to.match(/^gone-\d{13}$/);
    const rounds = await Promise.all(places.map((place) => readFile(join(host.root, 'archive', place, 'round.txt'), 'utf8')));
    expect(rounds.sort()).to.deep.equal(['1', '2', '3']);
  });

  it('does not put an agent where archived skills go', async () => {
    await create('skills');
    await host.request('DELETE', '/api/v1/agents/skills');
    expect(existsSync(join(host.root, 'archive/skills'))).to.equal(false);
  });

  it('archives a broken agent too, and answers 404 for one that is not there', async () => {
    await host.write('agents/brk/AGENT.md', 'broken');
    await host.kernel.service('agents').settled();
    expect((await host.request('DELETE', '/api/v1/agents/brk')).status).to.equal(200);
    expect(existsSync(join(host.root, 'archive/brk/AGENT.md'))).to.equal(true);
    expect((await host.request('DELETE', '/api/v1/agents/none')).status).to.equal(404);
  });

  it('tells who wants to know, and brings everything back when one of them fails', async () => {
    await create('held');
    const told: string[] = [];
    const undo = host.kernel.service('agents').onDeleted(async (name) => {
      told.push(`${name} ${host.kernel.service('profiles').current(name) === undefined}`);
      if (told.length === 1) throw new Error('not now');
    });
    expect((await host.request('DELETE', '/api/v1/agents/held')).status).to.equal(500);
    expect((await view('held')).data.status).to.equal('ok');
    expect(host.kernel.service('profiles').current('held')?.name).to.equal('held');
    expect(existsSync(file('held'))).to.equal(true);
    expect((await host.request('DELETE', '/api/v1/agents/held')).status).to.equal(200);
    undo();
    expect(told).to.deep.equal(['held true', 'held true']);
  });

  it('archives the sessions of the agent', async () => {
    await create('talker');
    const { data } = await host.request('POST', '/api/v1/sessions', { profile: 'talker' });
    await host.request('DELETE', '/api/v1/agents/talker');
    expect((await host.kernel.service('sessions').find(data.sessionId)).status).to.equal('archived');
  });
});

import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentFile, startHost, type TestHost } from '../../harness/index.ts';

describe('the agents API', () => {
  let host: TestHost;
  const file = (name: string, path = 'AGENT.md'): string => join(host.root, 'agents', name, path);
  const text = (name: string, path?: string): Promise<string> => readFile(file(name, path), 'utf8');
  const create = (name: string, more: object = { provider: 'mock', model: 'mock' }) =>
    host.request('POST', '/api/v1/agents', { name, ...more });
  const put = (name: string, agentMarkdown: unknown) => host.request('PUT', `/api/v1/agents/${name}`, { agentMarkdown });
  const view = (name: string) => host.request('GET', `/api/v1/agents/${name}`);

  before(async () => {
    host = await startHost();
  });
  after(() => host.stop());

  describe('POST /api/v1/agents', () => {
    it('writes the scaffold and answers with the live agent', async () => {
      const { status, data } = await create('a1', { description: 'ops', provider: 'mock', model: 'mock' });
      expect(status).to.equal(200);
      expect(data).to.deep.include({
        name: 'a1',
        description: 'ops',
        provider: 'mock',
        model: 'mock',
        tools: ['read_file', 'shell', 'notify'],
        skills: [],
        schedules: [],
        status: 'ok',
        error: null,
      });
      expect(data.version).to.match(/^[0-9a-f]{64}$/);
      for (const path of ['AGENT.md', 'scripts/example.py', 'REFERENCE.md', 'output/README.md'])
        expect(existsSync(file('a1', path)), path).to.equal(true);
      expect(host.kernel.service('profiles').current('a1')?.version).to.equal(data.version);
      expect((await host.request('GET', '/api/v1/agents')).data.map(({ name }: { name: string }) => name)).to.deep.equal(['a1', 'default']);
      expect(await readdir(file('a1', '.'))).to.have.members(['AGENT.md', 'scripts', 'REFERENCE.md', 'output']);
    });

    it('takes provider and model from the defaults', async () => {
      const { data } = await create('a2', {});
      expect([data.provider, data.model]).to.deep.equal(Object.values(host.kernel.service('providers').defaults()));
    });

    it('keeps a description that looks like front matter one value', async () => {
      for (const [index, description] of [
        'x\nname: evil\ntools: [shell]',
        '---\nname: evil\n---',
        '": {',
        '- a',
        "it's: #1",
        '${HOME_KEY}',
      ].entries()) {
        const { data } = await create(`inject${index}`, { description, provider: 'mock', model: 'mock' });
        expect([data.name, data.description, data.tools.length]).to.deep.equal([`inject${index}`, description, 3]);
      }
    });

    for (const [what, body] of [
      ['a path', { name: '../x' }],
      ['a blank', { name: 'a b' }],
      ['nothing', { name: '' }],
      ['65 characters', { name: 'x'.repeat(65) }],
      ['a number', { name: 5 }],
      ['none at all', {}],
      ['another script', { name: 'агент' }],
    ] as const) {
      it(`refuses ${what} as a name and creates nothing`, async () => {
        const before = await readdir(join(host.root, 'agents'));
        expect((await host.request('POST', '/api/v1/agents', body)).status).to.equal(400);
        expect(await readdir(join(host.root, 'agents'))).to.deep.equal(before);
      });
    }

    it('refuses an unknown provider and leaves no directory', async () => {
      const { status, message } = await create('nope', { provider: 'nobody', model: 'm' });
      expect([status, message]).to.satisfy(([code, words]: [number, string]) => code === 400 && words.includes('"nobody"'));
      expect(existsSync(file('nope', '.'))).to.equal(false);
    });

    it('asks for the model of a provider that is not the default', async () => {
      const { status, message } = await create('nomodel', { provider: 'scripted' });
      expect([status, message?.startsWith('model:')]).to.deep.equal([400, true]);
    });

    it('refuses a name that is taken, and a directory that exists though it is no agent', async () => {
      expect((await create('a1')).status).to.equal(400);
      await mkdir(file('z', '.'));
      await writeFile(file('z', 'keep.txt'), 'mine');
      await writeFile(file('z'), 'broken');
      expect((await create('z')).status).to.equal(400);
      expect([await text('z', 'keep.txt'), await text('z')]).to.deep.equal(['mine', 'broken']);
      await mkdir(file('empty', '.'));
      expect((await create('empty')).status).to.equal(400);
      expect(await readdir(file('empty', '.'))).to.deep.equal([]);
    });

    it('refuses bindings of skills and bases that are not there, and takes empty lists', async () => {
      const refused = await create('bound', { provider: 'mock', model: 'mock', skillBindings: ['web'] });
      expect([refused.status, refused.message]).to.deep.equal([400, 'skillBindings: no skill "web" is installed.']);
      expect((await create('bound', { provider: 'mock', model: 'mock', knowledgeBindings: ['kb'] })).status).to.equal(400);
      expect((await create('bound', { provider: 'mock', model: 'mock', skillBindings: [], knowledgeBindings: null })).status).to.equal(200);
    });
  });

  describe('PUT /api/v1/agents/{name}', () => {
    it('replaces the file byte for byte and is live when it answers', async () => {
      await create('p1');
      const markdown = '\uFEFF---\r\nname: p1\r\nprovider: {name: mock, model: m2}\r\n---\r\nbody\r\n';
      const { status, data } = await put('p1', markdown);
      expect([status, data.model]).to.deep.equal([200, 'm2']);
      expect(await text('p1')).to.equal(markdown);
      expect(host.kernel.service('profiles').current('p1')).to.deep.include({ model: 'm2', instructions: 'body' });
    });

    for (const [what, markdown, words] of [
      ['broken YAML', '---\n: : :\n---\n', 'agents/p2/AGENT.md:2:3'],
      ['no front matter', 'hello', 'p2/AGENT.md:1:1'],
      ['code', '---js\nprocess.exit()\n---\nx', 'p2/AGENT.md:1:1'],
      ['the name of another agent', '---\nname: default\nprovider: {name: mock, model: mock}\n---\n', 'p2/AGENT.md:2:1'],
      ['an unknown provider', '---\nname: p2\nprovider:\n  name: nobody\n  model: m\n---\n', 'p2/AGENT.md:4:3'],
      ['skills', '---\nname: p2\nprovider: {name: mock, model: mock}\nskills: [a]\n---\n', 'p2/AGENT.md:4:1'],
      [
        'a wrong cron',
        '---\nname: p2\nprovider: {name: mock, model: mock}\nschedules:\n  - {key: a, name: a, cron: 99 0 9 * * *}\n---\n',
        'p2/AGENT.md:5:',
      ],
      [
        'a wrong zone',
        '---\nname: p2\nprovider: {name: mock, model: mock}\nschedules:\n  - {key: a, name: a, cron: "@daily", zone: Mars/X}\n---\n',
        'Mars/X',
      ],
      ['a NUL', '---\nname: p2\nprovider: {name: mock, model: mock}\n---\na\u0000b', 'p2/AGENT.md:5:2: there is a NUL'],
      ['more than 1 MB', `---\nname: p2\nprovider: {name: mock, model: mock}\n---\n${'x'.repeat(1_048_577)}`, ''],
    ] as const) {
      it(`refuses ${what}; file, profile and view stay as they are`, async () => {
        if ((await view('p2')).status === 404) await create('p2');
        const [before, old] = [await text('p2'), (await view('p2')).data];
        const { status, message } = await put('p2', markdown);
        expect(status).to.be.oneOf([400, 413]);
        expect(message).to.include(words);
        expect([await text('p2'), (await view('p2')).data]).to.deep.equal([before, old]);
        expect((await readdir(file('p2', '.'))).filter((name) => name.startsWith('.'))).to.deep.equal([]);
      });
    }

    it('refuses a body without text, and answers 404 for an agent that is not there', async () => {
      await create('p3');
      for (const body of [{}, { agentMarkdown: null }, { agentMarkdown: 5 }])
        expect((await host.request('PUT', '/api/v1/agents/p3', body)).status).to.equal(400);
      expect((await put('none', agentFile('none'))).status).to.equal(404);
      expect(existsSync(file('none', '.'))).to.equal(false);
    });

    it('repairs a broken agent', async () => {
      await host.write('agents/br/AGENT.md', 'broken');
      await host.kernel.service('agents').settled();
      expect((await view('br')).data).to.deep.equal({
        name: 'br',
        description: null,
        provider: null,
        model: null,
        tools: [],
        skills: [],
        schedules: [],
        status: 'broken',
        error: {
          message: 'the first line must be exactly "---", followed by YAML and another line "---"',
          file: 'agents/br/AGENT.md',
          line: 1,
          column: 1,
        },
        warnings: [],
        version: null,
      });
      expect((await put('br', agentFile('br'))).data.status).to.equal('ok');
    });

    it('takes no link in the place of the file', async () => {
      await create('ln');
      await mkdir(file('ln2', '.'));
      await symlink('../ln/AGENT.md', file('ln2'));
      await host.kernel.service('agents').settled();
      expect((await put('ln2', agentFile('ln2'))).status).to.equal(400);
      expect(await text('ln')).to.include('name: ln\n');
    });

    it('saves one after another, however many come at once', async () => {
      await create('many');
      const bodies = Array.from({ length: 20 }, (_, index) => agentFile('many', `description: d${index}`));
      const answers = await Promise.all(bodies.map((body) => put('many', body)));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(bodies).to.include(await text('many'));
      const { data } = await view('many');
      expect(await text('many')).to.include(`description: ${data.description}\n`);
      expect((await host.rows('agent_versions')).filter(({ name, live }) => name === 'many' && live === 1)).to.have.length(1);
    });
  });

  describe('PUT /api/v1/agents/{name}/basic', () => {
    it('changes these keys in the file and nothing else', async () => {
      const markdown = '---\nname: b1 # c\r\n# why\nprovider: {name: mock, model: mock}\ntools: [ x ]\n---\n\nbody\r\n';
      await create('b1');
      await put('b1', markdown);
      const { data } = await host.request('PUT', '/api/v1/agents/b1/basic', { description: 'd2', model: 'm2' });
      expect([data.description, data.model, data.provider]).to.deep.equal(['d2', 'm2', 'mock']);
      expect(await text('b1')).to.equal(markdown.replace('# c\r\n', '# c\r\ndescription: d2\n').replace('model: mock', 'model: m2'));
      expect((await host.request('PUT', '/api/v1/agents/b1/basic', { description: '' })).data.description).to.equal(null);
    });

    it('refuses an unknown provider and an unknown agent', async () => {
      await create('b2');
      const before = await text('b2');
      expect((await host.request('PUT', '/api/v1/agents/b2/basic', { provider: 'nobody' })).status).to.equal(400);
      expect(await text('b2')).to.equal(before);
      expect((await host.request('PUT', '/api/v1/agents/none/basic', { description: 'x' })).status).to.equal(404);
    });
  });

  describe('what is shown', () => {
    it('shows live agents as profiles', async () => {
      const { data } = await host.request('GET', '/api/v1/profiles');
      expect(data).to.deep.include({ name: 'default', description: null, provider: 'scripted', model: 'test-model', tools: [] });
      const names = (data as { readonly name: string }[]).map(({ name }) => name);
      expect(names).to.deep.equal(names.toSorted());
    });

    it('finds no agent by a path', async () => {
      for (const name of [
        '..%2f..%2fetc',
        '%2e%2e',
        'a1%2f..%2fdefault',
        'default%00',
        'default;x=1',
        '__proto__',
        'constructor',
        'DEFAULT',
      ]) {
        expect((await view(name)).status, name).to.be.oneOf([400, 404]);
      }
    });

    it('warns of tools and providers that do not exist now, with the line', async () => {
      await host.request('POST', '/api/v1/providers', { name: 'passing', baseUrl: 'http://127.0.0.1:9/v1' });
      await create('warned', { provider: 'passing', model: 'm' });
      const markdown =
        '---\nname: warned\nprovider: {name: passing, model: m}\ntools:\n  - current_time\n  - no_such_tool\n  - "nowhere:*"\n---\n';
      expect((await put('warned', markdown)).data.warnings).to.deep.equal([
        'line 6: tool "no_such_tool" is unknown and is not offered to the model',
        'line 7: tool "nowhere:*" is unknown and is not offered to the model',
      ]);
      await host.request('DELETE', '/api/v1/providers/passing');
      const { data } = await view('warned');
      expect(data.status).to.equal('ok');
      expect(data.warnings[0]).to.equal('line 3: there is no provider "passing" now: messages to this agent fail until there is');
      expect((await put('warned', await text('warned'))).status).to.equal(400);
    });
  });
});

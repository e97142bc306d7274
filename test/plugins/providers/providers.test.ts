import { expect } from 'chai';
import { definePlugin, type ProviderAdapter } from '../../../kernel/index.ts';
import providers from '../../../plugins/providers/index.ts';
import { connectedProvider, disabledProvider } from '../../../plugins/providers/provider.ts';
import { type ModelServer, says, startModelServer, status } from '../../harness/model-server.ts';
import { scriptedModel } from '../../harness/scripted-model.ts';
import { type Providing, providing, workspaceRoot } from './providing.ts';

const KEY = 'sk-live-0123456789abcdef';
const MASK = '****cdef';
const HERE = 'http://model.test/v1';

describe('providers over REST', function () {
  this.timeout(20_000);
  let host: Providing;
  before(async () => {
    host = await providing();
  });
  after(() => host.stop());
  afterEach(async () => {
    const { data } = await host.request('GET', '');
    for (const { name } of data) if (name !== 'mock') await host.request('DELETE', `/${name}`);
  });

  const create = (more: Readonly<Record<string, unknown>> = {}) =>
    host.request('POST', '', { name: 'p1', apiKey: KEY, baseUrl: HERE, description: 'first', ...more });

  describe('create', () => {
    it('answers with the provider, its key masked', async () => {
      const { status: code, data } = await create();
      expect(code).to.equal(200);
      expect(data).to.deep.equal({ name: 'p1', apiKey: MASK, baseUrl: HERE, description: 'first' });
      expect((await host.request('GET', '/p1')).data).to.deep.equal(data);
    });

    it('takes a provider without a key: local servers need none', async () => {
      for (const apiKey of [undefined, null, '', '  ']) {
        const { data } = await create({
          name: `k${String(apiKey).length}${apiKey === null ? 'n' : 'u'}`,
          apiKey,
          baseUrl: 'http://127.0.0.1:11434',
        });
        expect(data.apiKey).to.equal(null);
      }
    });

    it('trims what was pasted', async () => {
      const { data } = await create({ apiKey: `  ${KEY}\n`, baseUrl: ` ${HERE} `, description: ' d ' });
      expect(data).to.deep.equal({ name: 'p1', apiKey: MASK, baseUrl: HERE, description: 'd' });
    });

    it('shows a short key as **** alone', async () => {
      expect((await create({ apiKey: 'abcd' })).data.apiKey).to.equal('****');
    });

    const bad: Readonly<Record<string, readonly [Readonly<Record<string, unknown>>, string]>> = {
      'a blank name': [{ name: ' ' }, 'name'],
      'no name': [{ name: undefined }, 'name'],
      'a name with a slash': [{ name: 'a/b' }, 'name'],
      'a name with a dot': [{ name: 'a.b' }, 'name'],
      'a name of 65 letters': [{ name: 'n'.repeat(65) }, 'name'],
      'a name that is a number': [{ name: 7 }, 'name'],
      'the name of the built-in provider': [{ name: 'mock' }, 'mock'],
      'no baseUrl': [{ baseUrl: undefined }, 'baseUrl'],
      'a null baseUrl': [{ baseUrl: null }, 'baseUrl'],
      'a blank baseUrl': [{ baseUrl: ' ' }, 'baseUrl'],
      'a baseUrl that is no URL': [{ baseUrl: 'not a url' }, 'baseUrl'],
      'a file URL': [{ baseUrl: 'file:///etc/passwd' }, 'baseUrl'],
      'a gopher URL': [{ baseUrl: 'gopher://x/' }, 'baseUrl'],
      'a URL with a password': [{ baseUrl: 'http://u:p@h/' }, 'baseUrl'],
      'a metadata address': [{ baseUrl: 'http://169.254.169.254/' }, 'baseUrl'],
      'a metadata address in decimal': [{ baseUrl: 'http://2852039166/' }, 'baseUrl'],
      'a placeholder in the URL': [{ baseUrl: 'http://${HOST}/v1' }, 'baseUrl'],
      'a very long URL': [{ baseUrl: `http://h/${'x'.repeat(3_000)}` }, 'baseUrl'],
      'a mask as key': [{ apiKey: '****' }, 'apiKey'],
      'an encrypted value as key': [{ apiKey: 'enc:v1:abc' }, 'apiKey'],
      'a key with a line break': [{ apiKey: 'sk-a\nb' }, 'apiKey'],
      'a key that no header can carry': [{ apiKey: '密钥' }, 'apiKey'],
      'a very long key': [{ apiKey: 'k'.repeat(5_000) }, 'apiKey'],
      'a key that is a number': [{ apiKey: 5 }, 'apiKey'],
      'a very long description': [{ description: 'd'.repeat(3_000) }, 'description'],
    };
    for (const [what, [more, field]] of Object.entries(bad)) {
      it(`refuses ${what} and changes nothing`, async () => {
        const before = (await host.request('GET', '')).data;
        const answer = await create(more);
        expect(answer.status).to.equal(400);
        expect(answer.message).to.include(field);
        expect((await host.request('GET', '')).data).to.deep.equal(before);
      });
    }

    it('refuses a name in use, also for two at once', async () => {
      const answers = await Promise.all([create(), create(), create()]);
      expect(answers.map((answer) => answer.status)).to.have.members([200, 400, 400]);
      const again = await create();
      expect(again.status).to.equal(400);
      expect(again.message).to.include('"p1"').and.include('exists');
    });

    it('ignores fields that it does not know', async () => {
      expect((await create({ surprise: 1 })).status).to.equal(200);
    });
  });

  describe('read', () => {
    it('lists providers by name, mock always among them', async () => {
      for (const name of ['zeta', 'Alpha', 'beta']) await create({ name });
      const { data } = await host.request('GET', '');
      expect(data.map((view: { name: string }) => view.name)).to.deep.equal(['Alpha', 'beta', 'mock', 'zeta']);
      expect(data[2]).to.include({ apiKey: null, baseUrl: null });
    });

    for (const [method, path, body] of [
      ['GET', '/none', undefined],
      ['PUT', '/none', {}],
      ['DELETE', '/none', undefined],
      ['GET', '/none/models', undefined],
      ['POST', '/none/test', undefined],
      ['GET', '/__proto__', undefined],
    ] as const) {
      it(`answers ${method} ${path} with 404`, async () => {
        const answer = await host.request(method, path, body);
        expect(answer.status).to.equal(404);
        expect(answer.data).to.equal(null);
      });
    }
  });

  describe('update', () => {
    const update = (body: unknown) => host.request('PUT', '/p1', body);
    const hostChanges = () => host.lines.filter(({ message }) => message.includes('host of a provider')).map(({ fields }) => fields);
    const storedKey = async () => {
      const rows = await host.kernel.service('store').all<{ api_key: string | null }>("SELECT api_key FROM providers WHERE name = 'p1'");
      return rows[0]?.api_key;
    };
    beforeEach(() => create());

    for (const apiKey of [undefined, '', '   ', '****', MASK]) {
      it(`keeps the key for ${JSON.stringify(apiKey)}`, async () => {
        const before = await storedKey();
        const { data } = await update({ apiKey, baseUrl: HERE, description: 'second' });
        expect(data).to.deep.equal({ name: 'p1', apiKey: MASK, baseUrl: HERE, description: 'second' });
        expect(await storedKey()).to.equal(before);
      });
    }

    it('removes the key for null', async () => {
      expect((await update({ apiKey: null })).data.apiKey).to.equal(null);
      expect(await storedKey()).to.equal(null);
    });

    it('replaces the key', async () => {
      expect((await update({ apiKey: 'sk-other-key-wxyz' })).data.apiKey).to.equal('****wxyz');
    });

    for (const apiKey of ['****0000', '*****', '****cdef1', 'enc:v1:x:y:z']) {
      it(`refuses ${apiKey} as key and keeps the stored one`, async () => {
        const before = await storedKey();
        expect((await update({ apiKey, description: 'changed' })).status).to.equal(400);
        expect(await storedKey()).to.equal(before);
        expect((await host.request('GET', '/p1')).data.description).to.equal('first');
      });
    }

    for (const baseUrl of ['http://attacker.test/v1', 'http://model.test:8080/v1', 'http://model.test.evil.test/v1']) {
      for (const apiKey of [undefined, '', '****', MASK]) {
        it(`never sends a kept key (${JSON.stringify(apiKey)}) to ${baseUrl}`, async () => {
          const answer = await update({ apiKey, baseUrl });
          expect(answer.status).to.equal(400);
          expect(answer.message).to.include('send the key again');
          expect((await host.request('GET', '/p1')).data).to.deep.equal({ name: 'p1', apiKey: MASK, baseUrl: HERE, description: 'first' });
        });
      }
    }

    it('never sends a kept key from https to http', async () => {
      await update({ apiKey: KEY, baseUrl: 'https://secure.test/v1' });
      expect((await update({ baseUrl: 'http://secure.test/v1' })).status).to.equal(400);
      expect((await update({ baseUrl: 'https://secure.test/v2' })).status).to.equal(200);
    });

    it('takes another host with the key, or with no key left to send, and logs both hosts', async () => {
      const earlier = hostChanges().length;
      expect((await update({ apiKey: KEY, baseUrl: 'http://other.test/v1' })).status).to.equal(200);
      expect((await update({ apiKey: null, baseUrl: 'http://third.test/v1' })).status).to.equal(200);
      expect((await update({ baseUrl: 'http://fourth.test/v1' })).status).to.equal(200);
      expect(hostChanges().slice(earlier)).to.deep.equal([
        { provider: 'p1', from: 'model.test', to: 'other.test' },
        { provider: 'p1', from: 'other.test', to: 'third.test' },
        { provider: 'p1', from: 'third.test', to: 'fourth.test' },
      ]);
    });

    it('keeps URL and description that are absent, and drops a blank description', async () => {
      expect((await update({})).data).to.deep.equal({ name: 'p1', apiKey: MASK, baseUrl: HERE, description: 'first' });
      expect((await update({ description: '' })).data.description).to.equal(null);
    });

    for (const baseUrl of [null, '', 'ftp://x', 'http://169.254.169.254']) {
      it(`refuses ${JSON.stringify(baseUrl)} as baseUrl`, async () => {
        expect((await update({ apiKey: KEY, baseUrl })).status).to.equal(400);
      });
    }

    it('inherits no field from __proto__', async () => {
      await host.request('PUT', '/p1', '{"__proto__":{"baseUrl":"http://evil.test","apiKey":null}}');
      expect((await host.request('GET', '/p1')).data).to.include({ baseUrl: HERE, apiKey: MASK });
    });

    it('loses no change that it has acknowledged when several come at once', async () => {
      const changes = [{ apiKey: 'sk-second-key-wxyz' }, { description: 'second' }, { baseUrl: `${HERE}/more` }];
      const answers = await Promise.all(changes.map((change) => update(change)));
      for (const answer of answers) expect(answer.status).to.be.oneOf([200, 409]);
      expect(answers.map((answer) => answer.status)).to.include(200);
      const { data } = await host.request('GET', '/p1');
      if (answers[0]?.status === 200) expect(data.apiKey).to.equal('****wxyz');
      if (answers[1]?.status === 200) expect(data.description).to.equal('second');
      if (answers[2]?.status === 200) expect(data.baseUrl).to.equal(`${HERE}/more`);
    });
  });

  describe('delete', () => {
    it('takes the provider out of the list and out of reach', async () => {
      await create();
      const answer = await host.request('DELETE', '/p1');
      expect([answer.status, answer.data]).to.deep.equal([200, null]);
      expect((await host.request('GET', '/p1')).status).to.equal(404);
      expect(host.kernel.registry('provider').get('p1')).to.equal(undefined);
      expect((await create()).status).to.equal(200);
    });

    it('refuses the built-in provider and says so', async () => {
      const answer = await host.request('DELETE', '/mock');
      expect(answer.status).to.equal(400);
      expect(answer.message).to.include('built in');
    });
  });

  it('shows keys in plain text when the operator wants that, and still stores them encrypted', async () => {
    await using open = await providing({ config: { revealApiKeys: true } });
    await open.request('POST', '', { name: 'p1', apiKey: KEY, baseUrl: HERE });
    expect((await open.request('GET', '/p1')).data.apiKey).to.equal(KEY);
    expect((await open.request('PUT', '/p1', { apiKey: KEY })).data.apiKey).to.equal(KEY);
    expect(await open.disk()).to.not.include(KEY);
  });

  it('takes every setting while it runs: new providers come, and what is there stays as it is', async () => {
    await using open = await providing({ config: { providers: [{ name: 'old', baseUrl: HERE, apiKey: KEY }] } });
    const old = open.kernel.registry('provider').get('old');
    const seeds = [
      { name: 'old', baseUrl: 'http://elsewhere.test' },
      { name: 'new', baseUrl: HERE, apiKey: 'sk-another-key-9876' },
    ];
    const config = { providers: seeds, authorProvider: 'new', authorModel: 'm', revealApiKeys: true, readTimeoutSeconds: 1 };
    expect(await open.kernel.replace(providers, config)).to.include({ state: 'active', generation: 1 });
    expect((await open.request('GET', '/new')).data).to.include({ apiKey: 'sk-another-key-9876', baseUrl: HERE });
    expect((await open.request('GET', '/old')).data).to.include({ baseUrl: HERE });
    expect(open.kernel.registry('provider').get('old')).to.equal(old);
    expect(open.kernel.service('providers').defaults()).to.deep.equal({ provider: 'new', model: 'm' });
    expect(open.kernel.service('secrets').mask('sk-another-key-9876')).to.not.include('another');
    expect((await open.kernel.replace(providers, { ...config, readTimeoutSeconds: 0 })).error?.message).to.include('readTimeoutSeconds');
  });

  it('connects anew when the time that a call may take has changed', async () => {
    const limits = { connectTimeoutMs: 1, readTimeoutMs: 2 };
    const connected: number[] = [];
    const adapter: ProviderAdapter = {
      name: 'counting',
      connect({ readTimeoutMs }) {
        connected.push(readTimeoutMs);
        return disabledProvider('p', 'does nothing');
      },
    };
    const provider = connectedProvider(
      { name: 'p', apiKey: undefined, baseUrl: undefined },
      {
        adapter: () => adapter,
        http: { request: () => Promise.reject(new Error('none')) },
        chat: () => limits,
        models: () => ({ ...limits }),
      },
    );
    const call = () => provider.models(new AbortController().signal);
    for (const readTimeoutMs of [2, 2, 3, 3]) {
      Object.assign(limits, { readTimeoutMs });
      await call();
    }
    expect(connected).to.deep.equal([2, 3]);
  });

  it('hides known keys wherever the masker is used', async () => {
    await create();
    expect(host.kernel.service('secrets').mask(`it said ${KEY}!`)).to.not.include(KEY);
  });
});

describe('the service providers', function () {
  this.timeout(20_000);
  const named = (name: string, more = {}) => ({ name, baseUrl: 'http://model.test', ...more });

  it('gives mock for a new agent when there is nothing else or no author model', async () => {
    await using empty = await providing({ config: { authorModel: 'm' } });
    expect(empty.kernel.service('providers').defaults()).to.deep.equal({ provider: 'mock', model: 'mock' });
    await using modelless = await providing({ config: { providers: [named('a')] } });
    expect(modelless.kernel.service('providers').defaults()).to.deep.equal({ provider: 'mock', model: 'mock' });
  });

  it('gives the first provider by name with the author model, or the author provider where it exists', async () => {
    const providers = [named('b'), named('a')];
    await using first = await providing({ config: { providers, authorModel: 'm' } });
    expect(first.kernel.service('providers').defaults()).to.deep.equal({ provider: 'a', model: 'm' });
    await using chosen = await providing({ config: { providers, authorProvider: 'b', authorModel: 'm' } });
    expect(chosen.kernel.service('providers').defaults()).to.deep.equal({ provider: 'b', model: 'm' });
    await using gone = await providing({ config: { providers, authorProvider: 'z', authorModel: 'm' } });
    expect(gone.kernel.service('providers').defaults()).to.deep.equal({ provider: 'a', model: 'm' });
  });

  it('knows what exists now, also what another plugin brings', async () => {
    const own = definePlugin({
      name: 'own',
      setup: (ctx) =>
        void ctx.register('provider', { name: 'own', chat: () => Promise.reject(new Error()), models: () => Promise.reject(new Error()) }),
    });
    await using host = await providing({ before: [own] });
    const service = host.kernel.service('providers');
    expect([service.has('mock'), service.has('own'), service.has('p1')]).to.deep.equal([true, true, false]);
    await host.request('POST', '', named('p1'));
    expect(service.has('p1')).to.equal(true);
    expect(service.list().map(({ name }) => name)).to.deep.equal(['mock', 'p1']);
    expect((await host.request('POST', '', named('own'))).status).to.equal(400);
    await host.request('DELETE', '/p1');
    expect(service.has('p1')).to.equal(false);
  });
});

describe('calling a provider', function () {
  this.timeout(20_000);
  let server: ModelServer;
  beforeEach(async () => {
    server = await startModelServer();
  });
  afterEach(() => server.close());

  it('goes to its URL with its key, and to the new ones with the next call after a change', async () => {
    await using other = await startModelServer();
    await using host = await providing();
    await host.request('POST', '', { name: 'p1', apiKey: KEY, baseUrl: server.baseUrl });
    expect((await host.chat('p1')).ok).to.equal(true);
    await host.request('PUT', '/p1', { apiKey: 'sk-second-key-1234' });
    await host.chat('p1');
    await host.request('PUT', '/p1', { apiKey: 'sk-third-key-12345', baseUrl: other.baseUrl });
    await host.chat('p1');
    expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([`Bearer ${KEY}`, 'Bearer sk-second-key-1234']);
    expect(other.requests.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer sk-third-key-12345']);
  });

  it('keeps its connection over calls and over changes that do not touch key and URL', async () => {
    await using host = await providing({ config: { providers: [{ name: 'p1', baseUrl: server.baseUrl }] } });
    const before = host.provider('p1');
    await host.chat('p1');
    await host.request('PUT', '/p1', { description: 'new', baseUrl: server.baseUrl });
    await host.chat('p1');
    expect(host.provider('p1')).to.equal(before);
    expect(server.connections).to.equal(1);
  });

  it('lets a call go on that began before a change', async () => {
    let goOn = (): void => {};
    const between = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    server.will(says('one two three', { between }));
    await using host = await providing({ config: { providers: [{ name: 'p1', baseUrl: server.baseUrl }] } });
    const call = host.chat('p1');
    await server.received(1);
    await host.request('PUT', '/p1', { apiKey: KEY, baseUrl: server.baseUrl });
    await host.request('DELETE', '/p1');
    goOn();
    expect(await call).to.have.nested.property('reply.content', 'one two three');
  });

  it('lists models and tests the connection', async () => {
    await using host = await providing({ config: { providers: [{ name: 'p1', apiKey: KEY, baseUrl: server.baseUrl }] } });
    expect((await host.request('GET', '/p1/models')).data).to.deep.equal(['model-a', 'model-b']);
    expect((await host.request('POST', '/p1/test')).data).to.deep.equal({ ok: true, modelCount: 2, sampleModels: ['model-a', 'model-b'] });
    expect(server.others[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
    expect((await host.request('GET', '/mock/models')).data).to.deep.equal(['mock']);
    expect((await host.request('POST', '/mock/test')).data).to.deep.equal({ ok: true, modelCount: 1, sampleModels: ['mock'] });
  });

  it('shows at most five models of a test', async () => {
    server.modelsReply = (_request, response) =>
      void response.end(JSON.stringify({ data: ['g', 'f', 'e', 'd', 'c', 'b', 'a'].map((id) => ({ id })) }));
    await using host = await providing({ config: { providers: [{ name: 'p1', baseUrl: server.baseUrl }] } });
    expect((await host.request('POST', '/p1/test')).data).to.deep.equal({
      ok: true,
      modelCount: 7,
      sampleModels: ['a', 'b', 'c', 'd', 'e'],
    });
  });

  it('answers models and test with 503 and a safe reason when the provider fails', async () => {
    await using host = await providing({ config: { providers: [{ name: 'p1', apiKey: KEY, baseUrl: server.baseUrl }] } });
    server.modelsReply = status(401, { error: `Incorrect API key provided: ${KEY}` });
    for (const [method, path] of [
      ['GET', '/p1/models'],
      ['POST', '/p1/test'],
    ] as const) {
      const answer = await host.request(method, path);
      expect(answer.status).to.equal(503);
      expect(answer.message).to.include('"p1" answered 401').and.not.include(KEY);
    }
    await server.close();
    const gone = await host.request('GET', '/p1/models');
    expect(gone.status).to.equal(503);
    expect(gone.message).to.include('connection refused');
    expect(JSON.stringify(host.lines)).to.not.include(KEY);
  });

  it('waits for models no longer than configured', async () => {
    server.modelsReply = () => {};
    await using host = await providing({ config: { providers: [{ name: 'p1', baseUrl: server.baseUrl }], modelsReadTimeoutSeconds: 30 } });
    const asked = host.provider('p1').models(new AbortController().signal);
    while (server.others.length === 0) await host.clock.tick(0);
    await host.clock.tick(30_000);
    expect(await asked).to.have.nested.property('failure.kind', 'timeout');
  });

  it('fails as missing while its adapter is not loaded, and goes through the next one', async () => {
    await using host = await providing({ config: { providers: [{ name: 'p1', baseUrl: server.baseUrl }] } });
    const provider = host.provider('p1');
    await host.kernel.unload('support');
    const ask = { model: 'm', system: '', messages: [], tools: [], agent: 'a' };
    expect(await provider.chat(ask, () => {}, new AbortController().signal)).to.have.nested.property('failure.kind', 'missing');
    const { adapter } = scriptedModel();
    await host.kernel.load(definePlugin({ name: 'other', setup: (ctx) => void ctx.register('providerAdapter', adapter) }));
    expect(await provider.models(new AbortController().signal)).to.deep.equal({ ok: true, models: ['scripted'] });
  });
});

describe('stored providers', function () {
  this.timeout(20_000);
  const seeded = (server: ModelServer) => ({ providers: [{ name: 'p1', apiKey: KEY, baseUrl: server.baseUrl }] });

  it('never stand in plain text on disk, not even after changes and deletions', async () => {
    await using host = await providing();
    await host.request('POST', '', { name: 'p1', apiKey: KEY, baseUrl: HERE });
    await host.request('PUT', '/p1', { apiKey: `${KEY}-2` });
    await host.request('POST', '', { name: 'p2', apiKey: `${KEY}-3`, baseUrl: HERE });
    await host.request('DELETE', '/p2');
    const disk = await host.disk();
    expect(disk).to.include('enc:v1:');
    expect(disk).to.not.include(KEY);
    expect(JSON.stringify(host.lines)).to.not.include(KEY);
  });

  it('go on working after a restart, keys and those without', async () => {
    await using server = await startModelServer();
    const { root, remove } = await workspaceRoot();
    const first = await providing({ root });
    await first.request('POST', '', { name: 'p1', apiKey: KEY, baseUrl: server.baseUrl });
    await first.request('POST', '', { name: 'local', baseUrl: server.baseUrl });
    await first.stop();
    const second = await providing({ root });
    expect((await second.request('GET', '/p1')).data).to.include({ apiKey: MASK });
    expect([(await second.chat('p1')).ok, (await second.chat('local')).ok]).to.deep.equal([true, true]);
    expect(second.kernel.service('secrets').mask(KEY)).to.not.include(KEY);
    await second.stop();
    await remove();
    expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([`Bearer ${KEY}`, undefined]);
  });

  it('that are damaged are disabled, never sent anywhere, and repaired by sending the key again', async () => {
    await using server = await startModelServer();
    const { root, remove } = await workspaceRoot();
    const first = await providing({ root, config: seeded(server) });
    await first.request('POST', '', { name: 'good', apiKey: KEY, baseUrl: server.baseUrl });
    const [row] = await first.kernel.service('store').all<{ api_key: string }>("SELECT api_key FROM providers WHERE name = 'p1'");
    const sealed = row?.api_key ?? '';
    await first.stop();
    const parts = sealed.split(':');
    const flipped = (text = ''): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
    const replaced = (index: number, text: string): string => parts.map((part, at) => (at === index ? text : part)).join(':');
    const damages: Readonly<Record<string, string>> = {
      'flipped iv': replaced(3, flipped(parts[3])),
      'flipped ciphertext': replaced(4, flipped(parts[4])),
      'flipped tag': replaced(5, flipped(parts[5])),
      'tag of 4 bytes': replaced(
        5,
        Buffer.from(parts[5] ?? '', 'base64')
          .subarray(0, 4)
          .toString('base64'),
      ),
      'no prefix': sealed.replace('enc:v1:', ''),
      'nothing after the prefix': 'enc:v1:',
      garbage: 'enc:v1:////',
    };
    for (const [what, damaged] of Object.entries(damages)) {
      const writer = await providing({ root });
      await writer.sql("UPDATE providers SET api_key = ? WHERE name = 'p1'", damaged);
      await writer.stop();
      const host = await providing({ root });
      const warning = host.lines.find((line) => line.level === 'warn' && line.fields['provider'] === 'p1');
      expect(warning, what).to.not.equal(undefined);
      const result = await host.chat('p1');
      expect(result, what).to.have.nested.property('failure.kind', 'missing');
      expect(result).to.have.nested.property('failure.message').that.includes('cannot be decrypted');
      const models = await host.request('GET', '/p1/models');
      expect(models.status).to.equal(503);
      expect(models.message).to.include('cannot be decrypted');
      expect((await host.request('GET', '/p1')).data.apiKey).to.equal('****');
      expect(server.requests).to.have.length(0);
      expect((await host.request('PUT', '/p1', { baseUrl: 'http://other.test' })).status).to.equal(400);
      await host.stop();
    }
    const host = await providing({ root });
    expect((await host.chat('good')).ok).to.equal(true);
    await host.request('PUT', '/p1', { apiKey: KEY });
    expect((await host.chat('p1')).ok).to.equal(true);
    await host.stop();
    await remove();
  });

  it('do not open with the key of another row', async () => {
    await using server = await startModelServer();
    const { root, remove } = await workspaceRoot();
    const first = await providing({ root, config: seeded(server) });
    await first.request('POST', '', { name: 'p2', apiKey: 'sk-of-the-other-one', baseUrl: server.baseUrl });
    await first.sql("UPDATE providers SET api_key = (SELECT api_key FROM providers WHERE name = 'p1') WHERE name = 'p2'");
    await first.stop();
    const second = await providing({ root });
    expect(await second.chat('p2')).to.have.nested.property('failure.kind', 'missing');
    await second.stop();
    await remove();
  });

  it('of an older program are encrypted at the start', async () => {
    await using server = await startModelServer();
    const { root, remove } = await workspaceRoot();
    const first = await providing({ root });
    await first.sql(
      "INSERT INTO providers (name, api_key, base_url, created_at, updated_at) VALUES ('old', ?, ?, 1, 1)",
      KEY,
      server.baseUrl,
    );
    await first.stop();
    const second = await providing({ root });
    expect((await second.chat('old')).ok).to.equal(true);
    expect(server.requests[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
    await second.stop();
    const third = await providing({ root });
    const [row] = await third.kernel.service('store').all<{ api_key: string }>("SELECT api_key FROM providers WHERE name = 'old'");
    expect(row?.api_key).to.match(/^enc:v1:/);
    expect((await third.chat('old')).ok).to.equal(true);
    await third.stop();
    await remove();
  });

  it('always include mock, however it was lost', async () => {
    const { root, remove } = await workspaceRoot();
    const first = await providing({ root });
    await first.sql("DELETE FROM providers WHERE name = 'mock'");
    await first.stop();
    const second = await providing({ root });
    expect((await second.chat('mock')).ok).to.equal(true);
    await second.stop();
    await remove();
  });
});

describe('providers of the configuration', function () {
  this.timeout(20_000);
  let root: string;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ root, remove } = await workspaceRoot());
  });
  afterEach(() => remove());

  async function started<T>(providers: readonly unknown[], look: (host: Providing) => Promise<T>): Promise<T> {
    const host = await providing({ root, config: { providers } });
    try {
      return await look(host);
    } finally {
      await host.stop();
    }
  }
  const names = async (host: Providing): Promise<readonly string[]> =>
    (await host.request('GET', '')).data.map((view: { name: string }) => view.name);

  it('are added once: the database wins afterwards', async () => {
    const entry = { name: 'p1', apiKey: KEY, baseUrl: HERE, description: 'from the file' };
    await started([entry], async (host) => {
      expect((await host.request('GET', '/p1')).data).to.deep.equal({
        name: 'p1',
        apiKey: MASK,
        baseUrl: HERE,
        description: 'from the file',
      });
      await host.request('PUT', '/p1', { description: 'by hand' });
    });
    await started([{ ...entry, baseUrl: 'http://elsewhere.test', description: 'changed' }], async (host) => {
      expect((await host.request('GET', '/p1')).data).to.include({ baseUrl: HERE, description: 'by hand' });
    });
  });

  it('stay deleted once an administrator has deleted them', async () => {
    const entry = { name: 'p1', baseUrl: HERE };
    await started([entry], async (host) => void (await host.request('DELETE', '/p1')));
    await started([entry], async (host) => expect(await names(host)).to.deep.equal(['mock']));
    await started([entry], async (host) => {
      expect((await host.request('POST', '', entry)).status).to.equal(200);
    });
    await started([entry], async (host) => expect(await names(host)).to.deep.equal(['mock', 'p1']));
  });

  it('stay deleted also when the name had been added by hand', async () => {
    const entry = { name: 'p1', baseUrl: HERE };
    await started([], async (host) => void (await host.request('POST', '', entry)));
    await started([entry], async (host) => void (await host.request('DELETE', '/p1')));
    await started([entry], async (host) => expect(await names(host)).to.deep.equal(['mock']));
  });

  it('are added when they come later', async () => {
    await started([{ name: 'p1', baseUrl: HERE }], async () => {});
    await started(
      [
        { name: 'p1', baseUrl: HERE },
        { name: 'p2', baseUrl: HERE },
      ],
      async (host) => {
        expect(await names(host)).to.deep.equal(['mock', 'p1', 'p2']);
      },
    );
  });

  const invalid: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    'without base-url': { baseUrl: undefined },
    'with a placeholder in base-url': { baseUrl: '${BASE_URL}' },
    'with a metadata base-url': { baseUrl: 'http://169.254.169.254' },
    'with an empty api-key': { apiKey: '' },
    'with a placeholder in api-key': { apiKey: '${SOME_API_KEY}' },
    'with a bad name': { name: 'a b' },
    'with a blank name': { name: '' },
  };
  for (const [what, more] of Object.entries(invalid)) {
    it(`are skipped with a warning ${what}, and added once they are valid`, async () => {
      const good = { name: 'good', baseUrl: HERE };
      await started([{ name: 'p1', baseUrl: HERE, ...more }, good], async (host) => {
        expect(await names(host)).to.deep.equal(['good', 'mock']);
        expect(host.lines.filter((line) => line.level === 'warn' && line.message.includes('skipped'))).to.have.length(1);
      });
      await started([{ name: 'p1', apiKey: KEY, baseUrl: HERE }, good], async (host) => {
        expect(await names(host)).to.deep.equal(['good', 'mock', 'p1']);
      });
    });
  }

  it('need no api-key', async () => {
    await started([{ name: 'ollama', apiKey: null, baseUrl: HERE }], async (host) => {
      expect((await host.request('GET', '/ollama')).data.apiKey).to.equal(null);
    });
  });
});

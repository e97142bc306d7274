import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHost, type TestHost } from '../../harness/index.ts';

const SECRET = 'SECabcdef0123456789wxyz';
const MASK = '****wxyz';
const HERE = 'https://receiver.test/hook/abc';
const BASE = '/api/v1/notify-channels';
type Fields = Readonly<Record<string, unknown>>;

describe('notify channels over REST', function () {
  this.timeout(20_000);
  let host: TestHost;
  before(async () => {
    host = await startHost();
  });
  after(() => host.stop());
  afterEach(async () => {
    for (const { name } of (await host.request('GET', BASE)).data) await host.request('DELETE', `${BASE}/${name}`);
  });

  const create = (more: Fields = {}) =>
    host.request('POST', BASE, { name: 'c1', type: 'webhook', url: HERE, description: 'first', config: { secret: SECRET }, ...more });
  const update = (body: Fields, name = 'c1') => host.request('PUT', `${BASE}/${name}`, { type: 'webhook', url: HERE, ...body });
  const view = async (name = 'c1') => (await host.request('GET', `${BASE}/${name}`)).data;
  const stored = async (name = 'c1') => (await host.rows('notify_channels')).find((row) => row['name'] === name);
  const clear = (name = 'c1') => host.kernel.service('notifyChannels').target(name)?.config;

  describe('create', () => {
    it('takes the channel of the documents and answers with it', async () => {
      const sent = {
        name: 'team-lark',
        type: 'feishu',
        url: 'https://open.larksuite.com/open-apis/bot/v2/hook/xxxx',
        description: '团队飞书群',
      };
      const { status, data } = await host.request('POST', BASE, sent);
      expect(status).to.equal(200);
      expect(data).to.deep.equal({ ...sent, config: {} });
      expect(await view('team-lark')).to.deep.equal(data);
    });

    it('masks secrets, shows the rest, and hands all of it to the adapter in clear', async () => {
      const config = {
        secret: SECRET,
        API_KEY: 'abcd',
        verification_token: 'verification',
        db_passwd: 'passwd-1234',
        keyword: 'Alert',
        rate_per_minute: 12.5,
        app_id: 'cli_1',
        at: ['ann', 7, true],
        headers: { Authorization: 'Bearer 1234567', 'X-Team': 'ops', 'X-Api-Token': 'tokentoken' },
      };
      const { data } = await create({ config });
      expect(data.config).to.deep.equal({
        ...config,
        secret: MASK,
        API_KEY: '****',
        verification_token: '****tion',
        db_passwd: '****1234',
        headers: { Authorization: '****4567', 'X-Team': 'ops', 'X-Api-Token': '****oken' },
      });
      expect(clear()).to.deep.equal(config);
    });

    it('trims what was pasted, and takes a blank secret for none', async () => {
      const { data } = await create({ url: ` ${HERE}\n`, description: ' d ', config: { secret: ` ${SECRET}\n`, token: ' ' } });
      expect(data).to.include({ url: HERE, description: 'd' });
      expect(data.config).to.deep.equal({ secret: MASK });
      expect(clear()).to.deep.equal({ secret: SECRET });
    });

    it('ignores fields that it does not know', async () => {
      expect((await create({ surprise: 1 })).status).to.equal(200);
    });

    const bad: Readonly<Record<string, readonly [Fields, string]>> = {
      'a blank name': [{ name: ' ' }, 'name'],
      'no name': [{ name: undefined }, 'name'],
      'a name with a slash': [{ name: 'a/b' }, 'name'],
      'a name of 65 letters': [{ name: 'n'.repeat(65) }, 'name'],
      'no type': [{ type: undefined }, 'type'],
      'an unknown type': [{ type: 'pager' }, 'dingtalk, feishu, webhook, wecom'],
      'a type in capitals': [{ type: 'Webhook' }, 'type'],
      'a type that every object knows': [{ type: 'constructor' }, 'type'],
      'no url': [{ url: undefined }, 'url'],
      'a null url': [{ url: null }, 'url'],
      'a blank url': [{ url: ' ' }, 'url'],
      'a url that is none': [{ url: 'receiver' }, 'url'],
      'a file url': [{ url: 'file:///etc/passwd' }, 'url'],
      'a url with a password': [{ url: 'https://u:p@receiver.test/' }, 'url'],
      'a metadata address': [{ url: 'http://169.254.169.254/x' }, 'url'],
      'a metadata address in decimal': [{ url: 'http://2852039166/' }, 'url'],
      'a metadata address within IPv6': [{ url: 'http://[::ffff:169.254.169.254]/' }, 'url'],
      'a placeholder in the url': [{ url: 'https://receiver.test/${KEY}' }, 'url'],
      'a very long url': [{ url: `https://receiver.test/${'x'.repeat(3_000)}` }, 'url'],
      'a very long description': [{ description: 'd'.repeat(3_000) }, 'description'],
      'a config that is a list': [{ config: [] }, 'config'],
      'a mask as secret': [{ config: { secret: '****' } }, 'config.secret'],
      'an encrypted value as secret': [{ config: { secret: 'enc:v1:abc' } }, 'config.secret'],
      'an encrypted value as setting': [{ config: { app_id: 'enc:v1:abc' } }, 'config.app_id'],
      'a secret that is a number': [{ config: { secret: 5 } }, 'config.secret'],
      'a secret that is a map': [{ config: { token: { a: 1 } } }, 'config.token'],
      'a secret with a line break': [{ config: { secret: 'a\nb' } }, 'config.secret'],
      'a very long secret': [{ config: { secret: 's'.repeat(5_000) } }, 'config.secret'],
      'a very large config': [{ config: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`t${n}`, 'x'.repeat(4_000)])) }, 'config'],
      'a key with a blank': [{ config: { 'a b': 1 } }, 'config'],
      'a list of maps': [{ config: { at: [{}] } }, 'config.at'],
      'maps that are nested deeply': [{ config: { a: { b: { c: { d: 1 } } } } }, 'config.a.b.c'],
      'a rate of zero': [{ config: { rate_per_minute: 0 } }, 'config.rate_per_minute'],
      'a negative rate': [{ config: { rate_per_minute: -1 } }, 'config.rate_per_minute'],
      'a rate that is text': [{ config: { rate_per_minute: '5' } }, 'config.rate_per_minute'],
      'a default that is text': [{ config: { default: 'yes' } }, 'config.default'],
      'headers that are a list': [{ config: { headers: ['a'] } }, 'config.headers'],
      'a header that is a number': [{ config: { headers: { 'X-A': 1 } } }, 'config.headers.X-A'],
      'a header with a line break': [{ config: { headers: { 'X-A': 'a\r\nX-B: b' } } }, 'config.headers.X-A'],
      'a secret header with a line break': [{ config: { headers: { Authorization: 'a\r\nX-B: b' } } }, 'config.headers.Authorization'],
      'a header name with a colon': [{ config: { headers: { 'X-A:': 'a' } } }, 'config.headers'],
      'the header Host': [{ config: { headers: { Host: 'a' } } }, 'config.headers.Host'],
      'the header Transfer-Encoding': [{ config: { headers: { 'transfer-encoding': 'a' } } }, 'transfer-encoding'],
      'one header in two spellings': [{ config: { headers: { 'X-A': 'a', 'x-a': 'b' } } }, 'x-a'],
    };
    for (const [what, [more, field]] of Object.entries(bad)) {
      it(`refuses ${what} and changes nothing`, async () => {
        const answer = await create(more);
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.message).to.include(field);
        expect((await host.request('GET', BASE)).data).to.deep.equal([]);
      });
    }

    it('never repeats a secret in a refusal', async () => {
      for (const more of [{ url: 'nothing' }, { type: 'pager' }, { config: { secret: `${SECRET}\n${SECRET}` } }]) {
        expect((await create(more)).text).to.not.include(SECRET);
      }
    });

    it('refuses a name in use, also for two at once', async () => {
      const answers = await Promise.all([create(), create(), create()]);
      expect(answers.map(({ status }) => status)).to.have.members([200, 400, 400]);
      const again = await create();
      expect(again.status).to.equal(400);
      expect(again.message).to.include('"c1"').and.include('exists');
    });
  });

  describe('read', () => {
    it('lists channels by name', async () => {
      for (const name of ['zeta', 'Alpha', 'beta']) await create({ name });
      const { data } = await host.request('GET', BASE);
      expect(data.map(({ name }: { name: string }) => name)).to.deep.equal(['Alpha', 'beta', 'zeta']);
      expect(data[0].config).to.deep.equal({ secret: MASK });
    });

    for (const [method, path] of [
      ['GET', '/none'],
      ['PUT', '/none'],
      ['DELETE', '/none'],
      ['GET', '/__proto__'],
    ] as const) {
      it(`answers ${method} ${path} with 404`, async () => {
        const answer = await host.request(method, BASE + path, method === 'PUT' ? { type: 'webhook', url: HERE } : undefined);
        expect([answer.status, answer.data]).to.deep.equal([404, null]);
      });
    }
  });

  describe('update', () => {
    beforeEach(() => create({ config: { secret: SECRET, keyword: 'k', headers: { Authorization: 'Bearer 1234567', 'X-Team': 'ops' } } }));

    it('takes the update of the documents', async () => {
      const sent = { type: 'webhook', url: 'https://receiver.test/hook', description: '通用 webhook' };
      expect((await update(sent)).data).to.include(sent);
    });

    for (const secret of [undefined, '', '   ', '****', MASK]) {
      it(`keeps the secret for ${JSON.stringify(secret)}`, async () => {
        const before = (await stored())?.['config'];
        expect((await update({ config: { secret } })).data.config).to.include({ secret: MASK, keyword: 'k' });
        expect((await stored())?.['config']).to.equal(before);
        expect(clear()).to.include({ secret: SECRET });
      });
    }

    it('keeps everything when config is absent, and the description too', async () => {
      const before = await view();
      expect((await update({})).data).to.deep.equal(before);
    });

    it('takes back what it has shown', async () => {
      const before = await view();
      expect((await update(before)).data).to.deep.equal(before);
      expect(clear()).to.deep.include({ secret: SECRET, headers: { Authorization: 'Bearer 1234567', 'X-Team': 'ops' } });
    });

    it('removes a key for null, inside headers too, and all for a null config', async () => {
      const { data } = await update({ config: { secret: null, headers: { 'X-Team': null } } });
      expect(data.config).to.deep.equal({ keyword: 'k', headers: { Authorization: '****4567' } });
      expect((await update({ config: null })).data.config).to.deep.equal({});
    });

    it('replaces a secret, and drops a blank description', async () => {
      const { data } = await update({ description: ' ', config: { secret: 'another-secret' } });
      expect(data.description).to.equal(null);
      expect(data.config.secret).to.equal('****cret');
      expect(clear()).to.include({ secret: 'another-secret' });
    });

    for (const secret of ['****0000', '*****', '****wxyz1', 'enc:v1:a:b:c:d']) {
      it(`refuses ${secret} as secret and changes nothing`, async () => {
        const before = await stored();
        const answer = await update({ description: 'changed', config: { secret } });
        expect(answer.status).to.equal(400);
        expect(answer.message).to.include('config.secret');
        expect(await stored()).to.deep.equal(before);
      });
    }

    for (const url of [
      'https://attacker.test/hook',
      'https://receiver.test:8443/hook',
      'http://receiver.test/hook',
      'https://receiver.test.evil.test/',
    ]) {
      for (const config of [
        undefined,
        {},
        { secret: '' },
        { secret: MASK },
        { secret: 'sent-again', headers: { Authorization: '****' } },
      ]) {
        it(`never uses a kept secret (${JSON.stringify(config)}) at ${url}`, async () => {
          const before = await stored();
          const answer = await update({ url, config });
          expect(answer.status).to.equal(400);
          expect(answer.message).to.include('another host').and.include('config.headers.Authorization');
          expect(await stored()).to.deep.equal(before);
        });
      }
    }

    it('takes another host when every secret is sent again or removed, and then for none at all', async () => {
      const config = { secret: SECRET, headers: { Authorization: null } };
      expect((await update({ url: 'https://other.test/hook', config })).status).to.equal(200);
      expect((await update({ url: 'https://third.test/hook', config: { secret: null } })).status).to.equal(200);
      expect((await update({ url: 'https://fourth.test/hook' })).status).to.equal(200);
    });

    it('takes another path on the same host', async () => {
      expect((await update({ url: 'https://receiver.test/other?x=1' })).data.config).to.include({ secret: MASK });
    });

    for (const [what, body] of [
      ['no url', { url: undefined }],
      ['a metadata address', { url: 'http://169.254.169.254/' }],
      ['no type', { type: undefined }],
      ['an unknown type', { type: 'pager' }],
      ['a rate that is no number', { config: { rate_per_minute: 'x' } }],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const before = await stored();
        expect((await update(body)).status).to.equal(400);
        expect(await stored()).to.deep.equal(before);
      });
    }

    it('loses no change that it has acknowledged when several come at once', async () => {
      const answers = await Promise.all([update({ description: 'second' }), update({ config: { keyword: 'other' } })]);
      for (const { status } of answers) expect(status).to.be.oneOf([200, 409]);
      expect(answers.map(({ status }) => status)).to.include(200);
      const data = await view();
      if (answers[0]?.status === 200) expect(data.description).to.equal('second');
      if (answers[1]?.status === 200) expect(data.config.keyword).to.equal('other');
    });
  });

  it('deletes a channel, and its name is free again', async () => {
    await create();
    const answer = await host.request('DELETE', `${BASE}/c1`);
    expect([answer.status, answer.data]).to.deep.equal([200, null]);
    expect((await host.request('GET', `${BASE}/c1`)).status).to.equal(404);
    expect((await create({ config: {} })).data.config).to.deep.equal({});
  });

  it('keeps a secret of the configuration at rest and in the API: shown as a mask, stored encrypted, kept by the mask, removed by null', async () => {
    expect((await create()).data.config.secret).to.equal(MASK);
    expect(JSON.parse(String((await stored())?.['config'])).secret).to.match(/^enc:v1:/);
    await update({ config: { secret: MASK } });
    expect(clear()).to.deep.equal({ secret: SECRET });
    expect((await update({ url: 'https://other.test/', config: { secret: MASK } })).status).to.equal(400);
    await update({ config: { secret: null } });
    expect(clear()).to.deep.equal({});
  });

  it('leaves no secret in clear on disk, not even after it was changed and deleted', async () => {
    const header = 'Bearer header-secret-0123456789';
    await create({ config: { secret: SECRET, headers: { Authorization: header } } });
    await update({ config: { secret: 'SECsecond-0123456789' } });
    await host.request('DELETE', `${BASE}/c1`);
    await create({ name: 'c2' });
    const files = (await readdir(host.root, { withFileTypes: true })).filter((entry) => entry.name.startsWith('oryxos.db'));
    expect(files.length).to.be.greaterThan(0);
    for (const { name } of files) {
      const text = await readFile(join(host.root, name), 'latin1');
      for (const secret of [SECRET, header, 'SECsecond-0123456789']) expect(text.includes(secret), `${secret} in ${name}`).to.equal(false);
    }
  });

  describe('the default', () => {
    const defaultName = (name?: string) => host.kernel.service('notifyChannels').find(name)?.name;

    it('is the oldest channel until one is marked, and the oldest again when that one is gone', async () => {
      expect(defaultName()).to.equal(undefined);
      for (const name of ['zulu', 'alpha']) await create({ name });
      expect([undefined, '', ' ', 'default'].map(defaultName)).to.deep.equal(['zulu', 'zulu', 'zulu', 'zulu']);
      await update({ config: { default: true } }, 'alpha');
      expect(defaultName()).to.equal('alpha');
      await host.request('DELETE', `${BASE}/alpha`);
      expect(defaultName()).to.equal('zulu');
    });

    it('is one: who is marked takes the mark from the other', async () => {
      await create({ name: 'a', config: { default: true, secret: SECRET } });
      await create({ name: 'b', config: { default: true } });
      expect((await view('a')).config).to.deep.equal({ secret: MASK });
      expect((await view('b')).config).to.deep.equal({ default: true });
      await update({ config: { secret: '' } }, 'b');
      expect(defaultName()).to.equal('b');
      await update({ config: { default: false } }, 'b');
      expect(defaultName()).to.equal('a');
      expect(
        host.kernel
          .service('notifyChannels')
          .list()
          .map(({ name, isDefault }) => [name, isDefault]),
      ).to.deep.equal([
        ['a', true],
        ['b', false],
      ]);
    });

    it('is one also when two are marked at once', async () => {
      for (const name of ['a', 'b', 'c']) await create({ name });
      const answers = await Promise.all(['a', 'b', 'c'].map((name) => update({ config: { default: true } }, name)));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      const marked = (await host.rows('notify_channels')).filter((row) => row['is_default'] === 1).map((row) => row['name']);
      expect(marked).to.deep.equal([defaultName()]);
    });

    it('gives way to a channel that is called so', async () => {
      await create({ name: 'first' });
      await create({ name: 'default' });
      expect([defaultName('default'), defaultName(undefined), defaultName('nobody')]).to.deep.equal(['default', 'first', undefined]);
    });
  });

  it('tells listeners which channels changed, until they leave', async () => {
    const heard: string[] = [];
    const channels = host.kernel.service('notifyChannels');
    const leave = channels.onChange((name) => heard.push(name));
    channels.onChange(() => {
      throw new Error('deaf');
    });
    await create({ name: 'a', config: { default: true } });
    await create({ name: 'b', config: { default: true } });
    await host.request('DELETE', `${BASE}/a`);
    leave();
    await host.request('DELETE', `${BASE}/b`);
    expect(heard).to.deep.equal(['a', 'b', 'a', 'a']);
  });

  it('gives others neither secrets nor addresses, except as a target', async () => {
    await create();
    const channels = host.kernel.service('notifyChannels');
    expect(channels.list()).to.deep.equal([{ name: 'c1', type: 'webhook', description: 'first', isDefault: true }]);
    expect(channels.target('c1')).to.deep.equal({ channel: 'c1', url: HERE, config: { secret: SECRET } });
    expect(channels.target('none')).to.equal(undefined);
  });
});

import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlugin, type LogLine, type NotifyAdapter, type Plugin } from '../../../kernel/index.ts';
import { startHost } from '../../harness/index.ts';

const SECRET = 'SECabcdef0123456789wxyz';
const HERE = 'https://receiver.test/hook/abc';
const BASE = '/api/v1/notify-channels';

const pager: NotifyAdapter = {
  name: 'pager',
  configProblem: (config) => (typeof config['app_id'] === 'string' ? undefined : 'app_id is missing'),
  send: () => Promise.resolve({ ok: true }),
};
const withPager = definePlugin({ name: 'pager', setup: (ctx) => void ctx.register('notifyAdapter', pager) });

/** Keeps the lines that the plugin notify logs. */
function listening(): { readonly plugin: Plugin; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (line: LogLine): void => {
    if (line.plugin === 'notify') lines.push(line);
  };
  return { lines, plugin: definePlugin({ name: 'listening', setup: (ctx) => void ctx.register('logSink', { name: 'lines', write }) }) };
}

describe('notify channels and their adapters', function () {
  this.timeout(20_000);

  it('asks the adapter of a plugin whether a configuration can work', async () => {
    await using host = await startHost({ plugins: [withPager] });
    const channel = { name: 'p', type: 'pager', url: HERE };
    const answer = await host.request('POST', BASE, channel);
    expect(answer.status).to.equal(400);
    expect(answer.message).to.include('app_id is missing');
    expect((await host.request('POST', BASE, { ...channel, config: { app_id: 'x' } })).status).to.equal(200);
    expect((await host.request('PUT', `${BASE}/p`, { ...channel, config: { app_id: null } })).status).to.equal(400);
  });

  it('hides every key of a channel wherever the masker is used, and no words', async () => {
    await using host = await startHost();
    const keys = [
      '3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f',
      '693a91f6-7abc-4bc4-97a0-0ec2sifa5aaa',
      '566cc69da782ec33',
      'abcdefghijklmnopqrstuvwxyz',
    ];
    const urls = [
      `https://open.feishu.cn/open-apis/bot/v2/hook/${keys[0]}`,
      `https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=${keys[1]}`,
      `https://oapi.dingtalk.com/robot/send?access_token=${keys[2]}`,
      `https://hooks.test/services/alert-manager-of-the-team/${keys[3]}`,
    ];
    for (const [index, url] of urls.entries()) {
      await host.request('POST', BASE, { name: `c${index}`, type: 'webhook', url, config: { secret: SECRET } });
    }
    const words = 'webhook services robot send alert-manager-of-the-team';
    const text = host.kernel.service('secrets').mask(`${keys.join(' | ')} | ${SECRET} | ${words}`);
    for (const key of [...keys, SECRET]) expect(text).to.not.include(key);
    expect(text).to.include(words);
  });

  it('logs changes with hosts and without keys', async () => {
    const { plugin, lines } = listening();
    await using host = await startHost({ plugins: [plugin] });
    const channel = { type: 'webhook', url: 'https://one.test/hook/KEY-0123456789?key=plainkey', config: { secret: SECRET } };
    await host.request('POST', BASE, { name: 'c1', ...channel });
    await host.request('PUT', `${BASE}/c1`, { ...channel, url: 'https://two.test/hook/KEY-0123456789' });
    await host.request('DELETE', `${BASE}/c1`);
    expect(lines.map(({ message, fields }) => [message, fields])).to.deep.equal([
      ['notify channel added', { channel: 'c1', type: 'webhook', host: 'one.test' }],
      ['the host of a notify channel was changed', { channel: 'c1', from: 'one.test', to: 'two.test' }],
      ['notify channel deleted', { channel: 'c1' }],
    ]);
  });
});

describe('notify channels after a restart', function () {
  this.timeout(30_000);
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'oryxos-notify-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('are as they were, the default and the order too', async () => {
    const first = await startHost({ home });
    const config = { secret: SECRET, headers: { 'X-Token': 'abcdefgh' }, rate_per_minute: 3 };
    await first.request('POST', BASE, { name: 'b', type: 'webhook', url: HERE, config });
    await first.request('POST', BASE, { name: 'a', type: 'feishu', url: HERE, config: { default: true } });
    const before = (await first.request('GET', BASE)).data;
    await first.stop();

    await using again = await startHost({ home });
    expect((await again.request('GET', BASE)).data).to.deep.equal(before);
    const channels = again.kernel.service('notifyChannels');
    expect(channels.target('b')?.config).to.deep.equal(config);
    expect(channels.list().map(({ name }) => name)).to.deep.equal(['b', 'a']);
    expect(channels.find(undefined)?.name).to.equal('a');
    expect(again.kernel.service('secrets').mask(`abcdefgh ${SECRET}`))
      .to.not.include('abcdefgh')
      .and.not.include(SECRET);
  });

  it('stay listed without their adapter, with a warning, until it is there again', async () => {
    const first = await startHost({ home, plugins: [withPager] });
    await first.request('POST', BASE, { name: 'p', type: 'pager', url: HERE, config: { app_id: 'x' } });
    await first.stop();

    const { plugin, lines } = listening();
    const second = await startHost({ home, plugins: [plugin] });
    expect((await second.request('GET', `${BASE}/p`)).data).to.include({ name: 'p', type: 'pager' });
    expect(lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).to.deep.equal([{ channel: 'p', type: 'pager' }]);
    await second.stop();

    lines.splice(0);
    await using third = await startHost({ home, plugins: [plugin, withPager] });
    expect(third.kernel.service('notifyChannels').find('p')?.type).to.equal('pager');
    expect(lines).to.deep.equal([]);
  });

  it('say which secret cannot be read, are not sent to, and work again when it is sent again', async () => {
    const first = await startHost({ home });
    await first.request('POST', BASE, { name: 'good', type: 'webhook', url: HERE, config: { secret: SECRET } });
    await first.request('POST', BASE, { name: 'bad', type: 'webhook', url: HERE, config: { secret: SECRET } });
    // The ciphertext of another row: the place is sealed with the secret.
    const sql = `UPDATE notify_channels SET config = (SELECT config FROM notify_channels WHERE name = 'good') WHERE name = 'bad'`;
    await first.kernel.service('store').write({ sql, params: [] });
    await first.stop();

    const { plugin, lines } = listening();
    await using again = await startHost({ home, plugins: [plugin] });
    const channels = again.kernel.service('notifyChannels');
    expect(lines.map(({ level, fields }) => [level, fields])).to.deep.equal([['warn', { channel: 'bad', keys: ['config.secret'] }]]);
    expect(channels.target('good')?.config).to.deep.equal({ secret: SECRET });
    expect(() => channels.target('bad'))
      .to.throw(/config\.secret of notify channel "bad" cannot be decrypted/)
      .with.property('code', 'ORYX_SECRET_KEY');
    expect((await again.request('GET', `${BASE}/bad`)).data.config).to.deep.equal({ secret: '****' });
    await again.request('PUT', `${BASE}/bad`, { type: 'webhook', url: HERE, config: { secret: SECRET } });
    expect(channels.target('bad')?.config).to.deep.equal({ secret: SECRET });
  });

  it('have secrets encrypted that stood in plain text', async () => {
    const first = await startHost({ home });
    await first.request('POST', BASE, { name: 'c1', type: 'webhook', url: HERE });
    const config = JSON.stringify({ secret: SECRET, headers: { Authorization: '****odd\nvalue', 'X-Team': 'ops' } });
    await first.kernel.service('store').write({ sql: 'UPDATE notify_channels SET config = ?', params: [config] });
    await first.stop();

    const second = await startHost({ home });
    expect(second.kernel.service('notifyChannels').target('c1')?.config).to.deep.equal(JSON.parse(config));
    const stored = String((await second.rows('notify_channels'))[0]?.['config']);
    expect(JSON.parse(stored).secret).to.match(/^enc:v1:/);
    expect(JSON.parse(stored).headers)
      .to.include({ 'X-Team': 'ops' })
      .and.have.property('Authorization')
      .that.matches(/^enc:v1:/);
    await second.stop();
    await using third = await startHost({ home });
    expect((await third.rows('notify_channels'))[0]?.['config']).to.equal(stored);
  });
});

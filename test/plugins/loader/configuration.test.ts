import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlugin, isOryxError } from '../../../kernel/index.ts';
import { type Configuration, readConfiguration } from '../../../plugins/loader/configuration.ts';

const web = definePlugin({
  name: 'web',
  configAt: { port: 'server.port', heartbeatSeconds: 'oryxos.web.sse.heartbeat-seconds', hosts: 'server.allowed-hosts' },
  config: {
    type: 'object',
    properties: {
      port: { type: 'integer', minimum: 0, maximum: 65535, default: 8080 },
      heartbeatSeconds: { type: 'integer', default: 15 },
      hosts: { type: 'array', items: { type: 'string' }, default: [] },
      version: { type: 'string', default: '' },
    },
    additionalProperties: false,
  },
  setup: () => undefined,
});
const keys = definePlugin({
  name: 'keys',
  configAt: { providers: 'oryxos.providers' },
  config: {
    type: 'object',
    properties: {
      providers: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' }, apiKey: { type: 'string' } }, additionalProperties: false },
        default: [],
      },
    },
  },
  setup: () => undefined,
});

let home = '';
async function read(
  yaml: string | undefined,
  env: Record<string, string> = {},
  flags: Record<string, unknown> = {},
): Promise<Configuration> {
  const file = yaml === undefined ? undefined : join(home, 'application.yml');
  if (file) await writeFile(file, yaml ?? '');
  return readConfiguration({ plugins: [web, keys], file, env, flags });
}
async function problem(yaml: string): Promise<string> {
  const error: unknown = await read(yaml).catch((thrown: unknown) => thrown);
  expect(isOryxError(error) && error.code).to.equal('ORYX_CONFIG');
  return (error as Error).message;
}

describe('the configuration', () => {
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'oryxos-config-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  it('layers defaults, file, environment and flags, and knows where each value came from', async () => {
    const yaml = 'server:\n  port: 1\noryxos:\n  web:\n    sse:\n      heartbeat-seconds: 2\n';
    const config = await read(yaml, { SERVER_PORT: '3' }, { 'server.port': 4 });
    expect(config.sectionOf(web)).to.deep.equal({ port: 4, heartbeatSeconds: 2, hosts: [] });
    expect(config.values().get('server.port')?.origin).to.equal('flag');
    expect(config.values().get('oryxos.web.sse.heartbeat-seconds')?.origin).to.match(/^file .*application\.yml$/);
    expect((await read(yaml, { SERVER_PORT: '3' })).values().get('server.port')).to.deep.equal({
      value: 3,
      origin: 'environment SERVER_PORT',
    });
    expect((await read(undefined)).values().get('server.port')).to.deep.equal({ value: 8080, origin: 'default' });
  });

  it('reads kebab-case, snake_case and camelCase alike, inside lists too', async () => {
    const config = await read(
      'server: {allowed_hosts: [a]}\noryxos:\n  providers:\n    - {name: x, api-key: k}\n    - {name: y, api_key: l}\n',
    );
    expect(config.sectionOf(web)).to.include({ port: 8080 });
    expect(config.sectionOf(web)['hosts']).to.deep.equal(['a']);
    expect(config.sectionOf(keys)['providers']).to.deep.equal([
      { name: 'x', apiKey: 'k' },
      { name: 'y', apiKey: 'l' },
    ]);
  });

  it('takes comma-separated lists from the environment and ignores variables that are no keys', async () => {
    const config = await read(undefined, { SERVER_ALLOWED_HOSTS: 'a.example, b.example', SERVER_NOPE: 'x' });
    expect(config.sectionOf(web)['hosts']).to.deep.equal(['a.example', 'b.example']);
  });

  it('replaces placeholders, with defaults, and keeps one that is not set', async () => {
    const yaml = 'server: {port: "${PORT:81}"}\noryxos: {providers: [{name: x, api-key: "${KEY}"}, {name: y, api-key: "${GIVEN}"}]}\n';
    const config = await read(yaml, { GIVEN: 'secret' });
    expect(config.sectionOf(web)['port']).to.equal(81);
    expect(config.sectionOf(keys)['providers']).to.deep.equal([
      { name: 'x', apiKey: '${KEY}' },
      { name: 'y', apiKey: 'secret' },
    ]);
  });

  it('names an unknown key and its neighbours', async () => {
    expect(await problem('server: {prot: 1}\n')).to.match(/unknown key "server\.prot".*server\.port/s);
    expect(await problem('nonsense: 1\n')).to.include('unknown key "nonsense"');
  });

  it('names a wrong type with file, key and expectation', async () => {
    expect(await problem('server: {port: many}\n')).to.match(/application\.yml: .*server\.port.*integer/s);
    expect(await problem('server: {port: 70000}\n')).to.include('server.port');
  });

  it('refuses broken YAML and files that are not a map', async () => {
    expect(await problem('server: [\n')).to.include('application.yml');
    expect(await problem('- a\n')).to.include('must be a map');
  });

  it('says which file is missing', async () => {
    const error: unknown = (() => {
      try {
        return readConfiguration({ plugins: [web], file: join(home, 'none.yml'), env: {}, flags: {} });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect((error as Error).message).to.include('none.yml');
  });
});

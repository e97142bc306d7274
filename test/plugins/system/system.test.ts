import { expect } from 'chai';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { packageVersion } from '../../../config/package-root.ts';
import { definePlugin } from '../../../kernel/index.ts';
import { defineRoute } from '../../../plugins/http/contract.ts';
import { agentFile, startHost, until } from '../../harness/index.ts';
import type { TestHost } from '../../harness/index.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('system', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await startHost({ agents: { helper: agentFile('helper', 'description: Helps <b>everybody</b>\ntools: []') } });
  });
  afterEach(() => host.stop());
  const get = (path: string, headers?: Readonly<Record<string, string>>) => host.request('GET', path, undefined, headers);

  it('answers the liveness probe', async () => {
    const answer = await get('/api/v1/health');
    expect(answer).to.deep.include({ status: 200, code: 0, data: { status: 'ok' } });
    expect(await host.request('DELETE', '/api/v1/health')).to.deep.include({ status: 405, code: 405, data: null });
    expect(await get('/api/v1/nope')).to.deep.include({ status: 404, code: 404, data: null });
  });

  it('tells the version and the names of the providers, sorted', async () => {
    const { data } = await get('/api/v1/info');
    expect(data).to.deep.include({ application: 'oryxos', version: packageVersion });
    expect(data.providers).to.include('scripted');
    expect(data.providers).to.deep.equal((data.providers as string[]).toSorted());
    expect(data.warnings).to.deep.equal([]);
  });

  it('warns of plugins that have failed, at import or at setup, without their error text', async () => {
    await host.write('plugins/x1/package.json', '{"name": "x1", "type": "module"}');
    await host.write('plugins/x1/index.js', 'throw new Error("cannot read /home/somebody/token");');
    await host.write('plugins/x2/package.json', '{"name": "x2", "type": "module"}');
    const setup = 'setup() { throw new Error("cannot read /home/somebody/token"); }';
    await host.write(
      'plugins/x2/index.js',
      `import { definePlugin } from 'oryxos'; export default definePlugin({ name: 'x2', ${setup} });`,
    );
    await host.write('application.yml', 'oryxos: {plugins: {x1: {}, x2: {}, nowhere: {}}}');
    const warnings = await until('three warnings', async () => {
      const { data } = await get('/api/v1/info');
      return data.warnings.length === 3 && (data.warnings as string[]);
    });
    expect(warnings).to.deep.equal(
      ['x1', 'x2', 'nowhere'].map((name) => `The plugin "${name}" has failed; "oryxos plugin list" says why.`),
    );
  });

  it('answers the probes of monitoring tools outside of the envelope, without details', async () => {
    for (const path of ['/actuator/health', '/actuator/health/liveness', '/actuator/health/readiness']) {
      const answer = await get(path);
      expect(answer.status).to.equal(200);
      expect(JSON.parse(answer.text)).to.deep.equal({ status: 'UP' });
      expect(answer.headers['content-type']).to.include('application/json');
    }
    expect((await get('/actuator/env')).status).to.equal(404);
  });

  describe('at /', () => {
    it('shows a page to browsers and 404 to everybody else', async () => {
      const page = await get('/', BROWSER);
      expect(page.status).to.equal(200);
      expect(page.headers).to.include({ 'content-type': 'text/html; charset=utf-8', vary: 'Accept' });
      for (const headers of [undefined, { accept: '*/*' }, { accept: 'application/json' }]) {
        expect(await get('/', headers)).to.deep.include({ status: 404, code: 404, data: null });
      }
    });

    it('shows version, agents with status and provider, and how to talk to one', async () => {
      const { text } = await get('/', BROWSER);
      expect(text).to.include(`version ${packageVersion}`);
      expect(text).to.match(/helper<\/td><td><span class="badge ok">ok<\/span><\/td><td>scripted \/ test-model/);
      expect(text).to.include(`curl -s ${host.url}/api/v1/agents/`);
      expect(text).to.include('Nothing is running.');
    });

    it('shows what is wrong with a broken agent', async () => {
      await host.write('agents/wrong/AGENT.md', '---\nname: [\n---\n');
      await until('the broken agent', async () => (await get('/', BROWSER)).text.includes('badge broken'));
    });

    it('shows what runs', async () => {
      let finish: () => void = () => {};
      host.model.will({
        content: 'done',
        after: new Promise<void>((resolve) => {
          finish = resolve;
        }),
      });
      const outcome = host.say('helper', 'take your time');
      await until('the model call', () => host.model.requests.length === 1);
      const { text } = await get('/', BROWSER);
      finish();
      await outcome;
      expect(text).to.match(/<li><span class="name">helper<\/span> .+, \d+ s <code>[0-9a-f-]{36}<\/code><\/li>/);
    });

    it('escapes every text and needs neither inline script nor inline style', async () => {
      const page = await get('/', BROWSER);
      expect(page.text).to.include('Helps &lt;b&gt;everybody&lt;/b&gt;');
      expect(page.text).not.to.match(/<script|<style|\sstyle=|\son\w+=|javascript:/i);
      expect(page.headers['content-security-policy']).to.include("default-src 'self'");
      const style = await get('/system.css');
      expect(style.headers['content-type']).to.equal('text/css; charset=utf-8');
      expect(style.text).to.include('body {');
    });

    it('links only to what is served', async () => {
      expect((await get('/', BROWSER)).text)
        .to.include('href="/swagger-ui"')
        .and.include('href="/v3/api-docs"');
      await host.kernel.unload('openapi');
      expect((await get('/', BROWSER)).text)
        .not.to.include('/swagger-ui')
        .and.not.include('/v3/api-docs');
      const docs = defineRoute({ name: 'GET /v3/api-docs', summary: '', kind: 'read', handle: () => ({}) });
      await host.kernel.load(definePlugin({ name: 'docs', setup: (ctx) => void ctx.register('route', docs) }));
      const { text } = await get('/', BROWSER);
      expect(text).to.include('href="/v3/api-docs"').and.not.include('/swagger-ui').and.not.include('/admin/');
    });
  });

  describe('server.json', () => {
    const file = () => join(host.root, 'server.json');

    it('says who owns the workspace and where, to its user only', async () => {
      const record = JSON.parse(await readFile(file(), 'utf8'));
      expect(record).to.deep.include({ pid: process.pid, host: hostname(), url: host.url, version: packageVersion, kind: 'serve' });
      expect(new Date(record.startedAt).toISOString()).to.equal(record.startedAt);
      expect((await stat(file())).mode & 0o777).to.equal(0o600);
    });

    it('is gone when the server has stopped', async () => {
      await host.kernel.unload('system');
      expect(await readFile(file(), 'utf8').catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
    });

    it('of another server is left alone', async () => {
      const other = '{"pid":1,"url":"http://127.0.0.1:1"}';
      await writeFile(file(), other);
      await host.kernel.unload('system');
      expect(await readFile(file(), 'utf8')).to.equal(other);
    });

    it('that somebody removed does not keep the server from stopping', async () => {
      const { rm } = await import('node:fs/promises');
      await rm(file());
      await host.kernel.unload('system');
    });
  });
});

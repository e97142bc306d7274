import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { PluginView } from '../../../plugins/loader/contract.ts';
import { startServer } from '../../durable/server-process.ts';
import { isBuilt, nodeArguments } from '../../examples/installed-oryxos.ts';
import { request } from '../../harness/http-client.ts';
import { until } from '../../harness/index.ts';
import { pluginCode, pluginFiles, pluginsYaml } from './plugin-files.ts';

const WAYS: Readonly<Record<string, readonly [setup: string, extra?: string]>> = {
  'a timer that throws': [`const t = setInterval(() => { throw new Error('stray'); }, 5); ctx.own('timer', () => clearInterval(t));`],
  'a promise that nobody waits for': [`void (async () => { await null; throw new Error('stray'); })();`],
  'a socket without a listener for errors': [`const { connect } = await import('node:net'); connect(1, '127.0.0.1');`],
  'something that a route began': [
    `ctx.register('route', defineRoute({ name: 'POST /api/v1/px', summary: '', kind: 'write', handle: () => { setTimeout(() => { throw new Error('stray'); }, 1); return 1; } }));`,
  ],
};

describe('a failure outside of every call', () => {
  for (const [way, [setup]] of Object.entries(WAYS)) {
    it(`(${way}) unloads the plugin that it came from; the server and the others go on`, async () => {
      const home = await mkdtemp(join(tmpdir(), 'oryxos-stray-'));
      const files = {
        ...pluginFiles('px', pluginCode('px', setup)),
        ...pluginFiles('good', pluginCode('good', '')),
        'application.yml': pluginsYaml({ px: {}, good: {} }),
      };
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(home, 'workspace', path)), { recursive: true });
        await writeFile(join(home, 'workspace', path), text);
      }
      try {
        await using server = await startServer(home, 'http://127.0.0.1:9');
        if (way.includes('route')) await request(server.url, 'POST', '/api/v1/px');
        const view = async (name: string): Promise<PluginView | undefined> => {
          const { data } = await request(server.url, 'GET', '/api/v1/plugins');
          return (data as readonly PluginView[]).find((each) => each.name === name);
        };
        const failed = await until('px to fail', async () => {
          const px = await view('px');
          return px?.state === 'failed' ? px : undefined;
        });
        expect(failed.error).to.match(/"px" failed outside of any call and was unloaded: (stray|connect ECONNREFUSED)/);
        expect(failed.effects).to.deep.equal([]);
        expect(await view('good')).to.include({ state: 'active' });
        await writeFile(join(home, 'workspace/plugins/px/index.js'), pluginCode('px', ''));
        expect((await request(server.url, 'POST', '/api/v1/plugins/px/retry')).data).to.include({ state: 'active', error: null });
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    });
  }
});

describe('a failure that no plugin caused', () => {
  for (const how of ['throw new Error("mine")', 'void Promise.reject(new Error("mine"))']) {
    it(`(${how}) ends the process as ever`, async () => {
      const strays = new URL(`../../../plugins/loader/strays.${isBuilt ? 'js' : 'ts'}`, import.meta.url).href;
      const script = `const { Strays } = await import(${JSON.stringify(strays)});
        new Strays(() => console.log('told')).knows('px', 'file:///px');
        setTimeout(() => { ${how}; }, 1);
        setTimeout(() => console.log('still here'), 1000);`;
      const ended = promisify(execFile)(process.execPath, [...nodeArguments, '--input-type=module', '--eval', script]);
      const error = await ended.catch((thrown: { readonly code: number; readonly stdout: string; readonly stderr: string }) => thrown);
      expect(error).to.have.property('code').that.is.greaterThan(0);
      expect(error.stdout).to.equal('');
      expect(error.stderr).to.include('Error: mine');
    });
  }
});

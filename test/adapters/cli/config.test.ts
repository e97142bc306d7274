import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { settingsOnDisk } from '../../../config/without-server.ts';
import { startHost } from '../../harness/index.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const terminalOf = (env: Readonly<Record<string, string>> = {}): Promise<Terminal> =>
  openTerminal({ env, settings: async ({ root, config }) => settingsOnDisk(root, config, root, env) });

describe('oryxos config show', function () {
  this.timeout(20_000);
  it('says what is in effect and where each value comes from, without starting anything', async () => {
    await using terminal = await terminalOf({ ORYXOS_MAX_RUNS: '5' });
    await mkdir(terminal.root, { recursive: true });
    await writeFile(join(terminal.root, 'application.yml'), 'server: {port: 9001}\n');
    expect(await terminal.run('config', 'show', 'server')).to.equal(0);
    expect(terminal.stdout()).to.contain(`server.port           9001       file ${join(terminal.root, 'application.yml')}\n`);
    expect(terminal.stdout()).to.match(/server\.host +127\.0\.0\.1 +default\n/);
    expect(await terminal.run('config', 'show', 'oryxos.max_runs')).to.equal(0);
    expect(terminal.stdout()).to.match(/oryxos\.max-runs +5 +environment ORYXOS_MAX_RUNS\n/);
    expect(terminal.started).to.deep.equal([]);
  });

  it('masks secrets, in the text and as JSON', async () => {
    await using terminal = await terminalOf();
    await writeFile(
      join(terminal.cwd, 'c.yml'),
      'oryxos: {providers: [{name: p, api-key: sk-secret-1234, base-url: "http://u:pass1234@h"}]}\n',
    );
    expect(await terminal.run('config', 'show', '--config', 'c.yml')).to.equal(0);
    expect(await terminal.run('config', 'show', 'oryxos.providers', '--json', '--config', 'c.yml')).to.equal(0);
    expect(terminal.stdout()).to.contain('****1234').and.not.contain('sk-secret').and.not.contain('pass1234');
  });

  it('asks the running server', async () => {
    await using host = await startHost({ config: { 'oryxos.max-runs': 7 } });
    await using terminal = await terminalOf();
    expect(await terminal.run('config', 'show', 'oryxos.max-runs', '--json', '--root', host.root)).to.equal(0);
    expect(JSON.parse(terminal.stdout())).to.deep.equal([{ key: 'oryxos.max-runs', value: 7, origin: 'flag' }]);
  });

  it('ends with 1 for an unknown key and for a configuration that is not valid', async () => {
    await using terminal = await terminalOf();
    expect(await terminal.run('config', 'show', 'sever')).to.equal(1);
    await writeFile(join(terminal.cwd, 'c.yml'), 'sever: {port: 1}\n');
    expect(await terminal.run('config', 'show', '--config', 'c.yml')).to.equal(1);
    expect(terminal.stderr()).to.contain('unknown key "sever');
  });
});

import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { restoreWorkspace } from '../../../config/without-server.ts';
import { systemClock } from '../../../kernel/index.ts';
import { startHost } from '../../harness/index.ts';
import { hostAt, openTerminal, type Terminal } from './terminal.ts';

describe('oryxos backup and restore', function () {
  this.timeout(20_000);
  let home: string;
  let terminal: Terminal;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'oryxos-home-'));
    terminal = await openTerminal({
      restore: (options) => restoreWorkspace(options, systemClock()),
      startHost: async ({ root }) => {
        const host = await startHost({ home: dirname(root), mode: 'embedded' });
        return hostAt(host.url, root, () => void host.stop());
      },
    });
  });
  afterEach(async () => {
    await terminal[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  });

  it('go through the running server, and back to a workspace that starts', async () => {
    await using host = await startHost();
    await host.tell('web:ann:default', 'default', 'remember me');
    expect(await terminal.run('backup', '--root', host.root, '--out', 'b.tar')).to.equal(0);
    const file = join(terminal.cwd, 'b.tar');
    expect(terminal.stdout()).to.match(new RegExp(`^Backed up \\d+ files to ${file} \\(\\d+ KiB\\), verified\\.\n`));
    expect(terminal.stdout()).to.contain(`keep a copy of ${join(host.root, 'master.key')} apart`);
    expect(await readdir(join(host.root, 'backups'))).to.deep.equal([]);

    expect(await terminal.run('restore', 'b.tar', '--into', join(home, 'workspace'))).to.equal(0);
    expect(terminal.stdout())
      .to.contain(`to ${join(home, 'workspace')}.\n`)
      .and.not.contain('ORYXOS_MASTER_KEY');
    await using restored = await startHost({ home });
    expect((await restored.rows('messages')).map(({ content }) => content)).to.include('remember me');
  });

  it('open the workspace themselves without a server; the file stays in backups by default', async () => {
    await (await startHost({ home })).stop();
    const root = join(home, 'workspace');
    expect(await terminal.run('backup', '--json', '--with-key', '--root', root)).to.equal(0);
    const made = JSON.parse(terminal.stdout()) as { readonly path: string; readonly withKey: boolean };
    expect(made.withKey).to.equal(true);
    expect(dirname(made.path)).to.equal(join(root, 'backups'));
    expect(terminal.started.map(({ mode }) => mode)).to.deep.equal(['embedded']);
  });

  it('never write over a file; a directory takes the file under its own name', async () => {
    await using host = await startHost();
    await writeFile(join(terminal.cwd, 'there.tar'), 'mine');
    expect(await terminal.run('backup', '--root', host.root, '--out', 'there.tar')).to.equal(1);
    expect(await readFile(join(terminal.cwd, 'there.tar'), 'utf8')).to.equal('mine');
    expect(existsSync(join(host.root, 'backups'))).to.equal(false);
    expect(await terminal.run('backup', '--root', host.root, '--out', home)).to.equal(0);
    expect((await readdir(home))[0]).to.match(/-workspace\.tar$/);
  });

  it('refuse a workspace in use, one that is there, and what is no backup', async () => {
    await using host = await startHost();
    await terminal.run('backup', '--root', host.root, '--out', 'b.tar');
    expect(await terminal.run('restore', 'b.tar', '--root', host.root, '--force')).to.equal(1);
    expect(terminal.stderr()).to.contain(`in use by the server with pid ${process.pid}`);
    expect(await terminal.run('restore', 'b.tar')).to.equal(0);
    expect(await terminal.run('restore', 'b.tar')).to.equal(1);
    expect(terminal.stderr()).to.contain('--force');
    expect(await terminal.run('restore', 'b.tar', '--force', '--json')).to.equal(0);
    expect(terminal.stdout()).to.contain('.oryxos.before-restore-');
    await writeFile(join(terminal.cwd, 'text.tar'), 'text');
    expect(await terminal.run('restore', 'text.tar', '--into', 'new')).to.equal(1);
    expect(terminal.stderr()).to.contain('not a sound backup');
    expect(existsSync(join(terminal.cwd, 'new'))).to.equal(false);
    expect(await terminal.run('restore', 'none.tar', '--into', 'new')).to.equal(1);
    expect(await terminal.run('restore')).to.equal(2);
  });

  it('say that the key is needed when secrets were stored and it is not in the backup', async () => {
    await using host = await startHost();
    await host.request('POST', '/api/v1/providers', { name: 'p1', baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-1234567890' });
    await terminal.run('backup', '--root', host.root, '--out', 'b.tar');
    await terminal.run('restore', 'b.tar', '--into', 'new');
    expect(terminal.stdout())
      .to.contain(`put your copy into ${join(terminal.cwd, 'new/master.key')}`)
      .and.contain('ORYXOS_MASTER_KEY');
  });
});

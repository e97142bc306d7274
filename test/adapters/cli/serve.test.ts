import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { conflict } from '../../../kernel/index.ts';
import type { RunningHost } from '../../../adapters/cli/index.ts';
import { hostAt, openTerminal } from './terminal.ts';

const forever = new Promise<never>(() => {});

describe('oryxos serve', () => {
  it('creates a missing workspace, says where it is and what to type next, and ends with 0 at a signal', async () => {
    await using terminal = await openTerminal({
      startHost: async ({ root }) => ({ ...hostAt('http://127.0.0.1:8080', root), warnings: ['no shell isolation'] }),
    });
    const end = terminal.run('serve');
    await terminal.until('Ctrl-C stops the server.');
    expect(existsSync(terminal.root)).to.equal(true);
    for (const text of [
      'OryxOS 1.2.3',
      'http://127.0.0.1:8080',
      terminal.root,
      'default (mock)',
      'no shell isolation',
      '  oryxos chat\n',
      'curl http://',
    ]) {
      expect(terminal.stdout()).to.contain(text);
    }
    terminal.signal('SIGTERM');
    expect(await end).to.equal(0);
    expect(terminal.closed()).to.equal(1);
  });

  it('suggests what works: an agent that is valid, this workspace, and npx in a clone', async () => {
    const agents = [
      { name: 'bad', provider: null, status: 'broken' as const },
      { name: 'ops', provider: 'mock', status: 'ok' as const },
    ];
    await using terminal = await openTerminal({
      env: { npm_lifecycle_event: 'start' },
      startHost: async () => ({ ...hostAt('http://x', '/srv/agents'), agents }),
    });
    const end = terminal.run('serve');
    await terminal.until('Ctrl-C');
    terminal.signal('SIGINT');
    await end;
    expect(terminal.stdout()).to.contain('bad (broken), ops (mock)').and.to.contain('  npx oryxos chat --profile ops --root /srv/agents\n');
  });

  it('hands port, host and configuration on', async () => {
    await using terminal = await openTerminal({ startHost: async () => hostAt('http://x') });
    const end = terminal.run('serve', '--port', '0', '--host', '0.0.0.0');
    await terminal.until('Ctrl-C');
    terminal.signal('SIGINT');
    await end;
    expect(terminal.started).to.deep.equal([{ root: terminal.root, mode: 'serve', port: 0, host: '0.0.0.0' }]);
  });

  it('is called gateway too, and honours the configured port unless told otherwise', async () => {
    await using terminal = await openTerminal({ startHost: async () => hostAt('http://x') });
    for (const argv of [['gateway'], ['gateway', '--port', '9000']]) {
      const end = terminal.run(...argv);
      while (terminal.started.length < (argv.length > 1 ? 2 : 1)) await new Promise((resolve) => setImmediate(resolve));
      terminal.signal('SIGINT');
      expect(await end).to.equal(0);
    }
    const mode = 'serve';
    expect(terminal.started).to.deep.equal([
      { root: terminal.root, mode },
      { root: terminal.root, mode, port: 9000 },
    ]);
  });

  it('ends with 1 at once when a second signal comes, but takes an echo of the first for none', async () => {
    let now = 0;
    const slow: RunningHost = { ...hostAt('http://x'), close: () => forever };
    await using terminal = await openTerminal({ startHost: async () => slow, monotonic: () => now });
    let code: number | undefined;
    const end = terminal.run('serve').then((ended) => (code = ended));
    await terminal.until('Ctrl-C');
    terminal.signal('SIGINT');
    now = 20;
    terminal.signal('SIGINT');
    await new Promise((resolve) => setImmediate(resolve));
    expect(code).to.equal(undefined);
    now = 2_000;
    terminal.signal('SIGINT');
    expect(await end).to.equal(1);
  });

  it('stops after the start when the signal came during it', async () => {
    let finish: (host: RunningHost) => void = () => {};
    await using terminal = await openTerminal({ startHost: () => new Promise((resolve) => (finish = resolve)) });
    const end = terminal.run('serve');
    while (terminal.started.length === 0) await new Promise((resolve) => setImmediate(resolve));
    terminal.signal('SIGINT');
    finish(hostAt('http://x'));
    expect(await end).to.equal(0);
    expect(terminal.closed()).to.equal(1);
  });

  it('prints one line and ends with 1 when the start fails', async () => {
    await using terminal = await openTerminal({
      startHost: () => Promise.reject(conflict('pid 7 on this machine serves it at http://127.0.0.1:8080')),
    });
    expect(await terminal.run('serve')).to.equal(1);
    expect(terminal.stderr()).to.equal('Error: pid 7 on this machine serves it at http://127.0.0.1:8080\n');
  });
});

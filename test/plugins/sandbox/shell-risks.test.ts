import { expect } from 'chai';
import { confinement } from '../../../plugins/sandbox/confinement.ts';
import { isProgramName } from '../../../plugins/sandbox/program-name.ts';
import { risksOf } from '../../../plugins/sandbox/shell-risks.ts';

describe('the risks of the shell whitelist', () => {
  it('mark interpreters, with or without version and path, and programs that start others', () => {
    const risky = [
      'sh',
      'bash',
      'python3',
      'python3.11',
      '/usr/bin/perl',
      'node',
      'awk',
      'sed',
      'env',
      'xargs',
      'timeout',
      'find',
      'git',
      'tar',
      'ssh',
      'sudo',
      'docker',
      'busybox',
    ];
    expect(risksOf(risky)).to.deep.equal(risky.map((entry) => ({ entry, risk: 'interpreter/wrapper' })));
  });

  it('leave plain programs alone', () => {
    expect(risksOf(['ls', 'cat', 'echo', 'grep', 'wc', 'head', 'nodes', 'shasum', '/opt/envy'])).to.deep.equal([]);
  });
});

describe('the name of a program', () => {
  it('has no path, no blank, no leading dash and nothing that is not ASCII', () => {
    for (const name of ['ls', 'g++', '7z', 'python3.11', '_x', 'a-b', '[.'.slice(1) + 'x'])
      expect(isProgramName(name), name).to.equal(true);
    for (const name of ['', '.', '..', '-c', '--x', 'a/b', './ls', 'ls ', ' ls', 'ls\n', 'ls;id', 'ｌs', 'ls\u200b', 'A=1']) {
      expect(isProgramName(name), JSON.stringify(name)).to.equal(false);
    }
  });
});

describe('the confinement of programs', () => {
  const view = (protect: boolean) => confinement(() => ['/srv/ws', '/srv/docs'], '/srv/ws', protect).view('a1');

  it('hides what tools may never read, and keeps definitions from being written', () => {
    const { protection, writable } = view(true);
    expect(writable).to.deep.equal(['/srv/ws', '/srv/docs']);
    for (const name of ['master.key', 'oryxos.db-wal', 'logs', 'application.yml'])
      expect(protection(`/srv/ws/${name}`), name).to.equal('hidden');
    for (const name of ['SOUL.md', 'skills', 'agents/a2', 'agents/*', 'agents/a1/AGENT.md'])
      expect(protection(`/srv/ws/${name}`), name).to.equal('read-only');
    for (const name of ['knowledge', 'agents', 'agents/a1', 'agents/a1/output'])
      expect(protection(`/srv/ws/${name}`), name).to.equal(undefined);
  });

  it('hides the same and forbids no writing without file.protect', () => {
    const { protection } = view(false);
    expect(protection('/srv/ws/master.key')).to.equal('hidden');
    expect(protection('/srv/ws/agents/a1/AGENT.md')).to.equal(undefined);
  });
});

import { expect } from 'chai';
import * as fc from 'fast-check';
import { judgeFile, judgeOther } from '../../../plugins/sandbox/judge.ts';
import type { Rules } from '../../../plugins/sandbox/judge.ts';

const root = '/srv/ws';
const rules: Rules = {
  root,
  protect: true,
  lists: {
    file: [root, '/srv/docs', '/srv/one.txt'],
    shell: ['ls', '/opt/run'],
    http: ['api.example.com', '*.example.org', 'h.test:8443'],
  },
};

const file = (real: string, access: 'read' | 'write' = 'read', given = real, changed: Partial<Rules> = {}) =>
  judgeFile({ given, real, access }, 'a1', { ...rules, ...changed });

describe('the verdict on a file', () => {
  const allowed: readonly string[] = [
    '/srv/docs',
    '/srv/docs/a/b.txt',
    '/srv/docs/..dots',
    '/srv/one.txt',
    root,
    `${root}/agents/a1/output/x`,
    `${root}/output/x`,
    `${root}/agents`,
  ];
  for (const path of allowed) {
    it(`lets ${path} be read and written`, () => {
      expect(file(path)).to.equal(undefined);
      expect(file(path, 'write')).to.equal(undefined);
    });
  }

  const refused = ['/', '/srv', '/srv/docs-evil/x', '/srv/doc', '/srv/one.txt.bak', '/srv/ws-evil', '/etc/passwd', '/SRV/docs/a'];
  for (const path of refused) {
    it(`refuses ${path}, naming the path, the list and what would be added`, () => {
      const refusal = file(path);
      expect(refusal?.blockedBy).to.equal('sandbox');
      expect(refusal?.message).to.include(`"${path}" is not on the file whitelist`).and.to.include('POST /api/v1/sandbox/whitelist/file');
    });
  }

  it('allows nothing with an empty list', () => {
    expect(file('/srv/docs/a', 'read', '/srv/docs/a', { lists: { file: [], shell: [], http: [] } })).to.not.equal(undefined);
  });

  it('never allows /proc, /sys and /dev, whatever is listed and however they are reached', () => {
    const open = { lists: { ...rules.lists, file: ['/'] } };
    for (const path of ['/proc/self/environ', '/sys/kernel', '/dev/null', '/dev', '/proc']) {
      expect(file(path, 'read', path, open)?.message, path).to.include('never on the file whitelist');
      expect(file(path, 'read', 'link', open)?.message, `link to ${path}`).to.include('never on the file whitelist');
    }
    expect(file('/srv/x', 'read', '/proc/self/root/srv/x', open)?.message).to.include('never on the file whitelist');
    expect(file('/srv/x', 'read', '/tmp/../proc/self/root/srv/x', open)?.message).to.include('never on the file whitelist');
    expect(file('/devices/x', 'read', '/devices/x', open)).to.equal(undefined);
    expect(file(`${root}/agents/a1/proc/x`, 'read', 'proc/x', open)).to.equal(undefined);
  });

  it('names the path as it was given, on one line and not endlessly', () => {
    expect(file('/etc/passwd', 'read', 'ln\nFAKE\u202e')?.message).to.match(/^"ln\\u000aFAKE\\u202e" is not on/);
    expect(file('/etc/passwd', 'read', 'x'.repeat(5000))?.message.length).to.be.lessThan(600);
  });

  const never = [
    'oryxos.db',
    'oryxos.db-wal',
    'oryxos.db-shm',
    'oryxos.db.bak',
    'oryxos.lock',
    'oryxos.lock-journal',
    'server.json',
    'master.key',
    'application.yml',
    'mcp_servers.yaml',
    '.instance',
    'logs',
    'logs/oryxos.log',
    'backups',
    'backups/x/y',
    '.master.key.12-ab.tmp',
    'Master.Key',
    'ORYXOS.DB',
    'LOGS/x',
    'ma\u017fter.key',
    'Backup\u017f/x',
  ];
  for (const name of never) {
    it(`never lets tools read or write <root>/${name}, not even unprotected or listed by itself`, () => {
      for (const access of ['read', 'write'] as const) {
        const refusal = file(`${root}/${name}`, access, name, {
          protect: false,
          lists: { ...rules.lists, file: ['/', `${root}/${name}`] },
        });
        expect(refusal?.message).to.include('is protected').and.to.include('whitelist');
      }
    });
  }

  const written = [
    'AGENTS.md',
    'SOUL.md',
    'USER.md',
    'skills',
    'skills/s/SKILL.md',
    'plugins/p/index.js',
    'Skills/x',
    'soul.MD',
    'agents/a1/AGENT.md',
    'agents/a1/agent.md',
    'agents/new/AGENT.md',
    'agents/a2/output/x',
    'agents/a2',
    'agents/A1/x',
    'agents/a1x/y',
  ];
  for (const name of written) {
    it(`lets tools read <root>/${name} but not write it, unless file.protect is off`, () => {
      expect(file(`${root}/${name}`, 'read')).to.equal(undefined);
      expect(file(`${root}/${name}`, 'write')?.message)
        .to.include('is protected')
        .and.to.include('file.protect')
        .and.to.include('whitelist');
      expect(file(`${root}/${name}`, 'write', name, { protect: false })).to.equal(undefined);
    });
  }

  it('protects names where they count and nowhere else', () => {
    for (const name of [
      'agents/a1/master.key',
      'agents/a1/logs/x',
      'agents/a1/sub/AGENT.md',
      'agents/a1/AGENT.md.bak',
      'agents/a1/skills/x',
      'agents/a1/MEMORY.md',
      'memory/MEMORY.md',
      'backups2/x',
      'logs.txt',
      'knowledge/kb/a.md',
    ]) {
      expect(file(`${root}/${name}`, 'write'), name).to.equal(undefined);
    }
    expect(file('/srv/docs/master.key')).to.equal(undefined);
  });

  it('refuses whatever is not below an entry, for random paths', () => {
    const segment = fc.constantFrom('srv', 'docs', 'docs-evil', 'ws', 'one.txt', 'a', 'agents', 'a1', 'Docs');
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), (segments) => {
        const path = `/${segments.join('/')}`;
        const below = rules.lists.file.some((entry) => `${path}/`.startsWith(`${entry}/`));
        if (file(path) === undefined) expect(below).to.equal(true);
        if (!below) expect(file(path)).to.not.equal(undefined);
      }),
    );
  });
});

describe('the verdict on a command', () => {
  const command = (value: string) => judgeOther({ kind: 'command', value }, rules);

  it('allows exactly what is listed', () => {
    expect(command('ls')).to.equal(undefined);
    expect(command('/opt/run')).to.equal(undefined);
    for (const value of ['', 'LS', 'ls ', './ls', '/bin/ls', 'ls -l', 'run', 'sh']) {
      expect(command(value)?.message, value).to.include('is not on the shell whitelist').and.to.include('whitelist/shell');
    }
  });
});

describe('the verdict on anything else', () => {
  it('is no', () => {
    for (const kind of ['database', 'File', '', 'constructor', '__proto__']) {
      expect(judgeOther({ kind, value: 'x' }, rules)).to.deep.include({ blockedBy: 'sandbox' });
    }
  });
});

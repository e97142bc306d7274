import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { refuse, startApiServer } from './api-server.ts';
import type { ApiServer } from './api-server.ts';
import { eventually, hostAt, openTerminal } from './terminal.ts';
import type { Terminal, TerminalOptions } from './terminal.ts';

const ops = {
  name: 'ops',
  description: 'Looks after servers',
  provider: 'deepseek',
  model: 'chat',
  tools: ['read_file', 'fly', 'wiki:*'],
  skills: [],
  schedules: [{ key: 'daily', cron: '0 0 9 * * *', zone: 'UTC' }],
  status: 'ok',
  error: null,
  warnings: ['agents/ops/AGENT.md:7:3: unknown tool "fly"'],
  version: 'v1',
};
const broken = {
  name: 'bad',
  status: 'broken',
  description: null,
  provider: null,
  model: null,
  tools: [],
  skills: [],
  schedules: [],
  warnings: [],
  version: null,
  error: { message: 'provider is missing; add provider.name', file: 'agents/bad/AGENT.md', line: 3, column: 1 },
};

async function running(options: TerminalOptions = {}): Promise<{ server: ApiServer; terminal: Terminal } & AsyncDisposable> {
  const server = await startApiServer();
  const terminal = await openTerminal(options);
  await terminal.withServer(server.url);
  const stop = async (): Promise<void> => {
    await server.close();
    await terminal[Symbol.asyncDispose]();
  };
  return { server, terminal, [Symbol.asyncDispose]: stop };
}

describe('the way of a command to a workspace', () => {
  it('talks to the server that runs there', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/tools', () => [{ name: 'read_file', description: 'Reads' }]);
    expect(await it.terminal.run('tool', 'list')).to.equal(0);
    expect(it.terminal.stdout()).to.equal('NAME       DESCRIPTION\nread_file  Reads\n');
    expect(it.terminal.started).to.deep.equal([]);
  });

  it('opens the workspace itself when no server runs, and closes it also after a failure', async () => {
    await using server = await startApiServer();
    await using terminal = await openTerminal({ startHost: async () => hostAt(server.url) });
    await terminal.run('init');
    server.on('GET /api/v1/tools', () => []);
    expect(await terminal.run('tool', 'list', '--json')).to.equal(0);
    expect(terminal.stdout()).to.contain('[]\n');
    expect(await terminal.run('run', 'list')).to.equal(1);
    expect(terminal.started).to.deep.equal([0, 1].map(() => ({ root: terminal.root, mode: 'embedded' })));
    expect(terminal.closed()).to.equal(2);
  });

  it('does not believe what a killed server left behind', async () => {
    await using server = await startApiServer();
    await using terminal = await openTerminal({ startHost: async () => hostAt(server.url) });
    await terminal.withServer('http://127.0.0.1:1');
    server.on('GET /api/v1/tools', () => []);
    expect(await terminal.run('tool', 'list')).to.equal(0);
    await writeFile(join(terminal.root, 'server.json'), '{"pid": 12');
    expect(await terminal.run('tool', 'list')).to.equal(0);
    expect(terminal.started).to.have.length(2);
  });

  it('does not talk to the server of another workspace that has taken the port of a dead one', async () => {
    await using server = await startApiServer();
    await using other = await startApiServer();
    await using terminal = await openTerminal({ startHost: async () => hostAt(server.url) });
    await terminal.withServer(other.url);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    await writeFile(join(terminal.root, 'server.json'), JSON.stringify({ pid, url: other.url }));
    server.on('GET /api/v1/tools', () => []);
    expect(await terminal.run('tool', 'list')).to.equal(0);
    expect(other.seen).to.deep.equal([]);
  });

  it('reaches a server on every address over loopback', async () => {
    await using it = await running();
    await it.terminal.withServer(it.server.url.replace('127.0.0.1', '0.0.0.0'));
    it.server.on('GET /api/v1/tools', () => []);
    expect(await it.terminal.run('tool', 'list')).to.equal(0);
    expect(it.server.asked('GET /api/v1/tools')[0]?.headers.host).to.match(/^127\.0\.0\.1:/);
  });

  it('finds the root by flag, then by environment, then by configuration, then here', async () => {
    await using terminal = await openTerminal({ env: { ORYXOS_ROOT: 'by-env' } });
    await terminal.run('init');
    await terminal.run('init', '--root', 'by-flag');
    expect(terminal.stdout()).to.contain(join(terminal.cwd, 'by-env')).and.to.contain(join(terminal.cwd, 'by-flag'));

    await using plain = await openTerminal();
    await writeFile(join(plain.cwd, 'c.yml'), '');
    const host = { ...plain.host, configuredRoot: async (file: string) => `${file}.root` };
    const { runCli } = await import('../../../adapters/cli/index.ts');
    await runCli(['init', '--config', 'c.yml'], host);
    expect(plain.stdout()).to.contain(join(plain.cwd, 'c.yml.root'));
    expect(await plain.run('init', '--config', 'none.yml')).to.equal(1);
  });
});

describe('oryxos init', () => {
  it('says what it created', async () => {
    await using terminal = await openTerminal();
    expect(await terminal.run('init')).to.equal(0);
    expect(terminal.stdout()).to.contain(`Created in ${terminal.root}:\n  agents/default/AGENT.md\n`);
  });
});

describe('oryxos status', () => {
  it('starts nothing and tells what is on disk', async () => {
    await using terminal = await openTerminal();
    await terminal.run('status');
    expect(terminal.stdout()).to.contain('not there yet').and.to.contain('not running');
    await terminal.run('init');
    await writeFile(join(terminal.root, 'agents', 'note.txt'), '');
    await writeFile(join(terminal.root, 'oryxos.db'), 'x');
    expect(await terminal.run('status', '--json')).to.equal(0);
    const status = JSON.parse(terminal.stdout().slice(terminal.stdout().indexOf('{'))) as object;
    expect(status).to.deep.include({ initialised: true, databaseBytes: 1, server: null, agents: { total: 1, stale: null, broken: null } });
    expect(terminal.started).to.deep.equal([]);
  });

  it('asks the running server for the state of its agents', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/info', () => ({ application: 'oryxos', version: '9.9', providers: [], warnings: ['no shell isolation'] }));
    it.server.on('GET /api/v1/agents', () => [ops, broken]);
    expect(await it.terminal.run('status')).to.equal(0);
    expect(it.terminal.stdout()).to.contain(`${it.server.url}, version 9.9, pid ${process.pid}`);
    expect(it.terminal.stdout()).to.contain('1 ok, 1 broken').and.to.contain('no shell isolation');
  });
});

describe('oryxos provider', () => {
  it('lists providers with masked keys', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/providers', () => [{ name: 'mock', apiKey: null, baseUrl: null, description: 'built in' }]);
    expect(await it.terminal.run('provider', 'list')).to.equal(0);
    expect(it.terminal.stdout()).to.contain('mock  -    -    built in');
  });

  it('adds one with a key from standard input, or from the environment', async () => {
    await using it = await running({ env: { MY_KEY: 'sk-2' } });
    it.server.on('POST /api/v1/providers', ({ body }) => ({ ...(body as object), apiKey: '****' }));
    it.terminal.type('sk-1\n');
    it.terminal.endInput();
    const url = 'https://api.example.com';
    expect(await it.terminal.run('provider', 'add', 'p1', '--base-url', url, '--key-stdin')).to.equal(0);
    expect(await it.terminal.run('provider', 'add', 'p2', '--base-url', url, '--key-env', 'MY_KEY', '--description', 'd')).to.equal(0);
    expect(await it.terminal.run('provider', 'add', 'p3', '--base-url', url)).to.equal(0);
    expect(it.server.asked('POST /api/v1/providers').map(({ body }) => body)).to.deep.equal([
      { name: 'p1', baseUrl: url, apiKey: 'sk-1' },
      { name: 'p2', baseUrl: url, apiKey: 'sk-2', description: 'd' },
      { name: 'p3', baseUrl: url },
    ]);
    expect(it.terminal.stdout()).to.not.contain('sk-');
  });

  it('refuses to add one without a URL, or with a key that is not there', async () => {
    await using it = await running();
    expect(await it.terminal.run('provider', 'add', 'p1')).to.equal(2);
    expect(await it.terminal.run('provider', 'add', 'p1', '--base-url', 'http://x', '--key-env', 'NO_KEY')).to.equal(1);
    expect(it.terminal.stderr()).to.contain('The environment variable NO_KEY is not set.');
    expect(it.server.asked('POST /api/v1/providers')).to.deep.equal([]);
  });

  it('asks for the key on a terminal and does not show it', async () => {
    await using it = await running({ isTTY: true });
    it.server.on('POST /api/v1/providers', ({ body }) => body);
    const done = it.terminal.run('provider', 'add', 'p1', '--base-url', 'http://x');
    await it.terminal.until('API key');
    it.terminal.type('sk-hidden\r');
    expect(await done).to.equal(0);
    expect(it.server.asked('POST /api/v1/providers')[0]?.body).to.include({ apiKey: 'sk-hidden' });
    expect(it.terminal.rawStdout()).to.not.contain('sk-hidden');
  });

  it('tests one, and fails with the reason of the server', async () => {
    await using it = await running();
    it.server.on('POST /api/v1/providers/good/test', () => ({ ok: true, modelCount: 7, sampleModels: ['a', 'b'] }));
    it.server.on('POST /api/v1/providers/bad/test', (_, response) => refuse(response, 503, 'connection refused'));
    expect(await it.terminal.run('provider', 'test', 'good')).to.equal(0);
    expect(it.terminal.stdout()).to.equal('good answers. Models: a, b, … (7 in all)\n');
    expect(await it.terminal.run('provider', 'test', 'bad')).to.equal(1);
    expect(it.terminal.stderr()).to.equal('Error: connection refused\n');
  });
});

describe('oryxos notify', () => {
  const url = 'https://open.example.com/hook/k1';

  it('lists channels without their URLs', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/notify-channels', () => [{ name: 'ops', type: 'feishu', url, description: 'night shift', config: {} }]);
    expect(await it.terminal.run('notify', 'list')).to.equal(0);
    expect(it.terminal.stdout())
      .to.match(/ops +feishu +night shift/)
      .and.to.not.contain('k1');
  });

  it('adds one whose URL comes from standard input, the environment or the command line', async () => {
    await using it = await running({ env: { MY_URL: url, MY_SECRET: 's-2' } });
    it.server.on('POST /api/v1/notify-channels', ({ body }) => body);
    it.terminal.type(`${url}\n`);
    it.terminal.endInput();
    expect(await it.terminal.run('notify', 'add', 'c1', '--type', 'feishu', '--url-stdin', '--description', 'd')).to.equal(0);
    expect(await it.terminal.run('notify', 'add', 'c2', '--type', 'dingtalk', '--url-env', 'MY_URL', '--secret-env', 'MY_SECRET')).to.equal(
      0,
    );
    expect(await it.terminal.run('notify', 'add', 'c3', '--type', 'webhook', '--url', 'http://127.0.0.1/x')).to.equal(0);
    expect(it.server.asked('POST /api/v1/notify-channels').map(({ body }) => body)).to.deep.equal([
      { name: 'c1', type: 'feishu', url, description: 'd' },
      { name: 'c2', type: 'dingtalk', url, config: { secret: 's-2' } },
      { name: 'c3', type: 'webhook', url: 'http://127.0.0.1/x' },
    ]);
    expect(it.terminal.stdout()).to.contain('Next: oryxos notify test c1').and.to.not.contain('k1').and.to.not.contain('s-2');
  });

  it('asks for the URL on a terminal and does not show it', async () => {
    await using it = await running({ isTTY: true });
    it.server.on('POST /api/v1/notify-channels', ({ body }) => body);
    const done = it.terminal.run('notify', 'add', 'c1', '--type', 'wecom');
    await it.terminal.until('URL of the receiver');
    it.terminal.type(`${url}\r`);
    expect(await done).to.equal(0);
    expect(it.server.asked('POST /api/v1/notify-channels')[0]?.body).to.include({ url });
    expect(it.terminal.rawStdout()).to.not.contain('k1');
  });

  it('refuses to add one without a type or a URL, or with two', async () => {
    await using it = await running();
    expect(await it.terminal.run('notify', 'add', 'c1', '--url', url)).to.equal(2);
    expect(await it.terminal.run('notify', 'add', 'c1', '--type', 'webhook')).to.equal(2);
    expect(await it.terminal.run('notify', 'add', 'c1', '--type', 'webhook', '--url', url, '--url-stdin')).to.equal(2);
    expect(it.server.asked('POST /api/v1/notify-channels')).to.deep.equal([]);
  });

  it('tests one: 0 when the receiver took it or will get it, 1 when not', async () => {
    await using it = await running();
    it.server.on('POST /api/v1/notify-channels/good/test', () => ({ id: 1, state: 'delivered' }));
    it.server.on('POST /api/v1/notify-channels/slow/test', () => ({ id: 2, state: 'pending' }));
    it.server.on('POST /api/v1/notify-channels/bad/test', () => ({ id: 3, state: 'failed', error: 'feishu refused it: 19024' }));
    expect(await it.terminal.run('notify', 'test', 'good')).to.equal(0);
    expect(await it.terminal.run('notify', 'test', 'slow')).to.equal(0);
    expect(await it.terminal.run('notify', 'test', 'bad')).to.equal(1);
    expect(it.terminal.stdout()).to.equal(
      'good took the message.\nslow: pending (message 2)\nbad: failed, feishu refused it: 19024 (message 3)\n',
    );
  });

  it('lists the outbox and sends a message again', async () => {
    await using it = await running();
    const message = { id: 7, channel: 'ops', state: 'failed', parts: 3, partsSent: 1, agent: 'a', createdAt: '2026-01-01T00:00:00.000Z' };
    it.server.on('GET /api/v1/notify-outbox', () => [{ ...message, error: 'gone' }]);
    it.server.on('POST /api/v1/notify-outbox/7/resend', () => ({ ...message, state: 'pending' }));
    expect(await it.terminal.run('notify', 'outbox', '--state', 'failed')).to.equal(0);
    expect(it.terminal.stdout()).to.match(/7 +ops +failed +1\/3 +a +2026-01-01T00:00:00.000Z +gone/);
    expect(await it.terminal.run('notify', 'resend', '7')).to.equal(0);
    expect(await it.terminal.run('notify', 'outbox', '--state', 'lost')).to.equal(2);
    expect(await it.terminal.run('notify', 'resend', 'x')).to.equal(2);
    expect(it.server.asked('POST /api/v1/notify-outbox/7/resend')).to.have.length(1);
  });
});

describe('oryxos profile', () => {
  it('lists agents, broken ones too', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/agents', () => [broken, ops]);
    expect(await it.terminal.run('profile', 'list')).to.equal(0);
    expect(it.terminal.stdout())
      .to.match(/bad {3}broken {2}-/)
      .and.to.contain('deepseek');
  });

  it('creates one', async () => {
    await using it = await running();
    it.server.on('POST /api/v1/agents', ({ body }) => ({ ...ops, ...(body as object) }));
    expect(await it.terminal.run('profile', 'create', 'ops', '--model', 'm1')).to.equal(0);
    expect(it.server.asked('POST /api/v1/agents')[0]?.body).to.deep.equal({ name: 'ops', model: 'm1' });
    expect(it.terminal.stdout())
      .to.contain('Created ops on deepseek, model m1.')
      .and.to.contain(join(it.terminal.root, 'agents', 'ops', 'AGENT.md'));
  });

  it('shows the AGENT.md; an unknown agent ends with 1', async () => {
    await using it = await running();
    await mkdir(join(it.terminal.root, 'agents', 'ops'), { recursive: true });
    await writeFile(join(it.terminal.root, 'agents', 'ops', 'AGENT.md'), '---\nname: ops\n---\nBe \u001b[2Jcalm.\n');
    it.server.on('GET /api/v1/agents/ops', () => ops);
    expect(await it.terminal.run('profile', 'show', 'ops')).to.equal(0);
    expect(it.terminal.stdout()).to.equal('---\nname: ops\n---\nBe \\x1b[2Jcalm.\n');
    expect(await it.terminal.run('profile', 'show', 'none')).to.equal(1);
    expect(it.terminal.stderr()).to.match(/^Error: /);
  });

  it('deletes through the server; on a terminal only after a yes', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/agents/ops', () => ops);
    it.server.on('DELETE /api/v1/agents/ops', () => null);
    expect(await it.terminal.run('profile', 'delete', 'ops')).to.equal(0);
    expect(it.server.asked('DELETE /api/v1/agents/ops')).to.have.length(1);

    await using asked = await openTerminal({ isTTY: true });
    await asked.withServer(it.server.url);
    const refused = asked.run('profile', 'delete', 'ops');
    await asked.until('Delete the agent ops? [y/N]');
    asked.type('n\n');
    expect(await refused).to.equal(1);
    const agreed = asked.run('profile', 'delete', 'ops');
    await eventually(
      () => asked.stdout().split('[y/N]').length === 3,
      () => 'the second question',
    );
    asked.type('y\n');
    expect(await agreed).to.equal(0);
    expect(it.server.asked('DELETE /api/v1/agents/ops')).to.have.length(2);
  });

  it('explains what an AGENT.md means, and fails when one is broken', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/tools', () => [{ name: 'read_file', description: '' }]);
    it.server.on('GET /api/v1/agents/ops', () => ops);
    it.server.on('GET /api/v1/agents', () => [broken, ops]);
    expect(await it.terminal.run('profile', 'check', 'ops')).to.equal(0);
    expect(it.terminal.stdout()).to.equal(
      [
        'ops: ok',
        '  provider  deepseek',
        '  model     chat',
        '  tools     read_file, wiki:*',
        '  unknown   fly (no such tool is installed)',
        '  schedule  daily: 0 0 9 * * * in UTC',
        '  warning   agents/ops/AGENT.md:7:3: unknown tool "fly"',
        '',
      ].join('\n'),
    );
    expect(await it.terminal.run('profile', 'check')).to.equal(1);
    expect(it.terminal.stdout()).to.contain('bad: broken\n  error     agents/bad/AGENT.md:3:1: provider is missing; add provider.name\n');
  });
});

describe('oryxos session and run', () => {
  it('list, show, archive and stop', async () => {
    await using it = await running();
    const id = 'web:default:ops';
    it.server.on('GET /api/v1/sessions', ({ path }) =>
      path.includes('archived')
        ? []
        : [{ sessionId: id, profileName: 'ops', status: 'active', messageCount: 2, createdAt: 'c', lastActiveAt: null }],
    );
    it.server.on(`GET /api/v1/sessions/${id}`, () => ({
      sessionId: id,
      profileName: 'ops',
      messages: [
        { role: 'user', content: 'hi', toolName: null, toolCalls: [] },
        { role: 'assistant', content: '', toolName: null, toolCalls: [{ name: 'read_file', argumentsJson: '{}' }] },
        { role: 'tool', content: 'text', toolName: 'read_file', toolCalls: [] },
      ],
    }));
    it.server.on(`DELETE /api/v1/sessions/${id}`, () => ({ archived: true }));
    it.server.on('DELETE /api/v1/runs/t1', () => null);
    expect(await it.terminal.run('session', 'list')).to.equal(0);
    expect(await it.terminal.run('session', 'list', '--status', 'archived')).to.equal(0);
    expect(await it.terminal.run('session', 'show', id)).to.equal(0);
    expect(await it.terminal.run('session', 'archive', id)).to.equal(0);
    expect(await it.terminal.run('run', 'stop', 't1')).to.equal(0);
    expect(it.terminal.stdout()).to.equal(
      [
        'SESSION          AGENT  STATUS  MESSAGES  LAST ACTIVE',
        'web:default:ops  ops    active  2         c',
        'No sessions.',
        'user\nhi\n',
        'assistant\n→ read_file {}\n',
        'tool read_file\ntext\n',
        'Archived web:default:ops.',
        'Stopped t1.',
        '',
      ].join('\n'),
    );
    expect(await it.terminal.run('session', 'list', '--status', 'new')).to.equal(2);
    expect(await it.terminal.run('run', 'stop', 't2')).to.equal(1);
  });
});

describe('what the command line writes', () => {
  it('leaves a workspace that it only reads as it was', async () => {
    await using it = await running();
    it.server.on('GET /api/v1/tools', () => []);
    const before = await readFile(join(it.terminal.root, 'server.json'), 'utf8');
    await it.terminal.run('tool', 'list');
    expect(await readFile(join(it.terminal.root, 'server.json'), 'utf8')).to.equal(before);
  });
});

import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { refuse, sendEvents, startApiServer } from './api-server.ts';
import type { ApiServer } from './api-server.ts';
import { eventually, hostAt, openTerminal } from './terminal.ts';
import type { Terminal, TerminalOptions } from './terminal.ts';

const agent = {
  name: 'default',
  status: 'ok',
  provider: 'mock',
  model: 'mock',
  tools: [],
  skills: [],
  schedules: [],
  warnings: [],
  error: null,
};
const done = (reply: string, stopReason = 'completed'): readonly [string, unknown] => ['done', { reply, traceId: 't1', stopReason }];

interface Chat extends AsyncDisposable {
  readonly server: ApiServer;
  readonly terminal: Terminal;
  /** Contents of the messages that were sent, in order. */
  said(): readonly string[];
}

/** A server with the agent `default` whose runs are scripted by `reply`. */
async function openChat(reply: (content: string, response: ServerResponse) => void, options: TerminalOptions = {}): Promise<Chat> {
  const server = await startApiServer();
  const terminal = await openTerminal(options);
  await terminal.withServer(server.url);
  const said: string[] = [];
  server.on('GET /api/v1/agents', () => [agent]);
  server.on('GET /api/v1/sessions', () => []);
  server.on('POST /api/v1/sessions', ({ body }) => {
    const { userId, profile } = body as { userId: string; profile: string };
    const sessionId = `cli:${userId}:${profile}`;
    server.on(`GET /api/v1/sessions/${sessionId}`, () => ({ sessionId, profileName: profile, messages: [] }));
    server.on(`POST /api/v1/sessions/${sessionId}/messages`, (seen, response) => {
      const { content } = seen.body as { content: string };
      said.push(content);
      response.on('error', () => {});
      response.setHeader('x-trace-id', 't1');
      reply(content, response);
    });
    return { sessionId };
  });
  const close = async (): Promise<void> => {
    await server.close();
    await terminal[Symbol.asyncDispose]();
  };
  return { server, terminal, said: () => said, [Symbol.asyncDispose]: close };
}

const echo = (content: string, response: ServerResponse): void => {
  sendEvents(response, ['trace', { traceId: 't1' }], ['token', { delta: 'You said ' }], ['token', { delta: content }], done(content));
  response.end();
};

describe('oryxos chat with a pipe', () => {
  it('takes each line as a message, in order, skips blank ones, and ends with 0', async () => {
    await using chat = await openChat(echo);
    chat.terminal.type('one\n\n   \ntwo\n');
    chat.terminal.endInput();
    expect(await chat.terminal.run('chat')).to.equal(0);
    expect(chat.said()).to.deep.equal(['one', 'two']);
    expect(chat.terminal.stdout()).to.equal('You said one\nYou said two\n');
    expect(chat.server.asked('POST /api/v1/sessions')[0]?.body).to.deep.equal({ profile: 'default', userId: 'ann', channel: 'cli' });
  });

  it('prints a failed run, goes on, and ends with 1', async () => {
    await using chat = await openChat((content, response) => {
      if (content === 'early') return refuse(response, 429, 'too many wait');
      if (content !== 'late') return echo(content, response);
      sendEvents(response, ['token', { delta: 'Let me' }], ['error', { code: 503, message: 'provider "x" refused' }]);
      return void response.end();
    });
    chat.terminal.type('early\nlate\nfine\n/quit\nnever\n');
    expect(await chat.terminal.run('chat')).to.equal(1);
    expect(chat.terminal.stdout()).to.equal('Let me\nYou said fine\n');
    expect(chat.terminal.stderr()).to.equal('Error: too many wait\nError: provider "x" refused\n');
    expect(chat.said()).to.deep.equal(['early', 'late', 'fine']);
  });

  it('shows the steps of tools, side by side ones too', async () => {
    await using chat = await openChat((_, response) => {
      sendEvents(
        response,
        ['token', { delta: 'Looking.' }],
        ['tool_start', { name: 'read_file' }],
        ['tool_end', { name: 'read_file', success: true }],
      );
      sendEvents(response, ['tool_start', { name: 'a' }], ['tool_start', { name: 'b' }]);
      sendEvents(response, ['tool_end', { name: 'a', success: false }], ['tool_end', { name: 'b', success: true }]);
      sendEvents(response, ['token', { delta: '\n\n' }], ['token', { delta: 'Done.' }], ['later_event', {}], done('x', 'max_iterations'));
      response.end();
    });
    chat.terminal.type('go\n');
    chat.terminal.endInput();
    expect(await chat.terminal.run('chat')).to.equal(0);
    expect(chat.terminal.stdout()).to.equal(
      [
        'Looking.',
        '  · read_file ✓',
        '  · a',
        '  · b',
        '  ✗ a',
        '  ✓ b',
        'Done.',
        '(ended at the limit of settings.max_iterations)',
        '',
      ].join('\n'),
    );
  });

  it('answers a question with the next line, and says so when there is none', async () => {
    const answers: unknown[] = [];
    await using chat = await openChat((_, response) => {
      sendEvents(response, ['tool_start', { name: 'ask_user' }], ['ask', { askId: 'q1', question: 'Which one?' }]);
      chat.server.on('POST /api/v1/asks/q1', ({ body }) => {
        answers.push((body as { answer: string }).answer);
        sendEvents(response, ['tool_end', { name: 'ask_user', success: true }], ['token', { delta: 'Good.' }], done('Good.'));
        response.end();
        return null;
      });
    });
    chat.terminal.type('first\n\nthe red one\nsecond\n');
    chat.terminal.endInput();
    expect(await chat.terminal.run('chat')).to.equal(0);
    expect(answers).to.deep.equal(['the red one', '(nobody is there to answer: the input has ended)']);
    expect(chat.terminal.stdout()).to.contain('? Which one?\n  ✓ ask_user\nGood.\n');
  });

  it('names the agents that exist when the one asked for does not', async () => {
    await using chat = await openChat(echo);
    expect(await chat.terminal.run('chat', '--profile', 'nobody')).to.equal(1);
    expect(chat.terminal.stderr()).to.equal('Error: There is no agent "nobody". Agents: default.\n');
  });

  it('refuses a broken agent with the place of its fault', async () => {
    await using chat = await openChat(echo);
    const error = { message: 'bad indentation', file: 'agents/default/AGENT.md', line: 3, column: 2 };
    chat.server.on('GET /api/v1/agents', () => [{ ...agent, status: 'broken', error }]);
    expect(await chat.terminal.run('chat')).to.equal(1);
    expect(chat.terminal.stderr()).to.contain('The agent "default" is broken: agents/default/AGENT.md:3:2: bad indentation');
  });

  it('opens a missing workspace itself and closes it at the end', async () => {
    await using chat = await openChat(echo);
    await using terminal = await openTerminal({ startHost: async () => hostAt(chat.server.url) });
    terminal.type('hello\n');
    terminal.endInput();
    expect(await terminal.run('chat')).to.equal(0);
    expect(terminal.stdout()).to.equal('You said hello\n');
    expect(terminal.started).to.deep.equal([{ root: terminal.root, mode: 'embedded' }]);
    expect(terminal.closed()).to.equal(1);
  });

  it('goes on with the latest session, also when that was made by /new', async () => {
    await using chat = await openChat(echo);
    chat.terminal.type('a\n/new\nb\n');
    chat.terminal.endInput();
    await chat.terminal.run('chat');
    const users = chat.server.asked('POST /api/v1/sessions').map(({ body }) => (body as { userId: string }).userId);
    expect(users[0]).to.equal('ann');
    expect(users[1]).to.match(/^ann\.[0-9a-f]{8}$/);

    chat.server.on('GET /api/v1/sessions', () => [
      { sessionId: 'x', channel: 'cli', profileName: 'default', userId: 'anna' },
      { sessionId: 'y', channel: 'cli', profileName: 'default', userId: users[1] },
    ]);
    await using later = await openTerminal();
    await later.withServer(chat.server.url);
    later.type('c\n');
    later.endInput();
    await later.run('chat');
    expect(chat.server.asked('POST /api/v1/sessions')[2]?.body).to.include({ userId: users[1] });
  });

  it('makes a user id of any login name, and takes another with --user', async () => {
    const { userIdOf } = await import('../../../adapters/cli/chat-session.ts');
    expect(userIdOf('DOMAIN\\Ann Ö.')).to.equal('DOMAIN_Ann__.');
    expect(userIdOf('')).to.equal('user');
    expect(userIdOf('x'.repeat(90))).to.have.length(55);
    await using chat = await openChat(echo);
    chat.terminal.endInput();
    expect(await chat.terminal.run('chat', '--user', 'bob')).to.equal(0);
    expect(chat.server.asked('POST /api/v1/sessions')[0]?.body).to.include({ userId: 'bob' });
    expect(await chat.terminal.run('chat', '--user', 'a:b')).to.equal(2);
  });

  it('finds the server again after it was started anew', async () => {
    await using chat = await openChat((content, response) => {
      if (content !== 'crash') return echo(content, response);
      sendEvents(response, ['token', { delta: 'Well' }]);
      return void setImmediate(() => void chat.server.close());
    });
    await using second = await startApiServer();
    second.on('GET /api/v1/sessions', () => []);
    second.on('POST /api/v1/sessions', () => ({ sessionId: 's' }));
    second.on('GET /api/v1/sessions/s', () => ({ sessionId: 's', profileName: 'default', messages: [] }));
    second.on('POST /api/v1/sessions/s/messages', (seen, response) => echo((seen.body as { content: string }).content, response));
    const end = chat.terminal.run('chat');
    chat.terminal.type('crash\n');
    await eventually(
      () => chat.terminal.stderr() !== '',
      () => 'the error',
    );
    expect(chat.terminal.stderr()).to.contain('was lost');
    await chat.terminal.withServer(second.url);
    chat.terminal.type('again\n');
    await chat.terminal.until('You said again');
    chat.terminal.endInput();
    await end;
  });
});

describe('oryxos chat on a terminal', () => {
  const held = (_: string, response: ServerResponse): void =>
    sendEvents(response, ['trace', { traceId: 't1' }], ['token', { delta: 'Working' }]);

  it('greets, prompts, prints tokens as they come, and leaves at /quit', async () => {
    await using chat = await openChat(held, { isTTY: true });
    const end = chat.terminal.run('chat');
    await chat.terminal.until('Talking to default (mock, mock).');
    await chat.terminal.until('> ');
    chat.terminal.type('hello\r');
    await chat.terminal.until('Working');
    expect(chat.terminal.stdout()).to.contain('> hello');
    chat.terminal.type('/stop\r');
    await eventually(
      () => chat.server.asked('DELETE /api/v1/runs/t1').length === 1,
      () => 'the stop',
    );
    await chat.server.close();
    await chat.terminal.until('(stopping)');
    chat.terminal.type('/quit\r');
    expect(await end).to.equal(0);
  });

  it('stops the run and keeps the program at Ctrl-C', async () => {
    let stream: ServerResponse | undefined;
    await using chat = await openChat(
      (content, response) => {
        stream = response;
        held(content, response);
      },
      { isTTY: true },
    );
    chat.server.on('DELETE /api/v1/runs/t1', () => {
      sendEvents(stream as ServerResponse, ['error', { code: 409, message: 'The run was cancelled' }]);
      stream?.end();
      return null;
    });
    const end = chat.terminal.run('chat');
    await chat.terminal.until('> ');
    chat.terminal.type('work\r');
    await chat.terminal.until('Working');
    chat.terminal.type('\u0003');
    await chat.terminal.until('(stopped; what was done is kept)');
    expect(chat.terminal.stderr()).to.equal('');
    chat.terminal.type('/help\r');
    await chat.terminal.until('/new   start a new session');
    chat.terminal.type('\u0004');
    expect(await end).to.equal(0);
  });

  it('stops waiting at a second Ctrl-C when the server does not stop the run', async () => {
    await using chat = await openChat(held, { isTTY: true });
    chat.server.on('DELETE /api/v1/runs/t1', () => null);
    const end = chat.terminal.run('chat');
    await chat.terminal.until('> ');
    chat.terminal.type('work\r');
    await chat.terminal.until('Working');
    chat.terminal.type('\u0003');
    await chat.terminal.until('(stopping)');
    chat.terminal.type('\u0003');
    await chat.terminal.until('the run goes on in the server');
    chat.terminal.type('/quit\r');
    expect(await end).to.equal(0);
  });

  it('empties the line at Ctrl-C, says how to leave on an empty one, and leaves the second time', async () => {
    await using chat = await openChat(echo, { isTTY: true });
    const end = chat.terminal.run('chat');
    await chat.terminal.until('> ');
    chat.terminal.type('half a thought');
    await chat.terminal.until('half a thought');
    chat.terminal.type('\u0003');
    chat.terminal.type('\u0003');
    await chat.terminal.until('(Ctrl-C again, Ctrl-D or /quit leaves.)');
    chat.terminal.type('\u0003');
    expect(await end).to.equal(0);
    expect(chat.said()).to.deep.equal([]);
  });

  it('does not show what is typed ahead during a run, and sends it afterwards', async () => {
    let release: () => void = () => {};
    await using chat = await openChat(
      (content, response) => {
        if (content === 'second') return echo(content, response);
        held(content, response);
        release = () => {
          sendEvents(response, done('Working'));
          response.end();
        };
      },
      { isTTY: true },
    );
    const end = chat.terminal.run('chat');
    await chat.terminal.until('> ');
    chat.terminal.type('first\r');
    await chat.terminal.until('Working');
    chat.terminal.type('second\r');
    await new Promise((resolve) => setImmediate(resolve));
    expect(chat.terminal.stdout()).to.not.contain('second');
    release();
    await chat.terminal.until('> second\nYou said second');
    chat.terminal.type('/quit\r');
    await end;
  });

  it('takes back a question that was not answered in time', async () => {
    let stream: ServerResponse | undefined;
    await using chat = await openChat(
      (content, response) => {
        if (content !== 'go') return echo(content, response);
        stream = response;
        return sendEvents(response, ['ask', { askId: 'q1', question: 'Sure?' }]);
      },
      { isTTY: true },
    );
    const end = chat.terminal.run('chat');
    await chat.terminal.until('> ');
    chat.terminal.type('go\r');
    await chat.terminal.until('answer> ');
    sendEvents(stream as ServerResponse, ['tool_end', { name: 'ask_user', success: false }], ['token', { delta: 'Then not.' }]);
    await chat.terminal.until('Then not.');
    chat.terminal.type('next\r');
    await new Promise((resolve) => setImmediate(resolve));
    sendEvents(stream as ServerResponse, done('Then not.'));
    stream?.end();
    await chat.terminal.until('You said next');
    chat.terminal.type('/quit\r');
    expect(await end).to.equal(0);
    expect(chat.server.asked('POST /api/v1/asks/q1')).to.deep.equal([]);
  });

  it('ends at SIGTERM, also in the middle of a run', async () => {
    await using chat = await openChat(held, { isTTY: true });
    const end = chat.terminal.run('chat');
    await chat.terminal.until('> ');
    chat.terminal.type('work\r');
    await chat.terminal.until('Working');
    chat.terminal.signal('SIGTERM');
    expect(await end).to.equal(0);
  });
});

/** The conversation at the terminal: lines in, runs out, until the person leaves. */
import { messageOf } from '../../kernel/index.ts';
import { ChatInput } from './chat-input.ts';
import { freshSession, resumeSession, saidIn } from './chat-session.ts';
import { startTurn } from './chat-turn.ts';
import type { Turn, TurnEnd } from './chat-turn.ts';
import type { Cli } from './cli.ts';
import type { Connection } from './connection.ts';
import { isInteractive } from './prompt.ts';
import { lineText } from './text.ts';
import { TurnPrinter } from './turn-printer.ts';
import type { AgentView, SessionView } from './views.ts';

const PROMPT = '> ';
const ANSWER_PROMPT = 'answer> ';
const NOBODY = '(nobody is there to answer: the input has ended)';
const HELP = [
  '/new   start a new session; the old one is kept',
  '/stop  stop the run (Ctrl-C does the same)',
  '/quit  leave (Ctrl-D does the same)',
  '/help  this list',
].join('\n');

/** Who talks to whom, and over what. */
export interface ChatLoopOptions {
  readonly cli: Cli;
  readonly agent: AgentView;
  readonly userId: string;
  readonly session: SessionView;
  /** The loop closes it. */
  readonly connection: Connection;
  /** Opens another connection when the server has gone. */
  readonly reconnect: () => Promise<Connection>;
}

/** One conversation. A failed run is printed and the conversation goes on. */
export class ChatLoop {
  readonly #options: ChatLoopOptions;
  readonly #input: ChatInput;
  readonly #isInteractive: boolean;
  #connection: Connection;
  #session: SessionView;
  #turn: Turn | undefined;
  #hasFailed = false;
  #isSuspect = false;

  constructor(options: ChatLoopOptions) {
    const { host } = options.cli;
    this.#options = options;
    this.#connection = options.connection;
    this.#session = options.session;
    this.#isInteractive = isInteractive(host);
    this.#input = new ChatInput({
      stdin: host.stdin,
      stdout: host.stdout,
      history: saidIn(options.session),
      intercept: (line) => this.#stopsRun(line),
      onInterrupt: () => this.#turn?.stop(),
    });
  }

  /**
   * Talks until `/quit`, the end of the input, or a SIGTERM. Resolves with the exit code: without a terminal a failed run makes it 1.
   * Closes the connection whatever happens.
   */
  async run(): Promise<number> {
    const { host } = this.#options.cli;
    const undo = [
      host.onSignal('SIGINT', () => this.#input.interrupt()),
      host.onSignal('SIGTERM', () => {
        this.#input.close();
        this.#turn?.leave();
      }),
    ];
    try {
      this.#greet();
      for (;;) {
        const line = await this.#input.next(PROMPT);
        if (line === undefined || isQuit(line)) break;
        await this.#handle(line);
      }
    } finally {
      for (const dispose of undo) dispose();
      this.#input.close();
      await this.#connection.close();
    }
    return this.#hasFailed && !this.#isInteractive ? 1 : 0;
  }

  async #handle(line: string): Promise<void> {
    const { out } = this.#options.cli;
    const word = line.trim();
    if (word === '') return;
    if (word === '/help') return out.line(HELP);
    if (word === '/stop') return out.line('Nothing runs.');
    if (/^\/[a-z]*$/.test(word) && word !== '/new') return out.line(`There is no command ${word}. /help lists them.`);
    try {
      await this.#mendConnection();
      if (word === '/new') await this.#startAfresh();
      else await this.#say(line);
    } catch (error) {
      this.#fail(messageOf(error));
    }
  }

  async #say(content: string): Promise<void> {
    const printer = new TurnPrinter(this.#options.cli.out);
    const { client } = this.#connection;
    const turn = startTurn({
      client,
      sessionId: this.#session.sessionId,
      content,
      printer,
      answer: (signal) => this.#answer(signal),
    });
    this.#turn = turn;
    const end = await turn.end;
    this.#turn = undefined;
    this.#report(end, printer);
  }

  #report(end: TurnEnd, printer: TurnPrinter): void {
    if (end.kind === 'failed') return this.#fail(end.message);
    if (end.kind === 'stopped') return printer.notice('stopped; what was done is kept');
    if (end.kind === 'left') return printer.notice('no longer waiting; the run goes on in the server');
    if (end.empty) printer.notice('no text');
    if (end.stopReason === 'max_iterations') printer.notice('ended at the limit of settings.max_iterations');
    if (end.stopReason === 'loop') printer.notice('ended because the model repeated itself');
  }

  async #answer(signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      const line = await this.#input.answer(ANSWER_PROMPT, signal);
      if (signal.aborted) return undefined;
      if (line === undefined) return NOBODY;
      if (isQuit(line)) {
        this.#turn?.stop();
        this.#input.close();
        return undefined;
      }
      if (line.trim() !== '') return line;
    }
  }

  /** `/stop` works while a run goes on, whatever waits in the queue. */
  #stopsRun(line: string): boolean {
    if (this.#turn === undefined || line.trim() !== '/stop') return false;
    this.#turn.stop();
    return true;
  }

  async #startAfresh(): Promise<void> {
    const { agent, userId, cli } = this.#options;
    this.#session = await freshSession(this.#connection.client, agent.name, userId);
    cli.out.line(cli.out.paint('dim', '(a new session)'));
  }

  /** After a failure: when the server has gone, finds or opens another one and goes on in the same session. */
  async #mendConnection(): Promise<void> {
    if (!this.#isSuspect) return;
    if (!(await this.#connection.client.isHealthy())) {
      const { agent, userId, reconnect } = this.#options;
      await this.#connection.close();
      this.#connection = await reconnect();
      this.#session = await resumeSession(this.#connection.client, agent.name, userId);
    }
    this.#isSuspect = false;
  }

  #fail(message: string): void {
    this.#hasFailed = true;
    this.#isSuspect = true;
    this.#options.cli.out.error(message);
  }

  #greet(): void {
    const { agent, cli } = this.#options;
    if (!this.#isInteractive) return;
    const model = lineText(`${agent.provider ?? 'no provider'}, ${agent.model ?? 'no model'}`);
    cli.out.line(`Talking to ${cli.out.paint('bold', lineText(agent.name))} (${model}). /help lists commands, /quit leaves.`);
    const said = this.#session.messages.length;
    if (said > 0)
      cli.out.line(cli.out.paint('dim', `Going on after ${said === 100 ? 'at least 100' : said} messages; /new starts afresh.`));
    for (const warning of agent.warnings) cli.out.note(`Warning: ${lineText(warning)}`);
  }
}

const isQuit = (line: string): boolean => line.trim() === '/quit' || line.trim() === '/exit';

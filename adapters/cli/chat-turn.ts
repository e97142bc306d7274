/** One message and the run that answers it. */
import { isOryxError, messageOf } from '../../kernel/index.ts';
import { pathOf } from './rest-client.ts';
import type { RestClient } from './rest-client.ts';
import type { TurnPrinter } from './turn-printer.ts';

/** How a turn ended, for the person who waited. `left`: the run goes on, nobody waits for it. */
export type TurnEnd =
  | { readonly kind: 'done'; readonly stopReason: string; readonly empty: boolean }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'left' };

/** A run that is being printed. */
export interface Turn {
  /** Never rejects. */
  readonly end: Promise<TurnEnd>;
  /** Asks the server to stop the run; a second call stops waiting for it. */
  stop(): void;
  /** Stops waiting; the run goes on in the server. */
  leave(): void;
}

/** One message to send, and what the run needs while it goes on. */
export interface TurnRequest {
  readonly client: RestClient;
  readonly sessionId: string;
  readonly content: string;
  readonly printer: TurnPrinter;
  /** Resolves with the person's answer to the question that was just printed; undefined once `signal` has aborted. */
  readonly answer: (signal: AbortSignal) => Promise<string | undefined>;
}

/** Sends a message and prints the run as it goes. */
export function startTurn({ client, sessionId, content, printer, answer }: TurnRequest): Turn {
  const connection = new AbortController();
  let question = new AbortController();
  let questions: Promise<void> = Promise.resolve();
  let traceId: string | undefined;
  let stopping = false;

  const stopRun = async (trace: string): Promise<void> => {
    try {
      await client.delete(pathOf`/api/v1/runs/${trace}`);
    } catch (error) {
      if (isOryxError(error) && error.status === 404) return;
      printer.notice(`The run could not be stopped: ${messageOf(error)}`);
    }
  };
  const learnTrace = (trace: unknown): void => {
    if (traceId !== undefined || typeof trace !== 'string') return;
    traceId = trace;
    if (stopping) void stopRun(trace);
  };
  const ask = async (askId: string, text: string, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    printer.question(text);
    const given = await answer(signal);
    if (given === undefined || signal.aborted) return;
    try {
      await client.post(pathOf`/api/v1/asks/${askId}`, { answer: given });
    } catch (error) {
      printer.notice(`The answer was not taken: ${messageOf(error)}`);
    }
  };

  const read = async (): Promise<TurnEnd> => {
    const stream = await client.stream(pathOf`/api/v1/sessions/${sessionId}/messages`, { content }, connection.signal);
    learnTrace(stream.traceId);
    let empty = true;
    for await (const { event, data } of stream.events) {
      const fields = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
      if (event === 'trace') learnTrace(fields['traceId']);
      if (event === 'token') {
        empty = false;
        printer.token(textOf(fields['delta']));
      }
      if (event === 'tool_start') printer.toolStart(textOf(fields['name']));
      if (event === 'tool_end') {
        // A question that nobody answered in time ends with its tool.
        if (fields['name'] === 'ask_user') {
          question.abort();
          question = new AbortController();
        }
        printer.toolEnd(textOf(fields['name']), fields['success'] === true);
      }
      if (event === 'ask') {
        const { signal } = question;
        questions = questions.then(() => ask(textOf(fields['askId']), textOf(fields['question']), signal));
      }
      if (event === 'done') return { kind: 'done', stopReason: textOf(fields['stopReason']), empty };
      if (event === 'error') return stopping ? { kind: 'stopped' } : { kind: 'failed', message: textOf(fields['message']) };
    }
    return { kind: 'failed', message: 'The connection was lost. The run goes on in the server; its answer will be in the session.' };
  };

  const run = async (): Promise<TurnEnd> => {
    try {
      return await read();
    } catch (error) {
      if (connection.signal.aborted) return { kind: 'left' };
      return { kind: 'failed', message: messageOf(error) };
    } finally {
      question.abort();
      await questions;
      printer.end();
    }
  };

  return {
    end: run(),
    stop() {
      if (stopping) {
        connection.abort();
        return;
      }
      stopping = true;
      printer.notice('stopping');
      if (traceId !== undefined) void stopRun(traceId);
    },
    leave: () => connection.abort(),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

import type { Clock, Engine, Statement, StopReason, TurnOutcome, TurnRequest } from '../../kernel/index.ts';
import { OryxError } from '../../kernel/index.ts';
import type { EventSink, EventStreamAnswer, HttpRequest } from '../http/contract.ts';
import { eventStream } from '../http/contract.ts';
import type { AskDesk } from './ask-desk.ts';
import type { Idempotency } from './contract.ts';
import { newTurnId } from './new-turn-id.ts';
import type { TurnFeed } from './turn-feed.ts';
import { openTurnFeed } from './turn-feed.ts';

/** What a message endpoint answers when the run has ended well. */
export interface MessageReply {
  readonly reply: string;
  readonly traceId: string;
  readonly stopReason: StopReason;
}

/** A turn to be run, and rows that commit with its acceptance. */
export type PlannedTurn = Omit<TurnRequest, 'id'> & { readonly rows?: readonly Statement[] };

/**
 * Runs a turn for a request and answers it, as JSON or as a stream. Rejects, before a stream starts, with what `plan` throws and with
 * every reason not to accept the turn. A run that ends otherwise than completed is thrown as its error, in a stream as the event `error`.
 * A client that leaves changes nothing for the run.
 *
 * @param plan  checks that the turn can be run, and describes it; not called when the request repeats an earlier one
 */
export type Responder = (request: HttpRequest, plan: () => Promise<PlannedTurn>) => Promise<MessageReply | EventStreamAnswer>;

/** What answering messages needs. */
export interface ResponderParts {
  readonly engine: Engine;
  readonly idempotency: Idempotency;
  readonly asks: AskDesk;
  readonly clock: Clock;
  /** Hides secrets in what a stream tells. */
  readonly mask: (text: string) => string;
}

/** The one piece behind all message endpoints. */
export function responder({ engine, idempotency, asks, clock, mask }: ResponderParts): Responder {
  return async (request, plan) => {
    const feedOf = (turnId: string): TurnFeed | undefined =>
      request.wantsStream ? openTurnFeed(turnId, engine, mask, isInteractive(request) ? asks : undefined) : undefined;

    const id = newTurnId(clock.now());
    let feed = feedOf(id);
    try {
      const turnId = await idempotency.once(request, id, async (keyRows) => {
        const { rows = [], ...turn } = await plan();
        await engine.submit({ ...turn, id }, [...rows, ...keyRows]);
      });
      request.setHeader('X-Trace-Id', turnId);
      if (turnId !== id) {
        feed?.close();
        feed = feedOf(turnId);
      }
      if (feed === undefined) return replyOf(await engine.outcome(turnId));
      return streamed(request, turnId, engine, feed);
    } catch (error) {
      feed?.close();
      throw error;
    }
  };
}

const isInteractive = (request: HttpRequest): boolean => request.header('x-oryx-interactive') === '1';

/** The stream of one turn, however far it is: events that were missed come as one token with all text so far. */
function streamed(request: HttpRequest, turnId: string, engine: Engine, feed: TurnFeed): EventStreamAnswer {
  request.signal.addEventListener('abort', () => feed.close(), { once: true });
  if (request.signal.aborted) feed.close();

  return eventStream(async (sink: EventSink) => {
    try {
      sink.send({ event: 'trace', data: { traceId: turnId } });
      feed.readInto((event) => sink.send(event));
      const outcome = await engine.outcome(turnId);
      const missing = outcome.reply.slice(feed.textLength);
      if (missing !== '') sink.send({ event: 'token', data: { delta: missing } });
      sink.send({ event: 'done', data: replyOf(outcome) });
    } finally {
      feed.close();
    }
  });
}

function replyOf(outcome: TurnOutcome): MessageReply {
  if (outcome.status === 'completed') return { reply: outcome.reply, traceId: outcome.turnId, stopReason: outcome.stopReason };
  throw outcome.error ?? new OryxError('ORYX_INTERNAL', `Run ${outcome.turnId} ended ${outcome.status} without a reason`);
}

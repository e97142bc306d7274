/** Accepts messages: each event once, durably, with its run. */
import { randomUUID } from 'node:crypto';
import { type Clock, type Engine, type InboundMessage, isOryxError, type Store } from '../../kernel/index.ts';
import type { Sessions } from '../sessions/contract.ts';
import { NOT_TEXT, TOO_LONG } from './answer-text.ts';
import type { Answers } from './answers.ts';
import { findMessage, messageAdded, messagesPruned, type NewChannelMessage } from './channel-message-repository.ts';

/** As for every other message to an agent. */
const MAX_TEXT_CHARS = 32_768;
/** How long events are remembered: services deliver again for hours. */
const MEMORY_MS = 7 * 24 * 3600 * 1000;
/** Every message clears away up to this many old ones, so that the table shrinks without a timer. */
const PRUNE_LIMIT = 20;

/** What accepting needs. */
export interface InboxParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly answers: Answers;
  readonly clock: Clock;
}

/** For whom a message is. */
export interface Destination {
  readonly kind: string;
  readonly channel: string;
  readonly agent: string;
}

/** What became of a message; `traceId` is that of its run, also when an earlier delivery has started it. */
export interface Acceptance {
  readonly status: 'accepted' | 'duplicate';
  readonly traceId: string;
}

/**
 * Resolves when the message, its session's history and its run are on disk, or when it was known already. Rejects as `Engine.submit` does,
 * and nothing has changed then.
 */
export type Inbox = (to: Destination, message: InboundMessage) => Promise<Acceptance>;

/** An inbox in `store`; migrated already. */
export function inbox({ store, engine, sessions, answers, clock }: InboxParts): Inbox {
  const known = async (to: Destination, { eventId, messageId }: InboundMessage): Promise<Acceptance | undefined> => {
    const traceId = await findMessage(store, to.channel, eventId, messageId);
    return traceId === undefined ? undefined : { status: 'duplicate', traceId };
  };

  /** Person and text go to the session, everything to the row. */
  async function accept(row: NewChannelMessage, text: string | undefined): Promise<void> {
    const rows = [messageAdded(row), messagesPruned(row.created_at - MEMORY_MS, PRUNE_LIMIT)];
    if (text === undefined || row.answer !== null) return void (await store.write(...rows));
    const { id, agent: profile, session_id: sessionId, created_at: at } = row;
    await sessions.open({ channel: row.kind, userId: row.sender_id, agent: profile }, sessionId);
    const request = { id, profile, sessionId, origin: 'channel', input: text, persistent: true } as const;
    await engine.submit(request, [...rows, ...sessions.revived(sessionId, at)]);
  }

  return async (to, message) => {
    const earlier = await known(to, message);
    if (earlier !== undefined) return earlier;
    const row = rowOf(to, message, clock.now());
    try {
      await accept(row, message.text);
    } catch (error) {
      // The same event may have come twice at the same time.
      const isTaken = isOryxError(error) && error.code === 'ORYX_STORE_CONSTRAINT';
      const winner = isTaken ? await known(to, message) : undefined;
      if (winner === undefined) throw error;
      return winner;
    }
    answers.follow({ ...row, state: 'accepted', parts_sent: 0, unsure_since: null });
    return { status: 'accepted', traceId: row.id };
  };
}

function rowOf({ kind, channel, agent }: Destination, message: InboundMessage, at: number): NewChannelMessage {
  const { eventId, messageId, chatId, senderId, text } = message;
  return {
    id: randomUUID(),
    kind,
    channel,
    event_id: eventId,
    message_id: messageId,
    chat_id: chatId,
    sender_id: senderId,
    agent,
    session_id: `${kind}:${chatId}:${agent}`,
    answer: text === undefined ? NOT_TEXT : text.length > MAX_TEXT_CHARS ? TOO_LONG : null,
    created_at: at,
  };
}

/** Answers to accepted messages: follows their runs to the end and brings what they said to the chat. */
import { setMaxListeners } from 'node:events';
import { type Engine, isOryxError } from '../../kernel/index.ts';
import { writeAtLast } from '../executions/contract.ts';
import { answerText } from './answer-text.ts';
import { answerEnded, type ChannelMessageRow, openMessages } from './channel-message-repository.ts';
import { deliver, type DeliveryParts } from './delivery.ts';

/** What answering needs. */
export interface AnswerParts extends DeliveryParts {
  readonly engine: Engine;
}

/** In one session answers go out in the order of the messages. */
export class Answers {
  readonly #parts: AnswerParts;
  readonly #followed = new Set<string>();
  /** The last answer of each session. */
  readonly #tails = new Map<string, Promise<void>>();

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    // One listener for each answer that waits.
    setMaxListeners(0, parts.signal);
  }

  /** Follows a message whose acceptance is durable. Following twice is following once. */
  follow(row: ChannelMessageRow): void {
    if (this.#followed.has(row.id)) return;
    this.#followed.add(row.id);
    const before = this.#tails.get(row.session_id) ?? Promise.resolve();
    const tail = before
      .then(() => this.#toItsEnd(row))
      .catch((error: unknown) => this.#parts.log.error('an answer broke off', { traceId: row.id, error }))
      .finally(() => {
        this.#followed.delete(row.id);
        if (this.#tails.get(row.session_id) === tail) this.#tails.delete(row.session_id);
      });
    this.#tails.set(row.session_id, tail);
  }

  /** Takes up what earlier processes left without an end. Call it when the engine has taken up its runs. */
  async recover(): Promise<void> {
    for (const row of await openMessages(this.#parts.store)) this.follow(row);
  }

  /** Resolves when nothing is sent any more; the signal of its parts must have aborted. */
  async close(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  async #toItsEnd(row: ChannelMessageRow): Promise<void> {
    const text = row.answer ?? (await this.#said(row));
    if (text !== undefined) await deliver(row, text, this.#parts);
  }

  /** Undefined when the server stops first. */
  async #said({ id }: ChannelMessageRow): Promise<string | undefined> {
    const { engine, signal, mask, clock } = this.#parts;
    try {
      return answerText(await engine.outcome(id, signal), mask);
    } catch (error) {
      if (signal.aborted || (isOryxError(error) && error.code === 'ORYX_STOPPING')) return undefined;
      if (!isOryxError(error) || error.code !== 'ORYX_TURN_UNKNOWN') throw error;
      await writeAtLast(this.#parts, `the answer of run ${id}`, [answerEnded(id, 'failed', 'the record of the run is gone', clock.now())]);
      return undefined;
    }
  }
}

/** Takes the message whose turn it is in a channel one step further. */
import type { Clock, Logger, NotifyAdapter, NotifyTarget, OutgoingHttp, ReadonlyRegistry, Statement, Store } from '../../kernel/index.ts';
import { isOryxError } from '../../kernel/index.ts';
import { pause } from '../executions/contract.ts';
import { attempt } from './attempt.ts';
import type { NotifyChannels } from './contract.ts';
import {
  attemptBegun,
  attemptEnded,
  contentOf,
  firstInLine,
  type OutboxEnding,
  type OutboxRow,
  sendingEnded,
  sentSince,
  waitExplained,
  waitingEnded,
} from './outbox-repository.ts';
import { RateLimit, ratesOf } from './rate-limit.ts';
import { splitText } from './split-text.ts';
import { type AttemptResult, verdictOf } from './verdict.ts';

const RETRY_MS = 2_000;
/** How soon to look again at what somebody else is sending, and when to give it up: no attempt takes that long. */
const WATCH_MS = 1_000;
const LOST_AFTER_MS = 60_000;
/** How soon to look again at a channel that cannot be used at present. */
const BLOCKED_MS = 30_000;

/** What deliveries work with. */
export interface DeliveryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly channels: NotifyChannels;
  readonly adapters: ReadonlyRegistry<NotifyAdapter>;
  readonly http: OutgoingHttp;
  readonly mask: (text: string) => string;
  /** The life of the plugin; attempts are marked with it. */
  readonly sender: string;
  /** Aborts when attempts under way must end. */
  readonly stop: () => AbortSignal;
  readonly onAttempt: (result: AttemptResult) => void;
  /** `type` is that of the channel, undefined when it is gone. */
  readonly onEnded: (row: OutboxRow, ending: OutboxEnding, type: string | undefined) => void;
  /** A message that somebody else was sending is no longer the first of its channel. */
  readonly onPassed: (id: number) => void;
}

/** A message that is being delivered: its parts from `charsSent` on. */
interface Work {
  readonly id: number;
  readonly adapter: NotifyAdapter;
  readonly charsSent: number;
  readonly parts: readonly string[];
}

/** Steps of one channel must not overlap. */
export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #work = new Map<string, Work>();
  readonly #limits = new Map<string, { readonly rates: string; readonly limit: RateLimit }>();
  readonly #watched = new Map<string, number>();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Resolves with when to look at the channel again in epoch milliseconds, undefined when nothing waits there. Rejects as the store does. */
  async step(channel: string): Promise<number | undefined> {
    const { clock, channels, adapters } = this.#parts;
    const row = await firstInLine(this.#parts.store, channel);
    this.#passed(channel, row);
    if (row === undefined) return void this.#work.delete(channel);
    const now = clock.now();
    const type = channels.find(channel)?.type;
    if (row.state === 'sending') return this.#watch(row, now, type);
    if (now >= row.expires_at) return this.#giveUp(row, expired(row), type);
    const target = this.#target(channel);
    if (target === undefined || type === undefined) return this.#giveUp(row, `the channel "${channel}" was removed`, undefined);
    if ('problem' in target) return this.#blocked(row, target.problem);
    const dueAt = row.next_attempt_at ?? 0;
    if (dueAt > now) return Math.min(dueAt, row.expires_at);
    const adapter = adapters.get(type);
    if (adapter === undefined) return this.#blocked(row, `nothing that is loaded speaks to channels of type "${type}"`);
    const limit = await this.#limit(channel, adapter, target);
    const waitMs = limit.waitMs(now);
    if (waitMs > 0) return Math.min(now + waitMs, row.expires_at);
    return this.#attempt(row, adapter, target, limit);
  }

  async #attempt(row: OutboxRow, adapter: NotifyAdapter, target: NotifyTarget, limit: RateLimit): Promise<number> {
    const { store, clock, sender, onAttempt, onEnded } = this.#parts;
    const work = await this.#workOn(row, adapter);
    const [content = '', ...others] = work.parts;
    const total = row.parts_sent + work.parts.length;
    const at = clock.now();
    try {
      await store.write(attemptBegun(row, sender, total, at));
    } catch (error) {
      if (isConflict(error)) return at + WATCH_MS;
      throw error;
    }
    const key = total === 1 ? row.key : `${row.key}/${row.parts_sent + 1}`;
    const outcome = await attempt({ ...this.#parts, stop: this.#parts.stop() }, adapter.name, { content, key, at }, target);
    limit.take(clock.now());
    onAttempt(outcome.ok ? 'delivered' : outcome.kind);
    const sent = { ...row, attempts: row.attempts + 1, parts: total };
    const verdict = verdictOf(outcome, sent, { now: clock.now(), isRepeatable: adapter.repeatable === true, mask: this.#parts.mask });
    if (outcome.ok) this.#work.set(row.channel, { ...work, charsSent: work.charsSent + content.length, parts: others });
    if (verdict.state !== 'pending') {
      const isWritten = await this.#record(sendingEnded(row.id, sender, verdict));
      if (isWritten) onEnded(sent, verdict, adapter.name);
      return clock.now();
    }
    const partsSent = row.parts_sent + (outcome.ok ? 1 : 0);
    const charsSent = row.chars_sent + (outcome.ok ? content.length : 0);
    const { failures, setback, nextAttemptAt } = verdict;
    await this.#record(attemptEnded(row.id, sender, { partsSent, charsSent, failures, setback, nextAttemptAt }));
    return nextAttemptAt ?? clock.now();
  }

  /** Splitting a long message for each of its parts would take time with the square of its length. */
  async #workOn(row: OutboxRow, adapter: NotifyAdapter): Promise<Work> {
    const known = this.#work.get(row.channel);
    if (known?.id === row.id && known.adapter === adapter && known.charsSent === row.chars_sent) return known;
    const content = (await contentOf(this.#parts.store, row.id)) ?? '';
    const { maxSize = Infinity } = adapter;
    const sizeOf = (text: string): number => adapter.sizeOf?.(text) ?? Buffer.byteLength(text);
    const parts = splitText(content, (part) => maxSize === Infinity || sizeOf(part) <= maxSize, row.chars_sent);
    const work = { id: row.id, adapter, charsSent: row.chars_sent, parts };
    this.#work.set(row.channel, work);
    return work;
  }

  /** The buckets of a channel; when its rates are new they begin with what its messages of late have left. */
  async #limit(channel: string, adapter: NotifyAdapter, { config }: NotifyTarget): Promise<RateLimit> {
    const rates = ratesOf(adapter, config);
    const known = this.#limits.get(channel);
    if (known?.rates === JSON.stringify(rates)) return known.limit;
    const longestMs = Math.max(0, ...rates.map(({ perMs }) => perMs)) + LOST_AFTER_MS;
    const limit = new RateLimit(rates, await sentSince(this.#parts.store, channel, this.#parts.clock.now() - longestMs));
    this.#limits.set(channel, { rates: JSON.stringify(rates), limit });
    return limit;
  }

  #target(channel: string): NotifyTarget | { readonly problem: string } | undefined {
    try {
      return this.#parts.channels.target(channel);
    } catch (error) {
      if (!isOryxError(error)) throw error;
      return { problem: `the channel "${channel}" cannot be used: ${error.message}` };
    }
  }

  async #blocked(row: OutboxRow, reason: string): Promise<number> {
    const { store, clock } = this.#parts;
    if (row.error !== reason) await store.write(waitExplained(row.id, reason));
    return Math.min(clock.now() + BLOCKED_MS, row.expires_at);
  }

  async #giveUp(row: OutboxRow, error: string, type: string | undefined): Promise<number> {
    const { store, clock, onEnded } = this.#parts;
    const now = clock.now();
    const ending: OutboxEnding = { state: 'failed', setback: { error, code: undefined }, endedAt: now };
    try {
      await store.write(waitingEnded(row.id, ending));
    } catch (error) {
      if (isConflict(error)) return now + WATCH_MS;
      throw error;
    }
    if (type === undefined) this.#limits.delete(row.channel);
    onEnded(row, ending, type);
    return now;
  }

  /** An earlier life of the plugin is sending it, or was when it ended. */
  async #watch(row: OutboxRow, now: number, type: string | undefined): Promise<number> {
    this.#watched.set(row.channel, row.id);
    if (now - (row.attempted_at ?? 0) < LOST_AFTER_MS || row.sender === null) return now + WATCH_MS;
    const setback = { error: 'nobody knows how the last attempt ended', code: undefined };
    const ending: OutboxEnding = { state: 'unknown', setback, endedAt: now };
    if (await this.#record(sendingEnded(row.id, row.sender, ending))) this.#parts.onEnded(row, ending, type);
    return now;
  }

  #passed(channel: string, row: OutboxRow | undefined): void {
    const watched = this.#watched.get(channel);
    if (watched === undefined || (watched === row?.id && row.state === 'sending')) return;
    this.#watched.delete(channel);
    this.#parts.onPassed(watched);
  }

  /** The end of an attempt is written even when the disk is full for a while. False when somebody else ended the message, or the server stops. */
  async #record(statement: Statement): Promise<boolean> {
    const { store, clock, log, stop } = this.#parts;
    for (;;) {
      try {
        await store.write(statement);
        return true;
      } catch (error) {
        log.error('the outcome of an attempt could not be recorded', { error });
        if (isConflict(error) || stop().aborted) return false;
        await pause(clock, RETRY_MS, stop());
      }
    }
  }
}

const expired = ({ error }: OutboxRow): string =>
  `not delivered within 24 hours${error === null ? ': its turn did not come' : `: ${error}`}`;
const isConflict = (error: unknown): boolean => isOryxError(error) && error.code === 'ORYX_STORE_CONFLICT';

/** Channels to people, and the outbox in which every message waits until it is delivered. */
import type { NotifyTarget } from '../../kernel/index.ts';

export { splitText } from './split-text.ts';

/** A channel as others may know it; secrets are not in it. */
export interface NotifyChannel {
  readonly name: string;
  /** Name of the adapter that speaks to it: "feishu", "wecom", "dingtalk", "webhook", or that of a plugin. */
  readonly type: string;
  readonly description: string | null;
  /** A message that names no channel goes to this one; true for exactly one, if there is any. */
  readonly isDefault: boolean;
}

/** The channels that administrators registered. */
export interface NotifyChannels {
  /** Oldest first. */
  list(): readonly NotifyChannel[];
  /** Of that exact name; for undefined, "" and "default" (unless a channel has that name) the one marked as default, else the oldest. */
  find(name: string | undefined): NotifyChannel | undefined;
  /**
   * Where its messages go, with secrets in clear; undefined when there is no such channel. Throws ORYX_SECRET_KEY when a secret cannot be
   * read.
   */
  target(name: string): NotifyTarget | undefined;
  /** Calls `fn` after a channel was added, changed or removed. */
  onChange(fn: (name: string) => void): () => void;
}

/**
 * Where a message is. `pending`: it waits (its turn, a rate, the next attempt). `sending`: an attempt is under way. `delivered`, `failed` and
 * `unknown` are ends; `unknown`: it may have arrived, and is not sent again unless somebody asks for it.
 */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'failed' | 'unknown';

/** One message in the outbox. Times are epoch milliseconds. */
export interface OutboxMessage {
  readonly id: number;
  readonly channel: string;
  readonly state: DeliveryState;
  /** Parts that the receiver has, of all there are. */
  readonly partsSent: number;
  readonly parts: number;
  readonly attempts: number;
  /** Why it is not delivered, fit for people and models. */
  readonly error: string | null;
  /** The receiver's code for it. */
  readonly errorCode: string | null;
  readonly createdAt: number;
  readonly nextAttemptAt: number | null;
  readonly endedAt: number | null;
  readonly traceId: string | null;
  readonly agent: string | null;
}

/** A message to be accepted. */
export interface OutgoingMessage {
  readonly channel: string;
  readonly content: string;
  /** The same key twice is the same message: the second time nothing is added. */
  readonly key: string;
  readonly traceId?: string;
  readonly agent?: string;
}

/** Messages to people. */
export interface Notifications {
  /**
   * Accepts a message: when this resolves it is on disk, and it will be delivered or end with a reason.
   * Throws ORYX_NOT_FOUND for a channel that does not exist, ORYX_INVALID_INPUT for an empty or over-long content.
   */
  submit(message: OutgoingMessage): Promise<OutboxMessage>;
  /** Waits until the message has ended, `timeoutMs` have passed or `signal` aborts, and tells where it is then. */
  settled(id: number, timeoutMs: number, signal?: AbortSignal): Promise<OutboxMessage>;
  /** Messages of one run, oldest first. */
  ofTrace(traceId: string): Promise<readonly OutboxMessage[]>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    notifyChannels: NotifyChannels;
    notifications: Notifications;
  }
}

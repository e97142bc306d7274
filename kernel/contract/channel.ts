/** What the kernel asks of an adapter through which people talk to agents. */
import type { NotifyOutcome, NotifyTarget } from './notify.ts';
import type { OutgoingHttp } from './provider.ts';

/** A request of a chat service, as it arrived. Nothing of it has been verified. */
export interface InboundRequest {
  readonly body: Readonly<Record<string, unknown>>;
  /** The body's text before it was parsed, for signatures. */
  readonly rawBody: string;
  /** A header by lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What a person said, and where. Ids are the chat service's own, of the characters A-Z a-z 0-9 _ - and at most 128 long. */
export interface InboundMessage {
  /** Every delivery of the same event has the same. */
  readonly eventId: string;
  readonly messageId: string;
  readonly chatId: string;
  readonly senderId: string;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  /** Absent when it is not text: a picture, a file. */
  readonly text?: string;
}

/**
 * What a request turned out to be. `reason` is for the operator: it names neither a secret nor what the person said.
 *
 * - `handshake`: the service asks whether this is the right address; the answer goes back as it is.
 * - `ignored`: genuine, and nothing is to be done about it.
 * - `refused`: it cannot be shown that it comes from the service.
 * - `later`: it cannot be told now; the service should deliver it again.
 */
export type InboundEvent =
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | { readonly kind: 'handshake'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string };

/** An answer to a message, or one part of a long one. */
export interface ChannelReply {
  /** The message that is answered. */
  readonly messageId: string;
  readonly content: string;
  /** At most 50 characters; the same reply has the same key however often it is sent. */
  readonly key: string;
  /** Time of this attempt in epoch milliseconds. */
  readonly at: number;
}

/** One registered channel, as long as its configuration stays the same. It may keep access tokens; whoever made it drops it after a change. */
export interface ChannelConnection {
  /**
   * Verifies and understands a request. Never throws for what came. Must settle within 2 s: the chat service waits.
   *
   * @param signal  aborts when the time is over or the server stops
   */
  receive(request: InboundRequest, signal: AbortSignal): Promise<InboundEvent>;
  /** Sends once. Failures are values, as for `NotifyAdapter.send`; what is thrown counts as `unknown`. */
  reply(reply: ChannelReply, signal: AbortSignal): Promise<NotifyOutcome>;
}

/**
 * Speaks one chat service's protocol in both directions. Registered in the extension point `channel` under its name, which is the `type` of
 * registered channels, the `name` of entries in an agent's `channels`, and a part of the path that the service calls:
 * `POST /api/v1/channels/<name>/{agent}`. It translates: it has no table, no queue and no policy.
 */
export interface Channel {
  readonly name: string;
  /** The largest reply, in what `sizeOf` measures. A longer one is sent in several parts. Absent: no limit. */
  readonly maxSize?: number;
  /** Absent: bytes of the text in UTF-8. Must grow with the text. */
  sizeOf?(content: string): number;
  /** For so long after its first attempt a reply with the same key may be sent again without being shown twice. Absent: never. */
  readonly repeatableForMs?: number;
  /** Why a registered channel cannot be used for receiving, naming the key, as the end of a sentence; undefined when it can. */
  problem(target: NotifyTarget): string | undefined;
  /** Only for a target without a problem. */
  connect(target: NotifyTarget, http: OutgoingHttp): ChannelConnection;
}

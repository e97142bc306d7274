import {
  type Clock,
  type InboundEvent,
  type InboundMessage,
  type InboundRequest,
  isOryxError,
  type Logger,
  notFound,
  OryxError,
  type Profile,
  type ReadonlyRegistry,
} from '../../kernel/index.ts';
import { defineRoute, raw, type Route } from '../http/contract.ts';
import { boundChannels } from './bound-channels.ts';
import type { Connections } from './connections.ts';
import type { Inbox } from './inbox.ts';
import { withDeadline } from './with-deadline.ts';

/** Chat services wait 3 s for an answer; the rest is for the disk. */
const RECEIVE_MS = 2_000;
/** A message that comes later than this is not answered: nobody waits any more. */
const MAX_AGE_MS = 24 * 3600 * 1000;

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

/** What the routes work with. */
export interface ChannelRouteParts {
  readonly profiles: ReadonlyRegistry<Profile>;
  readonly connections: Connections;
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** An event, and the registered channel that vouches for it. */
interface Vouched {
  readonly channel: string;
  readonly event: Exclude<InboundEvent, { readonly kind: 'refused' }>;
}

const answer = {
  type: 'object',
  properties: { status: { enum: ['accepted', 'duplicate', 'ignored'] }, traceId: { type: ['string', 'null'] } },
  required: ['status', 'traceId'],
} as const;

/** Where a chat service delivers what people say to an agent. It is answered when the message is safe, not when its run has ended. */
export function channelRoute(kind: string, parts: ChannelRouteParts): Route {
  return defineRoute({
    name: `POST /api/v1/channels/${kind}/{agent}`,
    summary: `Take an event of ${kind} for an agent; the verification of the address is answered as ${kind} wants it, outside of the envelope`,
    kind: 'write',
    params: { type: 'object', properties: { agent: { type: 'string' } }, required: ['agent'] },
    body: { type: 'object' },
    answer,
    errors: [429],
    async handle(request) {
      const { profiles, inbox, clock, log } = parts;
      const { agent } = request.params;
      const profile = profiles.get(agent);
      const channels = profile === undefined ? [] : boundChannels(profile, kind);
      if (channels.length === 0) throw notFound(`There is no agent "${agent}" that takes messages from ${kind}.`);

      const at = clock.now();
      const body = request.body as InboundRequest['body'];
      const inbound = { body, rawBody: request.rawBody, header: (name: string) => request.header(name), at };
      const { channel, event } = await vouched(channels, kind, inbound, parts);
      if (event.kind === 'handshake') return raw(200, JSON_TYPE, JSON.stringify(event.answer));
      if (event.kind === 'later') {
        throw new OryxError('ORYX_CHANNEL_UNREADY', `The channel "${channel}" cannot take this message yet: ${event.reason}.`);
      }
      const reason = event.kind === 'ignored' ? event.reason : unwanted(event.message, at);
      if (event.kind === 'ignored' || reason !== undefined) {
        log.info('an event was ignored', { agent, channel, reason });
        return { status: 'ignored', traceId: null };
      }
      const { status, traceId } = await inbox({ kind, channel, agent }, event.message);
      request.setHeader('X-Trace-Id', traceId);
      return { status, traceId };
    },
  });
}

/** Why a genuine message is not answered; undefined when it is. */
function unwanted({ text, sentAt }: InboundMessage, at: number): string | undefined {
  if (at - sentAt > MAX_AGE_MS) return 'it is older than a day';
  return text !== undefined && text.trim() === '' ? 'it says nothing' : undefined;
}

/** An agent may be bound to several apps, and a request does not say from which one it is before it has been verified. */
async function vouched(
  channels: readonly string[],
  kind: string,
  request: InboundRequest,
  { connections, clock, signal, log }: ChannelRouteParts,
): Promise<Vouched> {
  const reasons: string[] = [];
  let unready: OryxError | undefined;
  for (const channel of channels) {
    try {
      const event = await connections.use(channel, kind, (connection) =>
        withDeadline(clock, RECEIVE_MS, signal, (limit) => connection.receive(request, limit)),
      );
      if (event.kind !== 'refused') return { channel, event };
      log.warn('a request was refused: it does not come from the chat service', { channel, reason: event.reason });
      reasons.push(event.reason);
    } catch (error) {
      if (!isOryxError(error)) throw error;
      log.error('a channel cannot take messages', { channel, error });
      unready ??= error;
    }
  }
  if (reasons[0] === undefined && unready !== undefined) throw unready;
  throw new OryxError('ORYX_FORBIDDEN', `The request is refused: ${reasons[0] ?? 'nobody vouches for it'}.`);
}

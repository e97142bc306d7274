/** A receiver of messages that does what a test tells it to, and short forms for the outbox. */
import {
  definePlugin,
  type NotifyAdapter,
  type NotifyMessage,
  type NotifyOutcome,
  type NotifyTarget,
  type Plugin,
} from '../../../kernel/index.ts';
import { type HostOptions, startHost, type TestHost, until } from '../../harness/index.ts';

export interface Sent extends NotifyMessage {
  readonly channel: string;
  readonly url: string;
}

type Reply = (message: NotifyMessage, target: NotifyTarget, signal: AbortSignal) => NotifyOutcome | Promise<NotifyOutcome>;

/** An adapter of type "pager" and all that it was given. */
export interface Pager {
  readonly plugin: Plugin;
  readonly sent: Sent[];
  /** What the next sends answer, in order; `always` answers the others. */
  readonly replies: (NotifyOutcome | Reply)[];
  always: Reply;
}

export const OK: NotifyOutcome = { ok: true };
export const later = (message: string, retryAfterMs?: number): NotifyOutcome => ({
  ok: false,
  kind: 'later',
  message,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

export function pager(rules: Partial<NotifyAdapter> = {}): Pager {
  const sent: Sent[] = [];
  const replies: (NotifyOutcome | Reply)[] = [];
  const self: Pager = {
    sent,
    replies,
    always: () => OK,
    plugin: definePlugin({
      name: 'pager',
      setup(ctx) {
        ctx.register('notifyAdapter', {
          name: 'pager',
          ...rules,
          async send(message, target, _http, signal) {
            sent.push({ ...message, channel: target.channel, url: target.url });
            const reply = replies.shift() ?? self.always;
            return typeof reply === 'function' ? reply(message, target, signal) : reply;
          },
        });
      },
    }),
  };
  return self;
}

/** A host with a pager and the channel "team" on it; a home that is given has its channels already. */
export async function pagerHost(device: Pager, options: HostOptions = {}): Promise<TestHost> {
  const host = await startHost({ ...options, plugins: [device.plugin, ...(options.plugins ?? [])] });
  if (options.home === undefined) await addChannel(host, 'team');
  return host;
}

export async function addChannel(host: TestHost, name: string, config: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const body = { name, type: 'pager', url: `https://pager.example.test/${name}`, config };
  const { status, message } = await host.request('POST', '/api/v1/notify-channels', body);
  if (status !== 200) throw new Error(message);
}

export interface OutboxView {
  readonly id: number;
  readonly channel: string;
  readonly state: string;
  readonly parts: number;
  readonly partsSent: number;
  readonly attempts: number;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly nextAttemptAt: string | null;
  readonly endedAt: string | null;
  readonly traceId: string | null;
  readonly agent: string | null;
  readonly content: string;
}

export const submit = (host: TestHost, content: string, channel = 'team', key = `key of ${content.slice(0, 50)}`) =>
  host.kernel.service('notifications').submit({ channel, content, key });

export const messageOf = async (host: TestHost, id: number): Promise<OutboxView> =>
  (await host.request('GET', `/api/v1/notify-outbox/${id}`)).data as OutboxView;

/** Resolves with the message once it is in that state. */
export const inState = (host: TestHost, id: number, state: string): Promise<OutboxView> =>
  until(`message ${id} to be ${state}`, async () => {
    const message = await messageOf(host, id);
    return message.state === state ? message : undefined;
  });

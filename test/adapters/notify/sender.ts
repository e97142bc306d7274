/** Sends through one adapter to a receiver that answers by a script. */
import type { NotifyAdapter, NotifyOutcome } from '../../../kernel/index.ts';
import { type Outgoing, outgoing } from '../../harness/outgoing.ts';
import { type Receiver, type ReceiverScript, startReceiver } from '../../harness/receiver.ts';

/** A receiver, and an adapter that sends to it. */
export interface Sender extends AsyncDisposable {
  readonly receiver: Receiver;
  readonly out: Outgoing;
  /** `at` is the time of the attempt; the clock's by default. */
  send(content: string, config?: Readonly<Record<string, unknown>>, at?: number): Promise<NotifyOutcome>;
}

/** @param path  path and query of the channel's URL */
export async function startSender(adapter: NotifyAdapter, path: string, script?: ReceiverScript): Promise<Sender> {
  const receiver = await startReceiver(script);
  const out = outgoing();
  return {
    receiver,
    out,
    send(content, config = {}, at = out.clock.now()) {
      const target = { channel: 'c', url: `${receiver.origin}${path}`, config };
      return adapter.send({ content, key: 'k-1', at }, target, out.http, new AbortController().signal);
    },
    async [Symbol.asyncDispose]() {
      await out[Symbol.asyncDispose]();
      await receiver.close();
    },
  };
}

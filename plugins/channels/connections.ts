/** What stands behind registered channels: one connection each, made when it is first needed. */
import { type Channel, type ChannelConnection, OryxError, type OutgoingHttp, type ReadonlyRegistry } from '../../kernel/index.ts';
import type { NotifyChannels } from '../notify/contract.ts';

/** What connections are made of. */
export interface ConnectionParts {
  readonly adapters: ReadonlyRegistry<Channel>;
  readonly notifyChannels: NotifyChannels;
  readonly http: OutgoingHttp;
}

interface Connected {
  readonly adapter: Channel;
  readonly connection: ChannelConnection;
}

/** Connections by the name of their registered channel. */
export class Connections {
  readonly #parts: ConnectionParts;
  readonly #connected = new Map<string, Connected>();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /**
   * Calls `fn` with a channel's adapter and connection, while the adapter's plugin is held in place. Throws ORYX_CHANNEL_UNREADY, with what
   * an administrator can do, when there is no such channel, it is of another kind, or its configuration is not complete.
   */
  async use<R>(name: string, kind: string, fn: (connection: ChannelConnection, adapter: Channel) => Promise<R>): Promise<R> {
    const used = await this.#parts.adapters.use(kind, `channel ${name}`, async (adapter) => ({
      value: await fn(this.#connectionOf(name, adapter), adapter),
    }));
    if (used === undefined) throw unready(name, `needs the adapter "${kind}", which is not loaded`);
    return used.value;
  }

  /** After a change of its configuration. */
  drop(name: string): void {
    this.#connected.delete(name);
  }

  #connectionOf(name: string, adapter: Channel): ChannelConnection {
    const known = this.#connected.get(name);
    if (known?.adapter === adapter) return known.connection;
    const { notifyChannels, http } = this.#parts;
    const registered = notifyChannels.list().find((channel) => channel.name === name);
    const target = registered && notifyChannels.target(name);
    if (registered === undefined || target === undefined) throw unready(name, 'is not registered');
    if (registered.type !== adapter.name) throw unready(name, `is of the type "${registered.type}", not "${adapter.name}"`);
    const problem = adapter.problem(target);
    if (problem !== undefined) throw unready(name, problem);
    const connection = adapter.connect(target, http);
    this.#connected.set(name, { adapter, connection });
    return connection;
  }
}

const unready = (name: string, problem: string): OryxError =>
  new OryxError('ORYX_CHANNEL_UNREADY', `The channel "${name}" cannot take messages: it ${problem}.`);

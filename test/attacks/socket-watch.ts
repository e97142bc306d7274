/** What this process dials, whoever does it. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { BlockList, isIP, type Socket } from 'node:net';

/** An address that was dialled. */
export interface Dial {
  readonly address: string;
  readonly port: number;
}

export interface SocketWatch extends Disposable {
  /** Oldest first; those of the test's own requests are among them. */
  readonly dials: readonly Dial[];
  /** Names that were looked up for a connection. */
  readonly names: readonly string[];
}

/** Notes every TCP connection that is attempted from now on, until it is disposed of. */
export function watchSockets(): SocketWatch {
  const dials: Dial[] = [];
  const names: string[] = [];
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.on('connectionAttempt', (address: string, port: number) => void dials.push({ address, port }));
    socket.on('lookup', (_error, _address, _family, name) => void names.push(name));
  };
  subscribe('net.client.socket', note);
  return { dials, names, [Symbol.dispose]: () => void unsubscribe('net.client.socket', note) };
}

/** Whether the address lies in a network, e.g. "10.0.0.0/8" or "::1". */
export function isIn(address: string, network: string): boolean {
  const [base = '', bits] = network.split('/');
  const kind = (ip: string): 'ipv4' | 'ipv6' => (isIP(ip) === 6 ? 'ipv6' : 'ipv4');
  const list = new BlockList();
  list.addSubnet(base, Number(bits ?? (kind(base) === 'ipv6' ? 128 : 32)), kind(base));
  return list.check(address, kind(address));
}

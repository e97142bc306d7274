/** Compares addresses, whatever their spelling. */
import { isIP, SocketAddress } from 'node:net';

/** True when both are the same IP address. An IPv4 address and its IPv6 spelling are the same. */
export function sameAddress(one: string | undefined, other: string): boolean {
  const [a, b] = [canonical(one ?? ''), canonical(other)];
  return a !== undefined && a === b;
}

function canonical(address: string): string | undefined {
  const bare = address.split('%', 1)[0] ?? '';
  const family = isIP(bare);
  if (family === 0) return undefined;
  if (family === 4) return bare;
  const text = new SocketAddress({ address: bare, family: 'ipv6' }).address.toLowerCase();
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1] ?? text;
}

/** Is this the very server that is asked? */
import { networkInterfaces } from 'node:os';
import { parsedAddress } from './address-kind.ts';

/**
 * True for the port of this server on any address of this machine. The interfaces are read anew each time: they come and go.
 *
 * @param ownPort  undefined while the server does not listen
 */
export function isOwnAddress(address: string, port: number, ownPort: number | undefined): boolean {
  if (port !== ownPort) return false;
  const asked = parsedAddress(address);
  if (asked === undefined) return false;
  if (asked.range() === 'loopback' || asked.range() === 'unspecified') return true;
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return own.some((known) => parsedAddress(known.address)?.toString() === asked.toString());
}

/** What an IP address is good for. */
import ipaddr from 'ipaddr.js';
import { isMetadataAddress } from '../outside/contract.ts';

/**
 * `public`: a host of the internet. `never`: hands out a cloud machine's credentials, or is link-local. `fake`: what local proxies answer
 * instead of the real address (198.18.0.0/15). `private`: everything else, from loopback to ranges that nobody uses.
 */
export type AddressKind = 'public' | 'never' | 'fake' | 'private';

type Address = ReturnType<typeof ipaddr.process>;
type Range = readonly [ReturnType<typeof ipaddr.parse>, number];

const range = (text: string): Range => ipaddr.parseCIDR(text);
const FAKE = range('198.18.0.0/15');
/** All of the IPv6 internet. */
const GLOBAL = range('2000::/3');
/** Inside of it: protocol assignments with Teredo and ORCHID, 6to4, documentation. */
const NOT_GLOBAL = [range('2001::/23'), range('2002::/16'), range('3fff::/20')];

/** The kind of an address; `never` for a text that is none. IPv4 addresses in IPv6 spelling count as what they stand for. */
export function addressKind(text: string): AddressKind {
  const address = parsedAddress(text);
  if (address === undefined || isMetadataAddress(text) || isMetadataAddress(address.toString())) return 'never';
  if (isIn(address, FAKE)) return 'fake';
  return address.range() === 'unicast' && isGlobal(address) ? 'public' : 'private';
}

/** An address, an IPv4 one out of its mapped spelling; undefined for a text that is none. */
export const parsedAddress = (text: string): Address | undefined => (ipaddr.isValid(text) ? ipaddr.process(text) : undefined);

/** A network such as "10.0.0.0/8", or one address; undefined for anything else. IPv4 in its usual four parts only. */
export function parsedNetwork(text: string): Range | undefined {
  const isFull = text.includes(':') || /^\d+(\.\d+){3}(\/|$)/.test(text);
  if (!isFull) return undefined;
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = parsedAddress(text);
  return address && [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Whether an address lies in a network; of different families it never does. */
export const isIn = (address: Address, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

function isGlobal(address: Address): boolean {
  if (address.kind() === 'ipv4') return true;
  if (!isIn(address, GLOBAL) || NOT_GLOBAL.some((network) => isIn(address, network))) return false;
  // RFC 5214, ISATAP: the last four bytes are an IPv4 address, which a gateway unpacks.
  const parts = (address as { readonly parts?: readonly number[] }).parts ?? [];
  return !(parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200));
}

/** Opens connections for administrators' URLs, never to a metadata address. */
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { OryxError } from '../../kernel/index.ts';
import { isMetadataAddress } from './registered-addresses.ts';
import type { buildConnector } from 'undici';

/** How a host's addresses are found; the system's resolver unless a test brings its own. */
export type Lookup = (
  hostname: string,
  options: LookupOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const system: Lookup = (hostname, options, done) => systemLookup(hostname, { ...options, all: true }, done);

const metadataRefusal = (hostname: string): OryxError =>
  new OryxError('ORYX_REFUSED', `Requests to "${hostname}" are refused: it is a cloud metadata or link-local address.`);

/**
 * A connector for undici pools. Addresses are judged after the lookup and before the dial, and the peer once more after it: a literal
 * address is never looked up.
 */
export function registeredDialer(
  build: typeof buildConnector,
  connectTimeoutMs: number,
  lookup: Lookup = system,
): buildConnector.connector {
  const guarded: LookupFunction = (hostname, options, done) => {
    lookup(hostname, options, (error, addresses) => {
      if (error) return done(error, '');
      if (addresses.some(({ address }) => isMetadataAddress(address))) return done(metadataRefusal(hostname), '');
      const first = addresses[0];
      if (options.all) return done(null, addresses);
      if (first === undefined) return done(new Error(`"${hostname}" has no address`), '');
      done(null, first.address, first.family);
    });
  };
  const dial = build({ timeout: connectTimeoutMs, lookup: guarded, keepAliveInitialDelay: 30_000 });
  return (options, done) => {
    dial(options, (error, socket) => {
      if (error !== null) return done(error, null);
      if (isMetadataAddress(socket.remoteAddress ?? '')) {
        socket.destroy();
        return done(metadataRefusal(options.hostname), null);
      }
      done(null, socket);
    });
  };
}

/** Looks names up once, and dials exactly the address that was judged. */
import { isIP } from 'node:net';
import type { buildConnector } from 'undici';
import { HttpProblem } from './contract.ts';
import { codeOf } from './errno.ts';
import { sameAddress } from './http-peer.ts';
import type { Lookup } from './registered-dialer.ts';

/** The literal address that a URL's host is, without brackets; undefined for a name. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
}

/** All addresses behind a name, in the resolver's order. Throws HttpProblem when there are none. */
export async function resolvedName(hostname: string, lookup: Lookup): Promise<readonly string[]> {
  const found = await new Promise<readonly string[]>((resolve, reject) => {
    lookup(hostname, { all: true, order: 'verbatim' }, (error, addresses) => {
      if (error) return reject(lookupProblem(hostname, error));
      resolve(addresses.map(({ address }) => address));
    });
  });
  if (found.length === 0) throw lookupProblem(hostname);
  return found;
}

function lookupProblem(hostname: string, cause?: unknown): HttpProblem {
  if (codeOf(cause) === 'EAI_AGAIN') return new HttpProblem(`The host name could not be looked up, try again: ${hostname}`, { cause });
  return new HttpProblem(`Host not found: ${hostname}`, { cause });
}

/** A connector that dials `address` whatever the name of the host; that name is still what a certificate must be for. */
export function pinnedDialer(dial: buildConnector.connector, address: string): buildConnector.connector {
  return (options, done) => {
    dial({ ...options, hostname: address }, (error, socket) => {
      if (error !== null) return done(error, null);
      if (sameAddress(socket.remoteAddress, address)) return done(null, socket);
      socket.destroy();
      done(
        new HttpProblem(
          `The connection to ${options.hostname} led to another address than the one that the http whitelist was asked about`,
          {
            blockedBy: 'sandbox',
          },
        ),
        null,
      );
    });
  };
}

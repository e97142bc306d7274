/** Names and addresses that a server can be bound to. */
import { isIPv4 } from 'node:net';

/** A configured host as `listen` wants it: without the brackets of an IPv6 literal. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** A host as it stands in URLs and in the header `Host`: IPv6 in brackets, lower case. */
export function urlHost(host: string): string {
  const bare = bareHost(host).toLowerCase();
  return bare.includes(':') ? `[${bare}]` : bare;
}

/** True when a server bound to `host` can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  const bare = bareHost(host).toLowerCase();
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

/** The URL under which a person on this machine reaches the server; a wildcard bind is reached through loopback. */
export function urlOf(host: string, port: number): string {
  const bare = bareHost(host);
  const reachable = bare === '0.0.0.0' ? '127.0.0.1' : bare === '::' ? '::1' : bare;
  return `http://${urlHost(reachable)}:${port}`;
}

/** Refuses requests that a foreign web page could have caused: DNS rebinding by `Host`, cross-site requests by `Origin` and `Sec-Fetch-Site`. */
import { isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { OryxError, invalidInput } from '../../kernel/index.ts';
import { bareHost, isLoopback, urlHost } from './address.ts';

/** What decides which names a server answers to. */
export interface HostRules {
  /** The address that the server is bound to. */
  readonly bindHost: string;
  /** Further names, each with an optional port: "oryx.example.com", "oryx.example.com:8443". */
  readonly allowedHosts: readonly string[];
  /** The machine's own name. */
  readonly machineName: string;
}

/** Names compare exactly: a prefix test such as "starts with 127." also admits 127.attacker.example. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Builds the check of one server.
 *
 * @returns a function that throws ORYX_INVALID_INPUT for a request without exactly one `Host`, ORYX_FORBIDDEN for a name that is not
 *   accepted, a foreign origin, or an unsafe method that a browser marks as coming from another site
 */
export function hostGuard(rules: HostRules): (request: IncomingMessage) => void {
  const allowed = new Set(rules.allowedHosts.map((name) => name.toLowerCase()));
  const own = new Set(['127.0.0.1', 'localhost', '[::1]', urlHost(rules.bindHost)]);
  const onLoopback = isLoopback(rules.bindHost);
  const machineName = rules.machineName.toLowerCase();

  const isOwn = (name: string): boolean => {
    if (own.has(name)) return true;
    return !onLoopback && (name === machineName || isIP(bareHost(name)) !== 0);
  };
  const isAllowed = (name: string, port: string): boolean => allowed.has(name) || (port !== '' && allowed.has(`${name}:${port}`));

  return (request) => {
    const host = onlyHost(request);
    const parts = HOST.exec(host);
    const name = parts?.[1] ?? '';
    const port = parts?.[2] ?? '';
    if (parts === null || Number(port) > 65_535 || !(isOwn(name) || isAllowed(name, port))) {
      throw forbidden(`Host "${clip(host)}" is not accepted. Add the name to server.allowed-hosts if it is yours.`);
    }

    const origin = request.headers.origin;
    if (origin !== undefined && !isSameOrigin(origin, host) && !isAllowedOrigin(origin, isAllowed)) {
      throw forbidden(`Origin "${clip(origin)}" is not accepted. Only pages of this server may call it.`);
    }
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined && !SAFE_METHODS.has(request.method ?? '') && !OWN_SITES.has(site)) {
      throw forbidden('Requests that change something are not accepted from pages of another site.');
    }
  };
}

/** The one `Host` of a request in lower case. Node keeps the first of several and hides the others, hence the raw headers. */
function onlyHost(request: IncomingMessage): string {
  const hosts = request.rawHeaders.filter((_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'host');
  const [host] = hosts;
  if (host === undefined) throw invalidInput('The header Host is missing.');
  if (hosts.length > 1) throw invalidInput('The header Host is given more than once.');
  return host.toLowerCase();
}

/** The server speaks plain HTTP, so its own origin is `http://<Host>`; both sides lose a default port. */
function isSameOrigin(origin: string, host: string): boolean {
  const url = parsedOrigin(origin);
  return url !== undefined && url.origin === new URL(`http://${host}`).origin;
}

/** A whitelisted name is accepted with either scheme: behind a TLS proxy the page's origin is https. */
function isAllowedOrigin(origin: string, isAllowed: (name: string, port: string) => boolean): boolean {
  const url = parsedOrigin(origin);
  return url !== undefined && isAllowed(url.hostname, url.port);
}

function parsedOrigin(origin: string): URL | undefined {
  if (!/^https?:\/\/[^/?#@\s]+$/i.test(origin) || !URL.canParse(origin)) return undefined;
  return new URL(origin);
}

const forbidden = (message: string): OryxError => new OryxError('ORYX_FORBIDDEN', message);
const clip = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

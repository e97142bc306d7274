/** May this URL be asked, and the addresses behind it? Pure: names were looked up before, or not yet. */
import { isIP } from 'node:net';
import type { Refusal } from '../../kernel/index.ts';
import { hasControlCharacters, isMetadataHost } from '../outside/contract.ts';
import { addressKind } from './address-kind.ts';
import { covers, domainRule, hostOf } from './domain-rule.ts';
import type { DomainRule } from './domain-rule.ts';
import { isOtherPort } from './other-ports.ts';
import type { PrivateRule } from './private-rule.ts';
import { quoted, refused } from './refused.ts';

/** What URLs are judged by. */
export interface UrlRules {
  /** The http whitelist. */
  readonly allowed: readonly string[];
  /** `public`: reading needs no entry, as long as the host is on the internet. */
  readonly readPolicy: 'whitelist' | 'public';
  /** What may be reached although its address is private, if the whitelist allows its host. */
  readonly allowedPrivate: readonly PrivateRule[];
  /** Whether an address and port are this server itself. */
  readonly isOwn: (address: string, port: number) => boolean;
}

/** A URL as it was given, and the addresses behind it, once they are known. */
export interface JudgedUrl {
  readonly text: string;
  readonly access: 'read' | 'write';
  readonly addresses: readonly string[] | undefined;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

const ADD = 'an administrator can add it with POST /api/v1/sandbox/whitelist/http';
/** RFC 6761, 6762, 8375 and what resolvers of companies, homes and clusters use: names that mean something else on every network. */
const LOCAL_NAME = /(^|\.)(localhost|local|localdomain|internal|intranet|private|corp|home|lan|svc|arpa)$/;

/** The verdict: scheme, host, list and port first; then the address of a literal, or of all that the name stands for. */
export function judgeUrl({ text, access, addresses }: JudgedUrl, rules: UrlRules): Refusal | undefined {
  if (hasControlCharacters(text)) return refused(`${quoted(text)} has control characters, so it cannot be on the http whitelist`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return refused(`${quoted(text)} is not a valid URL, so it cannot be on the http whitelist`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refused(`${quoted(url.protocol)} is not covered by the http whitelist: only http and https are`);
  }
  const host = hostOf(url.hostname);
  if (host === undefined) return refused(`${quoted(text)} has no valid host name, so it cannot be on the http whitelist`);
  if (url.username !== '' || url.password !== '') {
    return refused(`A URL with a user name or password is not covered by the http whitelist; the host was ${quoted(host)}`);
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return judgeHost({ host, port }, url.host, access, rules) ?? judgeAddresses({ host, port }, addresses, rules);
}

function judgeHost({ host, port }: Target, shown: string, access: 'read' | 'write', rules: UrlRules): Refusal | undefined {
  if (isMetadataHost(host)) return never(host);
  const entries = rulesOf(rules.allowed).filter((rule) => covers(rule, host, port));
  if (entries.length === 0) {
    if (access === 'write' || rules.readPolicy !== 'public') return refused(`${quoted(shown)} is not on the http whitelist; ${ADD}`);
    if (isLocalName(host)) {
      return refused(
        `${quoted(host)} is a name of a local network, which http.read_policy: public does not open, and not on the http whitelist; ${ADD}`,
      );
    }
  }
  if (!isOtherPort(port) || entries.some((rule) => rule.port !== undefined)) return undefined;
  return refused(
    `Port ${port} belongs to another protocol and is open only when an entry of the http whitelist names it; an administrator can add ${quoted(`${host}:${port}`)} with POST /api/v1/sandbox/whitelist/http`,
  );
}

/** Every address must be allowed: which of them is dialled is not the guard's choice. */
function judgeAddresses(target: Target, addresses: readonly string[] | undefined, rules: UrlRules): Refusal | undefined {
  const literal = literalOf(target.host);
  const known = literal === undefined ? addresses : [literal, ...(addresses ?? [])];
  for (const address of known ?? []) {
    const refusal = judgeAddress(target, address, rules);
    if (refusal) return refusal;
  }
  return undefined;
}

function judgeAddress({ host, port }: Target, address: string, rules: UrlRules): Refusal | undefined {
  const kind = addressKind(address);
  if (kind === 'never') return never(host);
  if (rules.isOwn(address, port))
    return refused(`${quoted(`${host}:${port}`)} is this server itself, which no entry of the http whitelist opens`);
  if (kind === 'public' || rules.allowedPrivate.some((rule) => rule.opens(host, port, address))) return undefined;
  const leads =
    literalOf(host) !== undefined ? `${quoted(host)} is a private address` : `${quoted(host)} leads to the private address ${address}`;
  const where = `${leads}, which the http whitelist alone does not open; an administrator can add`;
  if (kind === 'fake') {
    return refused(`${where} "198.18.0.0/15" to http.allowed_private if this machine uses a proxy with fake addresses (Clash, Mihomo)`);
  }
  return refused(`${where} ${quoted(`${host}:${port}`)} to http.allowed_private`);
}

const never = (host: string): Refusal =>
  refused(`${quoted(host)} is a cloud metadata or link-local address, which no entry of the http whitelist opens`);

const isLocalName = (host: string): boolean => literalOf(host) === undefined && (!host.includes('.') || LOCAL_NAME.test(host));

function literalOf(host: string): string | undefined {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
}

const parsedLists = new WeakMap<readonly string[], readonly DomainRule[]>();

/** The entries of a list, parsed once per list. */
function rulesOf(allowed: readonly string[]): readonly DomainRule[] {
  let parsed = parsedLists.get(allowed);
  if (parsed === undefined) parsedLists.set(allowed, (parsed = allowed.map(domainRule)));
  return parsed;
}

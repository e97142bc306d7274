/** Entries of the http whitelist: a host, or "*." and a domain, with an optional port. */
import { invalidInput } from '../../kernel/index.ts';

/** `wildcard` covers every true subdomain of `host`, not `host` itself. Without `port` every port is covered. */
export interface DomainRule {
  readonly host: string;
  readonly wildcard: boolean;
  readonly port: number | undefined;
}

const NAME = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;
const IPV4 = /^\d+(\.\d+){3}$/;

/** Parses an entry with the parser that judges URLs later. Throws ORYX_INVALID_INPUT for anything that is not a host. */
export function domainRule(value: string): DomainRule {
  const text = value.toLowerCase();
  if (text.includes('://')) throw invalidInput('value must be a host name without "http://" or "https://"');
  if (/[\s/?#@\\%]/.test(text)) throw invalidInput('value must be a host name, without path, user name, blanks or escapes');
  const [, star, name = '', digits] = /^(\*\.)?(\[[0-9a-f:.]+\]|[^:*[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const wildcard = star !== undefined;
  const host = hostOf(name);
  if (host === undefined) throw invalidInput('value must be a host such as "api.example.com", "*.example.com" or "api.example.com:8443"');
  if (wildcard && !NAME.test(host)) throw invalidInput('value must not combine "*." with an address');
  if (wildcard && IPV4.test(host)) throw invalidInput('value must not combine "*." with an address');
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) throw invalidInput('value has a port outside 1 to 65535');
  return { host, wildcard, port };
}

/** The rule as it is stored and shown. */
export const domainText = ({ host, wildcard, port }: DomainRule): string =>
  `${wildcard ? '*.' : ''}${host}${port === undefined ? '' : `:${port}`}`;

/** Whether a rule covers a host (as `hostOf` gives it) on a port. */
export function covers(rule: DomainRule, host: string, port: number): boolean {
  if (rule.port !== undefined && rule.port !== port) return false;
  return rule.wildcard ? host.endsWith(`.${rule.host}`) && host.length > rule.host.length + 1 : host === rule.host;
}

/** A host as URLs carry it: lower case, punycode, numbers as addresses, one trailing dot gone. undefined when no URL can have it. */
export function hostOf(name: string): string | undefined {
  if (name === '' || !URL.canParse(`http://${name}/`)) return undefined;
  const host = new URL(`http://${name}/`).hostname.replace(/\.$/, '');
  return NAME.test(host) || host.startsWith('[') ? host : undefined;
}

/** Entries of `http.allowed_private`: a host with an optional port, an address, or a network. */
import { invalidInput } from '../../kernel/index.ts';
import { isIn, parsedAddress, parsedNetwork } from './address-kind.ts';
import { covers, domainRule } from './domain-rule.ts';

/** What one entry opens, beside the whitelist and never instead of it. */
export interface PrivateRule {
  opens(host: string, port: number, address: string): boolean;
}

/** Parses an entry. Throws ORYX_INVALID_INPUT for anything that is neither a host nor a network. */
export function privateRule(text: string): PrivateRule {
  const network = parsedNetwork(text.replace(/^\[(.*)\]$/, '$1'));
  if (network !== undefined) return { opens: (_host, _port, address) => isCovered(address, network) };
  const rule = domainRule(text);
  const literal = parsedNetwork(rule.host.replace(/^\[(.*)\]$/, '$1'));
  if (literal !== undefined) return { opens: (_host, port, address) => port === rule.port && isCovered(address, literal) };
  if (rule.wildcard) throw invalidInput('value must be one host, an address or a network such as "10.0.0.0/8"');
  return { opens: (host, port) => covers(rule, host, port) };
}

function isCovered(text: string, network: NonNullable<ReturnType<typeof parsedNetwork>>): boolean {
  const address = parsedAddress(text);
  return address !== undefined && isIn(address, network);
}

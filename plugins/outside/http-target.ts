/** URLs that can be asked at all, whatever the guards say. */
import { HttpProblem } from './contract.ts';
import { isMetadataAddress, isMetadataHost } from './registered-addresses.ts';

/** The parsed URL, its host without the dot at the end. Throws HttpProblem, final, for anything but http and https without user name. */
export function targetUrl(text: string): URL {
  if (!URL.canParse(text)) throw refused('Not a valid URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('The URL must start with http:// or https://');
  if (url.username !== '' || url.password !== '') throw refused('The URL must not contain a user name or password');
  url.hostname = url.hostname.replace(/\.$/, '');
  url.hash = '';
  if (isMetadataHost(url.hostname)) throw metadata(url.hostname);
  return url;
}

/** Throws HttpProblem, final, when one of the addresses hands out a cloud machine's credentials. */
export function requireNoMetadata(hostname: string, addresses: readonly string[]): void {
  if (addresses.some(isMetadataAddress)) throw metadata(hostname);
}

const metadata = (hostname: string): HttpProblem =>
  refused(`${hostname} is a cloud metadata or link-local address, which no entry of the http whitelist opens`);

const refused = (message: string): HttpProblem => new HttpProblem(message, { blockedBy: 'sandbox' });

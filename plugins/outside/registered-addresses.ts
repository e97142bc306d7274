/** Addresses that no administrator's URL may lead to: they hand out a cloud machine's credentials. */
import { BlockList, isIP } from 'node:net';

const METADATA_HOSTS = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data.ec2.internal',
]);

/** IPv4 ranges as [address, prefix]: link-local (AWS, GCP, Azure, Oracle …), Alibaba, Azure's wire server, Oracle classic. */
const IPV4_RANGES = [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
] as const;

const BLOCKED = new BlockList();
for (const [address, prefix] of IPV4_RANGES) {
  BLOCKED.addSubnet(address, prefix, 'ipv4');
  const [high, low] = hextets(address);
  // The same IPv4 address as IPv6 sees it: compatible, mapped, translated (RFC 2765), NAT64 (RFC 6052), local NAT64 (RFC 8215), 6to4 (RFC 3056).
  for (const before of ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::']) {
    BLOCKED.addSubnet(`${before}${high}:${low}`, 96 + prefix, 'ipv6');
  }
  BLOCKED.addSubnet(`2002:${high}:${low}::`, 16 + prefix, 'ipv6');
}
BLOCKED.addSubnet('fe80::', 10, 'ipv6');
BLOCKED.addAddress('fd00:ec2::254', 'ipv6');
BLOCKED.addAddress('fd20:ce::254', 'ipv6');

function hextets(ipv4: string): readonly [string, string] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}

/** True for a metadata or link-local address in any of its spellings; `address` is a plain IP without brackets. */
export function isMetadataAddress(address: string): boolean {
  const bare = address.split('%', 1)[0] ?? '';
  const family = isIP(bare);
  if (family === 0) return false;
  return BLOCKED.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}

/** True for a host name or literal (as `URL.hostname` gives it) that is known to serve metadata. Looks nothing up. */
export function isMetadataHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[|\]$/g, '');
  return METADATA_HOSTS.has(host) || isMetadataAddress(host);
}

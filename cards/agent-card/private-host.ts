import { BlockList, isIP } from 'node:net';

/** IANA special-purpose IPv4 blocks (RFC 6890 and later). */
const special4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Blocks of IPv6 global unicast that are not the public internet: Teredo, documentation, 6to4. */
const special6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const closed4 = new BlockList();
for (const [network, prefix] of special4) closed4.addSubnet(network, prefix, 'ipv4');
const closed6 = new BlockList();
for (const [network, prefix] of special6) closed6.addSubnet(network, prefix, 'ipv6');
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether a host name, as `URL.hostname` gives it, is private by its spelling: loopback, private and
 * special addresses, names without a dot, and the suffixes of local networks. Nothing is looked up:
 * whoever connects must check the addresses too.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const kind = isIP(host);
  if (kind === 4) return closed4.check(host, 'ipv4');
  if (kind === 6) return !global6.check(host, 'ipv6') || closed6.check(host, 'ipv6');
  return (
    !host.includes('.') || /\.(localhost|local|internal|lan|home|home\.arpa|intranet)$/.test(host)
  );
}

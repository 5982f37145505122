// Which network addresses a program may ask on behalf of somebody else: public unicast only.
import { BlockList, isIP } from 'node:net';

const closed = new BlockList();
/** IANA special-purpose registries (RFC 6890 and later): private, loopback, link-local, shared, test, multicast. */
const ranges4 = [
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
for (const [network, prefix] of ranges4) closed.addSubnet(network, prefix, 'ipv4');

const open6 = new BlockList();
open6.addSubnet('2000::', 3, 'ipv6');
const closed6 = new BlockList();
/** Inside global unicast: protocol assignments, Teredo, documentation, 6to4 (which wraps any IPv4). */
const ranges6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];
for (const [network, prefix] of ranges6) closed6.addSubnet(network, prefix, 'ipv6');

/** True only for an address that belongs to the public internet. */
export function isPublicAddress(address) {
  const kind = isIP(address);
  if (kind === 4) return !closed.check(address, 'ipv4');
  return kind === 6 && open6.check(address, 'ipv6') && !closed6.check(address, 'ipv6');
}

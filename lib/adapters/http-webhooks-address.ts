// Which addresses are public. What is not known to be public is not: networks of the cloud provider, of the machine and
// of its neighbours must never be reached through a URL that a user gave.
import { BlockList, isIP } from "node:net";

/** IANA special-purpose registry: everything that is not globally reachable. */
const notPublicV4 = ranges("ipv4", [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
]);
/** Global unicast, without what leads elsewhere: Teredo, ORCHID, documentation, 6to4. */
const unicastV6 = ranges("ipv6", [["2000::", 3]]);
const notPublicV6 = ranges("ipv6", [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
]);
const loopbackV4 = ranges("ipv4", [["127.0.0.0", 8]]);

/** False for what is no address. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !notPublicV4.check(address, "ipv4");
  return isIP(address) === 6 && unicastV6.check(address, "ipv6") && !notPublicV6.check(address, "ipv6");
}

/** This machine: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  return isIP(address) === 4 ? loopbackV4.check(address, "ipv4") : address === "::1";
}

function ranges(family: "ipv4" | "ipv6", nets: [string, number][]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of nets) list.addSubnet(net, prefix, family);
  return list;
}

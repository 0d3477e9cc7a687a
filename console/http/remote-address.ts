/**
 * From which address a request comes. Behind a proxy everybody has the proxy's: `trustedProxies` names those whose
 * word on another address counts, and nobody else's does.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';

export interface TrustedProxies {
  has(address: string): boolean;
}

/** Addresses and networks (`10.0.0.0/8`), which have been checked. */
export function trustedProxies(named: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const one of named) {
    const [address = '', prefix] = one.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return {
    has(address) {
      const plain = unmapped(address);
      if (isIP(plain) === 0) return false;
      return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
    },
  };
}

/** The nearest address that no trusted proxy has: each one adds whom it had it from at the end. */
export function remoteAddress(
  peer: string,
  forwardedFor: string | undefined,
  proxies: TrustedProxies,
): string {
  const said = (forwardedFor ?? '').split(',').map((one) => one.trim());
  let address = unmapped(peer);
  while (proxies.has(address)) {
    const before = unmapped(said.pop() ?? '');
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
}

/** Whoever has one address of IPv6 has the 2^64 beside it as well. */
export function addressGroup(address: string): string {
  const plain = unmapped(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('%')[0]!.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array.from({ length: Math.max(0, gap) }, () => '0'), ...last];
  return `${groups
    .slice(0, 4)
    .map((one) => Number.parseInt(one, 16).toString(16))
    .join(':')}::/64`;
}

function unmapped(address: string): string {
  return /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1] ?? address;
}

import proxyAddress from 'proxy-addr';
import type { HttpRequest } from '../adapters/http/http-message.js';

/**
 * Makes what tells the address of a client behind proxies: the first address, from the connection backwards, that is
 * not a trusted proxy's. Each proxy adds the address that it was called from to Forwarded (RFC 7239) or, without that
 * header, to X-Forwarded-For. What others than trusted proxies say is ignored.
 * @param trusted addresses and networks of the proxies, such as `10.0.0.0/8`
 */
export function clientAddressBehind(
  trusted: readonly string[],
): (request: HttpRequest) => string | undefined {
  const isTrusted = proxyAddress.compile([...trusted]);
  return (request) => {
    const { remoteAddress } = request;
    if (remoteAddress === undefined || !isTrusted(remoteAddress, 0)) return remoteAddress;
    const forwarded = request.header('forwarded');
    const addresses =
      forwarded === undefined ? request.header('x-forwarded-for') : addressesOf(forwarded).join(', ');
    // As much of Node's request as proxy-addr reads.
    const sent = { connection: { remoteAddress }, headers: { 'x-forwarded-for': addresses } };
    return proxyAddress(sent as unknown as Parameters<typeof proxyAddress>[0], isTrusted);
  };
}

/** The values of `for`, without ports, brackets and quotes. */
const addressesOf = (forwarded: string): string[] =>
  [...forwarded.matchAll(/(?:^|[;,])\s*for="?(?:\[([^\]]*)\]|([^\s":;,]*))/gi)].map(
    ([, ipv6, other]) => ipv6 ?? other ?? '',
  );

import proxyAddress from 'proxy-addr';
import type { HttpRequest } from '../../adapters/http/http-message.js';

/**
 * Makes what tells the address of a client behind proxies: the first address, from the connection backwards, that is
 * not a trusted proxy's. Each proxy adds the address of its client to X-Forwarded-For. Ignores what others than trusted
 * proxies say, and the header Forwarded: many proxies pass on what a client sent in it.
 * @param trusted addresses and networks of the proxies, such as `10.0.0.0/8`
 */
export function clientAddressBehind(
  trusted: readonly string[],
): (request: HttpRequest) => string | undefined {
  const isTrusted = proxyAddress.compile([...trusted]);
  return (request) => {
    const { remoteAddress } = request;
    if (remoteAddress === undefined) return undefined;
    // The part of Node's request that proxy-addr reads.
    const headers = { 'x-forwarded-for': request.header('x-forwarded-for') };
    const sent = { connection: { remoteAddress }, headers } as unknown;
    return proxyAddress(sent as Parameters<typeof proxyAddress>[0], isTrusted);
  };
}

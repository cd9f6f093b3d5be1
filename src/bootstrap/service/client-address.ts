import proxyAddress from 'proxy-addr';
import type { HttpRequest } from '../../adapters/http/http-message.js';

/**
 * Tells the address of a client behind proxies: the first, from the connection backwards through X-Forwarded-For, that
 * is not a trusted proxy's. Ignores the header Forwarded: many proxies pass on what a client sent in it.
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

import type { IncomingMessage } from 'node:http';
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
    const entries = request.header('x-forwarded-for')?.split(',');
    const forwardedFor = entries?.map(withoutPort).join(',');
    // The part of a request of Node.js that proxy-addr reads.
    const parts: unknown = {
      connection: { remoteAddress },
      headers: { 'x-forwarded-for': forwardedFor },
    };
    return proxyAddress(parts as IncomingMessage, isTrusted);
  };
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return entry.trim().replace(/^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/, '$1$2');
}

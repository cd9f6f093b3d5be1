import { isIPv4 } from 'node:net';

/** Whether only this machine can reach a host. */
export const isLoopback = (host: string): boolean =>
  ['localhost', '::1'].includes(host) || (isIPv4(host) && host.startsWith('127.'));

/** A host as URLs write it; for a wildcard address, the loopback address. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

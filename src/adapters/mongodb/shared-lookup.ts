import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Looks up the names of servers for one client, one look-up per name at a time. A look-up can hang for ten seconds and
 * cannot be aborted, and Node.js runs only two at a time. Without sharing, the heartbeats to one dead server would
 * delay all other look-ups. One client always passes the same options.
 */
export function sharedLookup(): LookupFunction {
  const waiting = new Map<string, Array<Parameters<LookupFunction>[2]>>();

  return (name, options, callback) => {
    const others = waiting.get(name);
    if (others) return void others.push(callback);
    const callbacks = [callback];
    waiting.set(name, callbacks);
    lookup(name, options, (...found) => {
      waiting.delete(name);
      for (const each of callbacks) each(...found);
    });
  };
}

import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Looks up the names of servers for one client, each name once at a time. A look-up can hang for ten seconds, nobody can
 * abort it, and Node.js runs two at a time: those of a dead server, repeated at each heartbeat, would delay all others.
 */
export function sharedLookup(): LookupFunction {
  const waiting = new Map<string, Parameters<LookupFunction>[2][]>();

  return (name, options, callback) => {
    const callbacks = waiting.get(name) ?? [];
    if (callbacks.push(callback) > 1) return;
    waiting.set(name, callbacks);
    lookup(name, options, (...found) => {
      waiting.delete(name);
      for (const answer of callbacks) answer(...found);
    });
  };
}

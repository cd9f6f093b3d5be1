import { promises as dns, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { callbackify } from 'node:util';

/** After this time, in milliseconds, the last known addresses of a name are used. */
const PATIENCE = 200;

/**
 * Looks up names for the sockets of one client. The operating system can take ten seconds to fail, no lookup can be
 * aborted, and Node.js runs about two at a time. So each name has one lookup in progress at most: else those of a dead
 * member, which the driver repeats at each heartbeat, would delay the others'. While a lookup fails or takes long, the
 * last known addresses are used.
 */
export function memberLookup(): LookupFunction {
  const inProgress = new Map<string, Promise<LookupAddress[]>>();
  const known = new Map<string, LookupAddress[]>();

  async function lookUp(name: string, options: LookupAllOptions) {
    try {
      const found = await dns.lookup(name, options);
      known.set(name, found);
      return found;
    } finally {
      inProgress.delete(name);
    }
  }

  async function addressesOf(name: string, options: LookupAllOptions) {
    const looking = inProgress.get(name) ?? lookUp(name, options);
    inProgress.set(name, looking);
    const last = known.get(name);
    if (last === undefined) return looking;
    const late = delay(PATIENCE, last, { ref: false });
    return Promise.race([looking.catch(() => last), late]);
  }

  const lookUpAll = callbackify(addressesOf);
  return (name, options, callback) => {
    lookUpAll(name, { ...options, all: true }, (error, found) => {
      const first = error ? undefined : found[0];
      if (options.all || first === undefined) callback(error, found);
      else callback(null, first.address, first.family);
    });
  };
}

import { setTimeout as delay } from 'node:timers/promises';

/**
 * Polls until `done` resolves to something other than `false` and `undefined`.
 * @param patience in milliseconds. Default: for servers that start, and replica sets that elect, on busy machines
 */
export async function until<T>(
  what: string,
  done: () => T | false | undefined | Promise<T | false | undefined>,
  patience = 60_000,
): Promise<T> {
  for (const since = performance.now(); ; await delay(20)) {
    const found = await done();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - since > patience) throw new Error(`waited too long until ${what}`);
  }
}

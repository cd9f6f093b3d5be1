import { setTimeout as delay } from 'node:timers/promises';

/** How long a server may take to start, or a replica set to elect a primary, in milliseconds: machines are busy. */
const PATIENCE = 60_000;

/** Polls until `done` resolves to something other than `false` and `undefined`. */
export async function until<T>(
  what: string,
  done: () => T | false | undefined | Promise<T | false | undefined>,
): Promise<T> {
  for (const since = performance.now(); ; await delay(20)) {
    const found = await done();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - since > PATIENCE) throw new Error(`waited too long until ${what}`);
  }
}

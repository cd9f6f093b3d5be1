import { BusyError } from './error-responses.js';

/** How many invalid keys a second an address may send for as long as it likes. */
const RATE = 20;

/** How many it may send at once, after a pause. */
const BURST = 1000;

/** How many addresses are remembered. Beyond it, the one that has sent no invalid key for longest is forgotten. */
const MOST_ADDRESSES = 10_000;

const INTERVAL = 1000 / RATE;

/**
 * Counts invalid API keys by the address of the client. It only decides how an invalid key is refused: a valid key is
 * never refused because of it.
 */
export class FailedKeys {
  /** By address: when all its failures are forgiven, one each `INTERVAL`. The least recent failure comes first. */
  readonly #forgivenAt = new Map<string, number>();

  /**
   * Counts an invalid key.
   * @param address omit it if it is unknown: then nothing is counted
   * @throws {BusyError} there were too many, and this one was not counted. Not 429: the document declares that status only
   * for a service with a rate limit.
   */
  add(address: string | undefined): void {
    if (address === undefined) return;
    const client = networkOf(address);
    const now = performance.now();
    const forgivenAt = Math.max(now, this.#forgivenAt.get(client) ?? now) + INTERVAL;
    if (forgivenAt - now > BURST * INTERVAL) throw new BusyError('judging that many invalid API keys');
    this.#forgivenAt.delete(client);
    this.#forgivenAt.set(client, forgivenAt);
    const [oldest] = this.#forgivenAt.keys();
    if (oldest !== undefined && this.#forgivenAt.size > MOST_ADDRESSES) this.#forgivenAt.delete(oldest);
  }
}

/** An IPv4 address as it is. Of an IPv6 address the first 64 bits: one client usually has all the others. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = [], tail = []] = address.split('::').map((groups) => groups.split(':'));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}

import { hash, timingSafeEqual } from 'node:crypto';
import { InvalidParameterError, type Fault } from '../../domain/errors.js';
import { digestApiKey } from './api-key-format.js';

/** The rule that a static key breaks, or `undefined`: it is a bearer token by RFC 6750, section 2.1. */
export function staticKeyFault(key: string): string | undefined {
  if (key === '') return 'must not be empty';
  if (/^[A-Za-z0-9\-._~+/]+=*$/.test(key)) return undefined;
  return 'must consist of letters (A-Z, a-z), digits and - . _ ~ + / only, with any number of = at its end';
}

/** Whether a static key has fewer than 16 characters: short enough to be guessed, so worth a warning. */
export const isShortStaticKey = (key: string): boolean => key.length < 16;

/** Keys that the settings give. Only digests of them are kept. */
export class StaticApiKeys {
  readonly #keys: readonly { readonly id: string; readonly digest: Buffer }[];

  /** @throws {InvalidParameterError} naming every key that is none by its position, counted from 1. */
  constructor(keys: readonly string[]) {
    const faults: Fault[] = keys.flatMap((key, index) => {
      const message = staticKeyFault(key);
      return message === undefined ? [] : [{ field: `static key ${index + 1}`, message }];
    });
    if (faults.length > 0) throw new InvalidParameterError(faults);
    this.#keys = keys.map((key) => ({ id: staticKeyId(key), digest: digestApiKey(key) }));
  }

  /** The id of the key that has this digest. */
  findId(digest: Buffer): string | undefined {
    let found: string | undefined;
    // Every key is compared, in constant time: how long it takes tells neither which one matched nor how much of it.
    for (const key of this.#keys) if (timingSafeEqual(key.digest, digest)) found = key.id;
    return found;
  }
}

/**
 * Names a static key in logs: the same after every restart, in any order and on every instance. Made apart
 * from the digest that grants access, so that the name is no part of it.
 */
export const staticKeyId = (key: string): string =>
  `static-${hash('sha256', `animal-store static key id\0${key}`, 'hex').slice(0, 12)}`;

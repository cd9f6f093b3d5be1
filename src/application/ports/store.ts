// For programs that compile with neither an esnext library nor the types of Node.js.
/// <reference lib="esnext.disposable" preserve="true" />
import { UnavailableError } from '../../domain/errors.js';
import type { CallOptions } from '../animal-store.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import type { CatalogueTransfer } from './catalogue-transfer.js';
import type { PetChanges } from './pet-changes.js';
import type { PetRepository } from './pet-repository.js';

/** An open store: its lifecycle, and the ports on its data. Every adapter passes `storeTests`. */
export interface Store {
  /** Animals: the only port that every store has. */
  readonly pets: PetRepository;
  /** Without it animals cannot be changed or removed. */
  readonly changes?: PetChanges | undefined;
  /** Managed API keys. Without it only static keys work. */
  readonly apiKeys?: ApiKeyRepository | undefined;
  /** Without it the store cannot be copied. */
  readonly transfer?: CatalogueTransfer | undefined;
  /** The normalised address of the store, safe to log. */
  readonly location: string;
  /** Resolves if the store can answer a read now, else rejects with `UnavailableError`. Called once a second at most. */
  check(options?: CallOptions): Promise<void>;
  /**
   * Closes the store within five seconds. Calls in progress finish or reject; later calls of every port reject with
   * `UnavailableError`. Safe to call twice.
   */
  close(): Promise<void>;
  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** A store with every port. */
export type CompleteStore = { readonly [Part in keyof Store]-?: NonNullable<Store[Part]> };

/** Opens the stores of one technology. `STORE_URL` chooses the factory by its scheme. */
export interface StoreFactory {
  /** The part of `STORE_URL` before its first colon, in lower case; several if they mean the same. */
  readonly scheme: string | readonly string[];
  /**
   * Opens the store at a URL. If the database is only unreachable for now, this still succeeds. The calls reject with
   * `UnavailableError` until it is reachable.
   * @throws {Error} the store can never be used; the message says why in one line, without secrets. With
   * `isLasting: true` only a person can mend it: commands then end with 2, not 1.
   */
  open(url: string, options?: OpenOptions): Promise<Store>;
}

/** How a store is opened. */
export interface OpenOptions {
  /** Default: `create`. */
  readonly mode?: OpenMode | undefined;
}

const OPEN_MODES = ['create', 'existing', 'read'] as const;

/**
 * What opening may do to a store: `create` makes one where none exists, `existing` fails there. `read` is `existing`, and
 * every write rejects with `UnavailableError`; where the store can, all reads show one moment while others write.
 */
export type OpenMode = (typeof OPEN_MODES)[number];

/**
 * The mode of a store that is to be opened, checked: a store that is meant to be read must not open to write.
 * @throws {TypeError} no such mode exists
 */
export function openModeOf({ mode = 'create' }: OpenOptions): OpenMode {
  if (OPEN_MODES.includes(mode)) return mode;
  throw new TypeError(`mode must be one of ${OPEN_MODES.join(', ')}`);
}

/** @throws {UnavailableError} the store was opened to read, so `doing` must not begin. */
export function requireWriting(mode: OpenMode, doing: string): void {
  if (mode === 'read') throw new UnavailableError(doing, { cause: new Error('opened to read') });
}

// Declares Symbol.asyncDispose for programs that compile without esnext and @types/node.
/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions } from '../call-options.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import type { CatalogueTransfer } from './catalogue-transfer.js';
import type { PetChanges } from './pet-changes.js';
import type { PetRepository } from './pet-repository.js';

/** An open store: its lifecycle, and the ports on its data. Every adapter passes `storeTests`. */
export interface Store {
  /** Required; the other ports are optional. */
  readonly pets: PetRepository;
  /** Without it animals cannot be changed or removed. */
  readonly changes?: PetChanges | undefined;
  /** Managed API keys. Without it only static keys work. */
  readonly apiKeys?: ApiKeyRepository | undefined;
  /** Without it the store cannot be copied. */
  readonly transfer?: CatalogueTransfer | undefined;
  /** Where the data is, safe to log. */
  readonly location: string;
  /**
   * Resolves if the store can answer a read now, else rejects with `UnavailableError`. The service calls it at most
   * once a second, so it may ask the database.
   */
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
  /**
   * The part of `STORE_URL` before its first colon, in lower case; an array if several, such as `mongodb` and
   * `mongodb+srv`.
   */
  readonly scheme: string | readonly string[];
  /**
   * Opens the store at a URL. Also succeeds while the database is unreachable: calls then reject with
   * `UnavailableError`.
   * @throws {Error} the store cannot be used. The message says why in one line, without secrets. `isPermanent: true` on
   * the error says that a retry is useless.
   */
  open(url: string, options?: OpenOptions): Promise<Store>;
}

/** How a store is opened. */
export interface OpenOptions {
  /** Default: `create`. */
  readonly mode?: OpenMode | undefined;
}

/** Every mode. */
export const OPEN_MODES = Object.freeze(['create', 'existing', 'read'] as const);

/**
 * If no store exists, `create` makes one; `existing` and `read` fail. With `read`, every write
 * rejects with `UnavailableError`, and all reads see one snapshot if the technology has snapshots.
 */
export type OpenMode = (typeof OPEN_MODES)[number];

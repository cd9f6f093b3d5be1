// For programs that compile with neither an esnext library nor the types of Node.js.
/// <reference lib="esnext.disposable" preserve="true" />
import { UnavailableError } from '../../domain/errors.js';
import type { CallOptions } from '../animal-store.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import type { CatalogueTransfer } from './catalogue-transfer.js';
import type { PetChanges } from './pet-changes.js';
import type { PetRepository } from './pet-repository.js';

/** An open store: its lifecycle, and the ports on its data. Every adapter passes `storeContracts`. */
export interface Store {
  /** Animals: the only port that every store has. */
  readonly pets: PetRepository;
  /** Managed API keys. Without it only static keys work. */
  readonly apiKeys?: ApiKeyRepository | undefined;
  /** Without it the store cannot be copied. */
  readonly transfer?: CatalogueTransfer | undefined;
  /** Without it animals cannot be changed or removed. */
  readonly changes?: PetChanges | undefined;
  /** The normalised address of the store, safe to log. */
  readonly location: string;
  /** Resolves if the store can serve now, else rejects with `UnavailableError`. Cheap: called every second. */
  check(options?: CallOptions): Promise<void>;
  /**
   * Closes the store within five seconds. Calls in progress finish or reject; later calls of every port reject with
   * `UnavailableError`. Safe to call twice.
   */
  close(): Promise<void>;
  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** A store with every port, which keeps claims. */
export type CompleteStore = { readonly [Part in keyof Store]-?: NonNullable<Store[Part]> } & {
  readonly pets: { readonly addOnce: NonNullable<PetRepository['addOnce']> };
};

/** Opens the stores of one technology. `STORE_URL` chooses the factory by its scheme. */
export interface StoreFactory {
  /** The part of `STORE_URL` before its first colon, in lower case; several if they mean the same. */
  readonly scheme: string | readonly string[];
  /**
   * Checks a URL without opening anything. Resolves to the error text to append to the setting's name, without secrets,
   * or to `undefined`. Omit if only opening can tell.
   */
  check?(url: string): Promise<string | undefined>;
  /**
   * Opens the store at a URL. If the database is only unreachable for now, this still succeeds. The calls reject with
   * `UnavailableError` until it is reachable.
   * @throws {Error} the store can never be used; the message says why in one line, without secrets. With
   * `isLasting: true` only a person can mend it: commands then end with 2, not 1.
   */
  open(url: string, options?: OpenOptions): Promise<Store>;
}

/**
 * What opening may do to a store: `create` makes one if there is none, `existing` fails where none exists, `read`
 * also leaves the store as it is. `snapshot` is `read` where all reads show one moment, while others write, if the store
 * can: SQLite does; MongoDB shows each animal as it is when it is read.
 */
export type OpenMode = 'create' | 'existing' | 'read' | 'snapshot';

/** How a store is opened. */
export interface OpenOptions {
  /** With `read` and `snapshot`, a call that writes rejects with `UnavailableError` before it begins. Default: `create`. */
  readonly mode?: OpenMode | undefined;
  /**
   * Called with one line for each thing that an operator should know while the store is open, and with how much it
   * matters (default `warn`). What it throws is dropped: see `notices`.
   */
  readonly onNotice?: ((line: string, level?: 'info' | 'warn') => void) | undefined;
}

const OPEN_MODES: readonly OpenMode[] = ['create', 'existing', 'read', 'snapshot'];

/**
 * Checks a mode, for callers without a compiler: a store that is meant to be read must not open to write.
 * @throws {TypeError} the mode does not exist
 */
export function requireOpenMode(mode: OpenMode): void {
  if (!OPEN_MODES.includes(mode))
    throw new TypeError(`mode must be one of ${OPEN_MODES.join(', ')}`);
}

/** The listener of a store's options, for the store to call: it never throws. */
export const notices =
  ({ onNotice }: Pick<OpenOptions, 'onNotice'>) =>
  (line: string, level: 'info' | 'warn' = 'warn'): void => {
    try {
      onNotice?.(line, level);
    } catch {
      // A listener that throws must not end what it is told of.
    }
  };

/** Whether a store in this mode refuses writes. */
export const isReading = (mode: OpenMode): boolean => mode === 'read' || mode === 'snapshot';

/** @throws {UnavailableError} the store was opened to read, so `doing` must not begin. */
export function requireWriting(mode: OpenMode, doing: string): void {
  if (isReading(mode)) throw new UnavailableError(doing, { cause: new Error('opened to read') });
}

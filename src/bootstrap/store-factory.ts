import type { ApiKeyRepository } from '../application/ports/api-key-repository.js';
import type { CatalogueTransfer } from '../application/ports/catalogue-transfer.js';
import type { DeprecatedCallRepository } from '../application/ports/deprecated-call-repository.js';
import type { PetRepository } from '../application/ports/pet-repository.js';

/** Opens the stores of one technology. An adapter's module binds one; `STORE_URL` chooses it by the scheme. */
export interface StoreFactory {
  /** The part of `STORE_URL` before its first colon, in lower case; several where several mean the same. */
  readonly scheme: string | readonly string[];
  /**
   * Opens the store that the whole URL names. What can come back by itself must not fail here: such a store
   * opens, and says that it is not available when it is used.
   * @throws {Error} it can never be used, for a reason that one line tells; no secret of the URL in it
   */
  open(url: string, options?: OpenOptions): Promise<OpenStore>;
}

/** How a store is opened. */
export interface OpenOptions {
  /** Where there is no store yet, none is made: that is a reason why it can never be used. */
  readonly mustExist?: boolean | undefined;
  /** Is told, in one line each, what whoever runs the store should know while it is open. */
  readonly tell?: ((line: string) => void) | undefined;
}

/** An open store: its repositories, and what closes them. */
export interface OpenStore {
  /** The animals: all that a store has to keep. */
  readonly pets: PetRepository;
  /** Left out by stores that keep no API keys: only static ones work with them. */
  readonly apiKeys?: ApiKeyRepository | undefined;
  /** Left out by stores that keep no counts of deprecated calls: the log alone tells of those then. */
  readonly deprecatedCalls?: DeprecatedCallRepository | undefined;
  /** Left out by stores that cannot be copied. It keeps the API keys as well. */
  readonly transfer?: CatalogueTransfer | undefined;
  /** Where it is, for people, and the same however its URL is written; no secret in it. */
  readonly location: string;
  /** Closes everything that was opened. Safe to call twice. */
  close(): Promise<void>;
}

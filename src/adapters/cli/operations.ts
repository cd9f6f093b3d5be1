import type { CopyProgress, CopyReport } from '../../application/copy-catalogue.js';
import type { Scope } from '../../application/ports/authenticator.js';
import type { Clock } from '../../application/ports/clock.js';

/** What the command line can do; bootstrap hands it these, and knows how they are done. */
export interface Operations {
  /** Runs the service until it is told to stop. Resolves to the exit code. */
  serve(): Promise<number>;
  /** The OpenAPI document of the service that the settings describe: JSON text, its line end included. Opens nothing. */
  openApi(): string;
  /**
   * Opens the store's keys, and closes the store when `use` is done. The clock is the one that keys go by.
   * With `mustExist` no store is made where there is none.
   */
  withKeys<T>(
    use: (keys: KeyOperations, clock: Clock) => Promise<T>,
    options?: { readonly mustExist: boolean },
  ): Promise<T>;
  /**
   * Copies a store into another one, as `copyCatalogue` does.
   * @throws {InterruptedError} it was told to stop
   */
  copy(request: CopyRequest, onProgress: (progress: CopyProgress) => void): Promise<CopiedStore>;
  /**
   * Holds the store that a module brings to the contracts of its ports.
   * @throws {UsageError} the module cannot be loaded, or brings no store
   * @throws {InterruptedError} it was told to stop
   */
  checkStore(
    request: StoreCheckRequest,
    onProgress: (progress: StoreCheckProgress) => void,
  ): Promise<readonly PortCheck[]>;
}

export interface StoreCheckRequest {
  /** As in ADAPTERS. */
  readonly module: string;
  /** As STORE_URL; `{folder}` and `{name}` in it stand for new ones. */
  readonly url?: string | undefined;
  /** Only cases with this text in their names. */
  readonly only?: string | undefined;
  readonly animals?: number | undefined;
  /** In milliseconds. */
  readonly timeLimit?: number | undefined;
}

export interface StoreCheckProgress {
  readonly port: string;
  readonly done: number;
  readonly count: number;
  readonly failed: number;
}

/** What became of the contract of a port. */
export interface PortCheck {
  readonly port: string;
  /** Capabilities that the store has and does not declare. */
  readonly undeclared: readonly string[];
  readonly cases: readonly CheckedCase[];
}

export interface CheckedCase {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  readonly reason?: string | undefined;
  /** What it failed with. */
  readonly error?: unknown;
  readonly notes: readonly string[];
  readonly milliseconds: number;
}

export interface CopyRequest {
  /** URLs as in STORE_URL. */
  readonly from: string;
  readonly to: string;
}

export interface CopiedStore extends CopyReport {
  /** Where the stores are, for people; no secret in it. */
  readonly from: string;
  readonly to: string;
}

export interface KeyOperations {
  issue(request: {
    readonly name: string;
    readonly scopes?: readonly Scope[] | undefined;
    readonly expiresAt?: Date | undefined;
  }): Promise<NewKey>;
  /** Oldest first. */
  list(): Promise<readonly Key[]>;
  revoke(id: string, options?: { readonly after?: number }): Promise<Key>;
  rotate(id: string, options: { readonly overlap: number }): Promise<NewKey & { readonly old?: Key }>;
}

/** A managed key as it is shown: never its text, nor its hash. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
  readonly state: 'active' | 'expired' | 'revoked';
}

export interface NewKey {
  /** The key itself, which is shown this once. */
  readonly key: string;
  readonly record: Key;
}

/** Where a command's words go: its result to `out`, all else to `note`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly note: (text: string) => void;
  /** Shows a line in the place of the one that it showed before. Only where somebody watches. */
  readonly show?: ((line: string) => void) | undefined;
}

import type { Call } from '../call.js';

/** What a caller may be allowed to do, in the order in which they are listed. */
export const SCOPES = ['pets:read', 'pets:write'] as const;

/** What a caller may be allowed to do: `pets:read` to list and get animals, `pets:write` to add them. */
export type Scope = (typeof SCOPES)[number];

/** Whether a value is the text of a scope, case and all. */
export const isScope = (value: unknown): value is Scope => SCOPES.some((scope) => scope === value);

/** Driven port: who sent this credential, and what may they do? Every adapter passes `authenticatorContract`. */
export interface Authenticator {
  /**
   * Judges a credential as it was sent, whatever text it is. A credential that is no good is an answer,
   * not an error. The credential is never kept, logged or put into an error.
   * @throws {StoreUnavailableError} it cannot be told now: the caller must refuse the request.
   */
  authenticate(credential: string, call?: Call): Promise<Authentication>;
}

/**
 * The judgement of a credential: who is calling, or why the credential is no good. `expired` and `revoked`
 * are only for whoever has the whole credential; to all others it is `unknown`.
 */
export type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: 'unknown' | 'expired' | 'revoked' };

/** Who is calling. */
export interface Principal {
  /**
   * Names the key, never tells it: for logs, counters and the scope of idempotency keys. 1 to 255 characters
   * of Unicode, the same in every process.
   */
  readonly keyId: string;
  /** What this caller may do. Empty: nothing that needs a scope. */
  readonly scopes: ReadonlySet<Scope>;
}

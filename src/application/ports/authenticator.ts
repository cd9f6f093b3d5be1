import type { CallOptions } from '../call-options.js';

/** Every scope. */
export const SCOPES = Object.freeze(['pets:read', 'pets:write', 'pets:delete'] as const);

/**
 * What a key may allow: `pets:read` to list and get animals, `pets:write` to add and change them, `pets:delete` to
 * remove them.
 */
export type Scope = (typeof SCOPES)[number];

/** Whether `value` is a scope. */
export const isScope = (value: unknown): value is Scope => SCOPES.some((scope) => scope === value);

/** Driven port: finds out who sent a credential and what they may do. Every adapter passes `authenticatorTests`. */
export interface Authenticator {
  /**
   * Checks a credential exactly as it was sent. An invalid credential is a result, not an error. The credential is
   * never stored, logged or quoted in an error.
   * @throws {UnavailableError} the credential cannot be checked now: the caller must refuse the request.
   */
  authenticate(credential: string, options?: CallOptions): Promise<Authentication>;
}

/**
 * Who is calling, or why the credential is invalid. Only a caller who holds the whole credential learns
 * `expired` or `revoked`; everyone else gets `unknown`.
 */
export type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: 'unknown' }
  | { readonly ok: false; readonly reason: 'expired'; readonly keyId: string; readonly at: Date }
  | { readonly ok: false; readonly reason: 'revoked'; readonly keyId: string };

/** Who is calling. */
export interface Principal {
  /**
   * Public id of the credential, the same for every call: for logs, and as the `scope` of idempotency keys. 1 to 255
   * characters, without U+0000 and lone surrogates.
   */
  readonly keyId: string;
  /** What this caller may do. */
  readonly scopes: ReadonlySet<Scope>;
}

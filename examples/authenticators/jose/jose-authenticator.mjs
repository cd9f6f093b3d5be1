import { SCOPES, UnavailableError } from 'animal-store';
import { errors, jwtVerify } from 'jose';

/**
 * Checks signed tokens (RFC 7519) without a call to their issuer. `sub` names the caller, `scope` lists its scopes
 * (RFC 8693, 4.2), and `exp` is when the token expires.
 */
export class JoseAuthenticator {
  #key;
  #options;
  #isRevoked;

  /**
   * @param key the key for `jwtVerify`, or a function that finds it, such as `createRemoteJWKSet` returns
   * @param options options of `jwtVerify`: set `algorithms`, `issuer` and `audience`
   * @param isRevoked resolves to whether the token with this `jti` is revoked
   */
  constructor(key, { isRevoked = async () => false, ...options }) {
    this.#key = key;
    this.#options = { ...options, requiredClaims: ['sub', 'exp'] };
    this.#isRevoked = isRevoked;
  }

  async authenticate(credential, { signal } = {}) {
    signal?.throwIfAborted();
    if (!isCanonical(credential)) return { ok: false, reason: 'unknown' };
    try {
      const { payload } = await jwtVerify(credential, this.#key, this.#options);
      const keyId = payload.sub;
      if (await this.#isRevoked(payload.jti)) return { ok: false, reason: 'revoked', keyId };
      const granted = String(payload.scope ?? '').split(' ');
      const scopes = new Set(SCOPES.filter((scope) => granted.includes(scope)));
      return { ok: true, principal: { keyId, scopes } };
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        const { sub, exp } = error.payload;
        return { ok: false, reason: 'expired', keyId: sub, at: new Date(exp * 1000) };
      }
      if (isUnchecked(error)) throw new UnavailableError('checking a token', { cause: error });
      return { ok: false, reason: 'unknown' };
    }
  }
}

/**
 * Whether the token is in canonical base64url. The last character has unused bits, so several texts decode to the same
 * signature; only one of them may be accepted.
 */
function isCanonical(token) {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return false;
  return token
    .split('.')
    .every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/** Whether the keys could not be loaded, so that the token was not checked. */
const isUnchecked = (error) =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === errors.JOSEError.code; // an error of no class of its own

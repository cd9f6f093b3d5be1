import { SCOPES, UnavailableError } from 'animal-store';
import { errors, jwtVerify } from 'jose';

/**
 * Signed tokens (RFC 7519): `sub` names the caller, `scope` says what it may do (RFC 8693, 4.2), `exp` until
 * when. What is in a token is believed because of its signature: nobody has to be asked.
 */
export class JoseAuthenticator {
  #key;
  #options;
  #isRevoked;

  /**
   * @param key what `jwtVerify` takes: a key, or a function that finds one, as `createRemoteJWKSet` makes it
   * @param options of `jwtVerify`; `algorithms`, `issuer` and `audience` say whose tokens count
   * @param isRevoked whether the token with this `jti` is not to be honoured any more
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
      if (isVerdict(error)) return { ok: false, reason: 'unknown' };
      // Errors of jose may hold the token's claims; only what finds keys is to be told of here.
      throw new UnavailableError('finding the key of a token', { cause: error });
    }
  }
}

/**
 * Whether the token is written in the one way that counts. Base64url leaves bits of a last character unused,
 * so that several texts mean the same signature; a credential has to be one text.
 */
function isCanonical(token) {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return false;
  return token
    .split('.')
    .every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/** The token is no good; anything else says that it could not be judged. */
const isVerdict = (error) =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  error.code !== 'ERR_JOSE_GENERIC';

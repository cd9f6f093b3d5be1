import type { CallOptions, IdempotencyKey } from '../../application/animal-store.js';
import type {
  Authentication,
  Authenticator,
  Principal,
  Scope,
} from '../../application/ports/authenticator.js';
import { InvalidParameterError } from '../../domain/errors.js';
import { HttpError } from './error-responses.js';
import type { HttpRequest } from './http-message.js';

/** The client's request id if it is safe (1 to 128 of `A-Za-z0-9._-`), else a random UUID. */
export const requestId = (sent?: string): string =>
  sent !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : crypto.randomUUID();

const REALM = 'Bearer realm="animal-store"';

type Refused = Extract<Authentication, { ok: false }>;

/** The API key is not valid. */
export class InvalidKeyError extends HttpError {
  readonly reason: Refused['reason'];
  /** Identifies a key that has expired or was revoked. */
  readonly keyId: string | undefined;

  constructor(refused: Refused, challenge: string) {
    super('invalid_api_key', messageFor(refused), { 'WWW-Authenticate': challenge });
    this.reason = refused.reason;
    this.keyId = refused.reason === 'unknown' ? undefined : refused.keyId;
  }
}

function messageFor(refused: Refused): string {
  if (refused.reason === 'revoked') return 'The API key was revoked.';
  if (refused.reason === 'expired') return `The API key expired at ${refused.at.toISOString()}.`;
  return (
    'The API key is not valid: send it as Authorization: Bearer <API_KEY>, without quotes and ' +
    'with Bearer once.'
  );
}

/**
 * Finds out who sent the request, from its bearer token (RFC 6750; the case of the scheme does not matter).
 * @throws {HttpError} `missing_api_key`: there is no header Authorization, or one of another scheme
 * @throws {InvalidKeyError} the key is not valid, or several were sent
 */
export async function authenticate(
  authenticator: Authenticator,
  request: HttpRequest,
  options: CallOptions,
): Promise<Principal> {
  // The end is not trimmed: JavaScript's white space includes characters that no key may have.
  const [scheme, key = ''] =
    /^bearer(?: +(.*))?$/is.exec(request.header('authorization') ?? '') ?? [];
  if (scheme === undefined)
    throw new HttpError(
      'missing_api_key',
      'An API key is needed: send the header Authorization: Bearer <API_KEY>.',
      { 'WWW-Authenticate': REALM },
    );
  const authentication = await authenticator.authenticate(key, options);
  if (authentication.ok) return authentication.principal;
  throw new InvalidKeyError(authentication, key === '' ? REALM : `${REALM}, error="invalid_token"`);
}

/** @throws {HttpError} `insufficient_scope`, naming the scope that the key lacks */
export function requireScope(principal: Principal | undefined, scope: Scope): void {
  if (principal?.scopes.has(scope)) return;
  throw new HttpError('insufficient_scope', `The API key lacks the scope ${scope}.`, {
    'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${scope}"`,
  });
}

/** 1 to 255 visible ASCII characters except `"` and `\`. The key does not include the optional double quotes. */
export const IDEMPOTENCY_KEY_PATTERN = String.raw`^(?:[!#-\[\]-~]{1,255}|"[!#-\[\]-~]{1,255}")$`;

const wellFormed = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/**
 * Reads the header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header), if the client sent one. A repeated
 * header does not match the pattern, which has no space.
 * @param scope the id of the API key: equal idempotency keys of different API keys never collide
 * @throws {InvalidParameterError} the header is malformed or repeated
 */
export function readIdempotencyKey(
  request: HttpRequest,
  scope: string,
): IdempotencyKey | undefined {
  const sent = request.header('idempotency-key');
  if (sent === undefined) return undefined;
  if (!wellFormed.test(sent)) {
    const message = String.raw`must be sent once, with 1 to 255 visible ASCII characters but \ and "`;
    throw new InvalidParameterError([{ field: 'Idempotency-Key', message }]);
  }
  return { scope, key: sent.replaceAll('"', '') };
}

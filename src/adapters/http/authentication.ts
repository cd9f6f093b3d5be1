import type { CallOptions } from '../../application/call-options.js';
import type {
  Authentication,
  Authenticator,
  Principal,
  Scope,
} from '../../application/ports/authenticator.js';
import { HttpError } from './error-responses.js';
import type { HttpRequest } from './http-message.js';

const CHALLENGE = 'Bearer realm="animal-store"';

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
 * Authenticates the sender of a request by its bearer token (RFC 6750; the case of the scheme does not matter).
 * @throws {HttpError} `missing_api_key`: there is no header Authorization, or one of another scheme
 * @throws {InvalidKeyError} the key is not valid, or several were sent
 */
export async function authenticate(
  authenticator: Authenticator,
  request: HttpRequest,
  options: CallOptions,
): Promise<Principal> {
  const bearer = /^bearer(?: +(.*))?$/is.exec(request.header('authorization') ?? '');
  if (!bearer)
    throw new HttpError(
      'missing_api_key',
      'An API key is needed: send the header Authorization: Bearer <API_KEY>.',
      { 'WWW-Authenticate': CHALLENGE },
    );
  // Not trimmed: `trim` removes characters that must make a key invalid.
  const key = bearer[1] ?? '';
  const authentication = await authenticator.authenticate(key, options);
  if (authentication.ok) return authentication.principal;
  throw new InvalidKeyError(
    authentication,
    key === '' ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`,
  );
}

/** @throws {HttpError} `insufficient_scope`, naming the scope that the key lacks */
export function requireScope(principal: Principal | undefined, scope: Scope): void {
  if (principal?.scopes.has(scope)) return;
  throw new HttpError('insufficient_scope', `The API key lacks the scope ${scope}.`, {
    'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`,
  });
}

import type { Authenticator, Principal, Scope } from '../../../application/ports/authenticator.js';
import type { Call } from '../../../application/animal-store.js';
import { HttpError } from '../http-error.js';
import type { HttpRequest } from '../http-message.js';

const REALM = 'Bearer realm="animal-store"';

const missingKey = (): HttpError =>
  new HttpError('missing_api_key', 'An API key is needed: send the header Authorization: Bearer <API_KEY>.', {
    'WWW-Authenticate': REALM,
  });

const invalidKey = (challenge = `${REALM}, error="invalid_token"`): HttpError =>
  new HttpError('invalid_api_key', 'The API key is not valid.', { 'WWW-Authenticate': challenge });

/**
 * Who sent the request, by its Authorization header (RFC 6750; the scheme's case does not matter).
 * Unknown, expired and revoked keys get the same answer: it must not tell which keys once were.
 * @throws {HttpError} `missing_api_key` or `invalid_api_key`
 */
export async function authenticate(
  authenticator: Authenticator,
  request: HttpRequest,
  call: Call,
): Promise<Principal> {
  const authorization = request.header('authorization');
  if (request.isRepeated('authorization')) {
    throw /\bbearer /i.test(authorization ?? '') ? invalidKey() : invalidKey(REALM);
  }
  const credential = bearerCredential(authorization);
  if (credential === undefined) throw missingKey();
  const authentication = await authenticator.authenticate(credential, call);
  if (!authentication.ok) throw invalidKey();
  return authentication.principal;
}

/** @throws {HttpError} `insufficient_scope`, naming the scope that the key lacks */
export function requireScope({ scopes }: Principal, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw new HttpError('insufficient_scope', `The API key lacks the scope ${scope}.`, {
    'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${scope}"`,
  });
}

function bearerCredential(authorization: string | undefined): string | undefined {
  const [scheme] = /^bearer +/i.exec(authorization ?? '') ?? [];
  // Nothing is trimmed from its end: what is white space to JavaScript may be a character that a key must not have.
  const credential = scheme === undefined ? undefined : authorization?.slice(scheme.length);
  return credential === '' ? undefined : credential;
}

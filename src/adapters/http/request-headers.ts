import type { CallOptions, IdempotencyKey } from '../../application/animal-store.js';
import type { Authenticator, Principal, Scope } from '../../application/ports/authenticator.js';
import { InvalidParameterError } from '../../domain/errors.js';
import { ERRORS } from './error-codes.js';
import { HttpError, detailedError } from './error-responses.js';
import type { HttpRequest } from './http-message.js';

/** The client's request id if it is safe (1 to 128 of `A-Za-z0-9._-`), else a random UUID. */
export const requestId = (sent?: string): string =>
  sent !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : crypto.randomUUID();

const REALM = 'Bearer realm="animal-store"';

const INVALID_TOKEN = `${REALM}, error="invalid_token"`;

const TWICE_BEARER =
  'The API key is not valid: it begins with "Bearer", which the header Authorization needs only ' +
  'once.';

/** The API key is not valid. Only the log says why: the response must not reveal which keys existed. */
export class InvalidKeyError extends HttpError {
  readonly fault: 'unknown' | 'expired' | 'revoked' | 'malformed';

  constructor(fault: InvalidKeyError['fault'], challenge = INVALID_TOKEN, message?: string) {
    super('invalid_api_key', message, { 'WWW-Authenticate': challenge });
    this.fault = fault;
  }
}

/**
 * Finds out who sent the request, from its bearer token (RFC 6750; the case of the scheme does not matter).
 * @throws {HttpError} `missing_api_key`
 * @throws {InvalidKeyError} the key is not valid, or several were sent
 */
export async function authenticate(
  authenticator: Authenticator,
  request: HttpRequest,
  options: CallOptions,
): Promise<Principal> {
  const credential = credentialOf(request.header('authorization') ?? '');
  const authentication = await authenticator.authenticate(credential, options);
  if (authentication.ok) return requirePrincipal(authentication.principal);
  const message = /^bearer(?: |$)/i.test(credential) ? TWICE_BEARER : undefined;
  throw new InvalidKeyError(authentication.reason, INVALID_TOKEN, message);
}

/** Without a principal, nothing would check its scopes. Authenticators may come from programs without a compiler. */
function requirePrincipal(principal: Principal | undefined): Principal {
  if (principal) return principal;
  throw new TypeError('The authenticator accepts a key without `principal`');
}

/**
 * Reads the API key in the header Authorization. A header that was sent twice comes joined by `, `.
 *
 * | header                                  | result                                             |
 * | --------------------------------------- | -------------------------------------------------- |
 * | `Bearer A`, `bearer  A`                 | `A`                                                |
 * | `Bearer A, Bearer B`, `Bearer A, Basic` | `invalid_api_key`: either could be meant           |
 * | `Basic A, Basic B`, `, `                | `invalid_api_key`, without calling a token invalid |
 * | any other, or none                      | `missing_api_key`                                  |
 */
function credentialOf(authorization: string): string {
  // After a comma: another scheme with its credential, or at the end a scheme alone, or nothing.
  const isRepeated = /, *(?:[\w-]+ |[\w-]*$)/.test(authorization);
  if (isRepeated) {
    const challenge = /\bbearer /i.test(authorization) ? INVALID_TOKEN : REALM;
    throw new InvalidKeyError('malformed', challenge);
  }
  // The end is not trimmed: JavaScript's white space includes characters that no key may have.
  const credential = /^bearer +([^ ].*)$/is.exec(authorization)?.[1];
  if (credential === undefined) {
    throw new HttpError('missing_api_key', ERRORS.missing_api_key.message, {
      'WWW-Authenticate': REALM,
    });
  }
  return credential;
}

/** @throws {HttpError} `insufficient_scope`, naming the scope that the key lacks */
export function requireScope({ scopes }: Principal, scope: Scope): void {
  if (scopes.has(scope)) return;
  const challenge = `${REALM}, error="insufficient_scope", scope="${scope}"`;
  throw detailedError('insufficient_scope', { scope }, { 'WWW-Authenticate': challenge });
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

import { StatusConflictError, isAnimalStoreError } from '../../domain/errors.js';
import type { Pet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { ERRORS } from './error-codes.js';
import { HttpError } from './error-responses.js';
import type { HttpRequest, HttpResponse } from './http-message.js';
import { petJson } from './pet-json.js';

/**
 * Adds the ETag to a 200 (RFC 9110, 8.8.3), or makes it a 304 if the client has that already (`If-None-Match`, 13.1.2).
 * The tag covers body and Link: the body of a full last page stays the same when a next page appears.
 */
export async function conditional(
  request: HttpRequest,
  { status, headers, body }: HttpResponse,
  digest = digestOf({ headers, body }),
): Promise<HttpResponse> {
  const entityTag = tagOf(await digest);
  if (!isMatch(request.header('if-none-match'), entityTag)) {
    return { status, headers: { ...headers, ETag: entityTag }, body };
  }
  const { 'Content-Type': _type, ...others } = headers;
  return { status: 304, headers: { ...others, ETag: entityTag }, body: '' };
}

/** The ETag of an animal, as of its GET. */
export const entityTagOf = async (body: string): Promise<string> =>
  tagOf(await digestOf({ headers: {}, body }));

/**
 * Makes a change under the request's If-Match (RFC 9110, 13.1.1). An animal's tag follows from its status, as nothing else
 * of it changes: so the change is made only from the status that the tag was compared with.
 * @throws {HttpError} `precondition_failed`
 * @throws {StatusConflictError} the tag matches, but the animal does not have the status `from`
 */
export async function ifMatch<Result>(
  request: HttpRequest,
  find: () => Promise<Pet>,
  from: PetStatus | undefined,
  change: (from: PetStatus | undefined) => Promise<Result>,
): Promise<Result> {
  const sent = request.header('if-match')?.trim() ?? '*';
  if (sent === '*') return change(from);
  const pet = await find();
  const tag = await entityTagOf(petJson(pet));
  // Compared strongly: a weak tag never matches.
  if (!sent.split(',').some((each) => each.trim() === tag)) throw preconditionFailed();
  if (from !== undefined && from !== pet.status) throw new StatusConflictError(pet.status);
  return change(pet.status).catch((error: unknown) => {
    throw isAnimalStoreError(error) && error.code === 'status_conflict' ? preconditionFailed() : error;
  });
}

const preconditionFailed = (): HttpError =>
  new HttpError('precondition_failed', ERRORS.precondition_failed.message);

/** The hash of Link and body. A promise where only Web Crypto is available. */
export const digestOf = ({ headers, body }: Pick<HttpResponse, 'headers' | 'body'>) =>
  sha256(`${headers['Link'] ?? ''}\n${body}`);

/** Compares weakly, as If-None-Match requires. */
const isMatch = (ifNoneMatch: string | undefined, entityTag: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === entityTag));

const tagOf = (digest: string): string => `"${digest.slice(0, DIGITS)}"`;

/** Enough base64url digits of a SHA-256 to rule out collisions: 132 bits. */
const DIGITS = 22;

// For texts this short, Web Crypto takes twenty times as long as Node's own hash.
const { hash } = globalThis['process']?.getBuiltinModule?.('node:crypto') ?? {};

const sha256: (text: string) => string | Promise<string> = hash
  ? (text) => hash('sha256', text, 'base64url')
  : async (text) => {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      return btoa(String.fromCharCode(...new Uint8Array(digest)))
        .replaceAll('+', '-')
        .replaceAll('/', '_');
    };

import type { AnimalStore } from '../../application/animal-store.js';
import { StatusConflictError } from '../../domain/errors.js';
import type { Pet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { entityTagOf } from './entity-tag.js';
import { HttpError } from './error-responses.js';
import type { HttpRequest, HttpResponse } from './http-message.js';
import { petJson } from './pet-json.js';
import type { RequestContext } from './routes.js';

/**
 * Adds the ETag to a 200 (RFC 9110, 8.8.3), or makes it a 304 if the client has that already (`If-None-Match`, 13.1.2).
 * @throws {HttpError} `precondition_failed`: `If-Match` names other tags
 */
export function respondConditionally(
  request: HttpRequest,
  { status, headers, body }: HttpResponse,
  entityTag: string,
): HttpResponse {
  requireMatch(request.header('if-match') ?? '*', entityTag);
  if (!isMatch(request.header('if-none-match'), entityTag)) {
    return { status, headers: { ...headers, ETag: entityTag }, body };
  }
  const { 'Content-Type': _type, ...others } = headers;
  return { status: 304, headers: { ...others, ETag: entityTag }, body: '' };
}

/**
 * What a change of an animal starts from, by the preconditions of its request (RFC 9110, 13.2.2): If-Match, then
 * If-None-Match. If they name tags it is the whole animal, so that the change is made only while the animal is as it was
 * when its tag was compared.
 * @param required the status that the animal must have; any by default
 * @throws {HttpError} `precondition_failed`
 * @throws {StatusConflictError} the tag matches, but the animal does not have the required status
 */
export async function startOfChange(
  { request, signal }: RequestContext,
  animalStore: AnimalStore,
  id: bigint,
  required: PetStatus | undefined,
): Promise<PetStatus | Pet | undefined> {
  const ifMatch = request.header('if-match') ?? '*';
  const ifNoneMatch = request.header('if-none-match');
  if (isAny(ifMatch) && ifNoneMatch === undefined) return required;

  const pet = await animalStore.getPet(id, { signal });
  const entityTag = await entityTagOf(petJson(pet));
  requireMatch(ifMatch, entityTag);
  if (isMatch(ifNoneMatch, entityTag))
    throw preconditionFailed('If-None-Match names the animal as it is.');
  if (required !== undefined && required !== pet.status) throw new StatusConflictError(pet.status);
  return pet;
}

/** Compares strongly, as If-Match requires. */
function requireMatch(ifMatch: string, entityTag: string): void {
  if (isAny(ifMatch)) return;
  const tags = tagsIn(ifMatch);
  if (tags.includes(entityTag)) return;
  const areOwn = tags.length > 0 && tags.every((tag) => OWN_TAG.test(tag));
  throw preconditionFailed(areOwn ? undefined : FOREIGN_TAG);
}

/** Compares weakly, as If-None-Match requires. */
function isMatch(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (isAny(ifNoneMatch)) return true;
  return tagsIn(ifNoneMatch).some((tag) => tag.replace(/^W\//, '') === entityTag);
}

const isAny = (header: string): boolean => header.trim() === '*';

const tagsIn = (header: string): string[] =>
  header
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

const OWN_TAG = /^"[\w-]{22}"$/;

const FOREIGN_TAG =
  'If-Match is empty, or has an ETag that this service never makes, such as a weak one (W/"...") ' +
  'or one with -gzip. A proxy may have changed it.';

const preconditionFailed = (message?: string): HttpError =>
  new HttpError('precondition_failed', message);

import type { AnimalStore, ExperimentalAnimalStore } from '../../application/animal-store.js';
import type { NewPet } from '../../domain/pet.js';
import { respondConditionally } from './entity-tag.js';
import { HttpError } from './error-responses.js';
import { REVALIDATED_JSON, UNCACHED, UNCACHED_JSON, type HttpRequest } from './http-message.js';
import type { HttpSettings } from './http-settings.js';
import { readIdempotencyKey } from './idempotency-key.js';
import type { PetBody } from './open-api/schemas.js';
import { nextLink, readFrom, readPetId, readPetQuery } from './parameters.js';
import { PATCH_TYPES, readJsonObject } from './request-body.js';
import { PET_ID, type Endpoint, type Route } from './routes.js';

/**
 * The routes of the operations.
 * @throws {TypeError} the settings name an experimental operation that the animal store does not have
 */
export function operationRoutes(animalStore: AnimalStore, settings: HttpSettings): Route[] {
  const { basePath, experimental } = settings;
  const missing = experimental.filter((id) => !(id in animalStore));
  if (missing.length > 0)
    throw new TypeError(`The animal store has no ${missing.join(' and no ')}`);
  // Safe: only the operations checked above get a route.
  const experimentalStore = animalStore as ExperimentalAnimalStore;
  return [
    route(`${basePath}/pets`, {
      GET: listPets(animalStore, settings),
      POST: createPet(animalStore, settings),
    }),
    route(`${basePath}/pets/${PET_ID}`, {
      GET: getPet(animalStore, settings),
      ...(experimental.includes('changePet') && { PATCH: changePet(experimentalStore, settings) }),
      ...(experimental.includes('removePet') && { DELETE: removePet(experimentalStore) }),
    }),
  ];
}

const route = (path: string, endpoints: Readonly<Record<string, Endpoint>>): Route => ({
  path,
  endpoints: new Map(Object.entries(endpoints)),
  open: false,
});

/** An animal as JSON text, exact to the digit. Written out for speed: no other text is made as often. */
export const petJson = ({ id, name, categoryId, status }: PetBody): string =>
  `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;

const listPets = (animalStore: AnimalStore, { publicUrl }: HttpSettings): Endpoint => ({
  operation: 'listPets',
  scope: 'pets:read',
  async handle({ request, signal }) {
    const query = readPetQuery(request.query);
    const { pets, next } = await animalStore.listPets(query, { signal });
    const links = next === undefined ? {} : { Link: nextLink(publicUrl, query, next) };
    return respondConditionally(request, {
      status: 200,
      headers: { ...REVALIDATED_JSON, ...links },
      body: `[${pets.map(petJson).join(',')}]`,
    });
  },
});

const createPet = (
  animalStore: AnimalStore,
  { basePath, publicUrl, bodyLimit }: HttpSettings,
): Endpoint => ({
  operation: 'createPet',
  scope: 'pets:write',
  async handle(context) {
    const { request, principal, signal } = context;
    const idempotencyKey = readIdempotencyKey(request, principal?.keyId ?? '');
    const newPet = await readJsonObject(context, ['application/json'], bodyLimit);
    const { pet, replayed } = await animalStore.createPet(newPet as NewPet, {
      idempotencyKey,
      signal,
    });
    const Location = `${publicUrl ?? basePath}/pets/${pet.id}`;
    const replay = replayed && { 'Idempotency-Replayed': 'true' };
    return { status: 201, headers: { ...UNCACHED_JSON, Location, ...replay }, body: petJson(pet) };
  },
});

/** The day on which getPet may be removed. */
export const GET_PET_SUNSET = '2030-12-05';

const getPet = (animalStore: AnimalStore, { publicUrl }: HttpSettings): Endpoint => ({
  operation: 'getPet',
  scope: 'pets:read',
  // RFC 9745, RFC 8594 and RFC 5829. The Link is relative to the animal, unless there is a public URL.
  headers: {
    Deprecation: `@${Date.parse('2026-11-20') / 1000}`,
    Sunset: new Date(GET_PET_SUNSET).toUTCString(),
    Link: `<${publicUrl ?? '..'}/pets?status=available>; rel="successor-version"`,
  },
  async handle({ request, petId, signal }) {
    const pet = await animalStore.getPet(readPetId(petId), { signal });
    return respondConditionally(request, {
      status: 200,
      headers: REVALIDATED_JSON,
      body: petJson(pet),
    });
  },
});

const changePet = (
  animalStore: ExperimentalAnimalStore,
  { bodyLimit }: HttpSettings,
): Endpoint => ({
  operation: 'changePet',
  scope: 'pets:write',
  async handle(context) {
    const { request, petId, signal } = context;
    refuseIfMatch(request);
    const from = readFrom(request.query);
    const change = await readJsonObject(context, PATCH_TYPES, bodyLimit);
    const pet = await animalStore.changePet(readPetId(petId), change, { from, signal });
    return { status: 200, headers: UNCACHED_JSON, body: petJson(pet) };
  },
});

const removePet = (animalStore: ExperimentalAnimalStore): Endpoint => ({
  operation: 'removePet',
  scope: 'pets:delete',
  async handle({ request, petId, signal }) {
    refuseIfMatch(request);
    const from = readFrom(request.query);
    await animalStore.removePet(readPetId(petId), { from, signal });
    return { status: 204, headers: UNCACHED, body: '' };
  },
});

/** Changes compare no ETag. If they ignored If-Match, one could overwrite a change that the client has not seen. */
function refuseIfMatch(request: HttpRequest): void {
  const ifMatch = request.header('if-match') ?? '*';
  if (ifMatch.trim() === '*') return;
  throw new HttpError(
    'precondition_failed',
    'If-Match is not supported: omit it, and send ?from=STATUS to change only an animal that has ' +
      'this status.',
  );
}

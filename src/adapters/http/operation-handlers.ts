import type { AnimalStore } from '../../application/animal-store.js';
import { PetNotFoundError } from '../../domain/errors.js';
import { parseInt64 } from '../../domain/int64.js';
import type { Pet } from '../../domain/pet.js';
import { lateBody } from './error-responses.js';
import { JSON_TYPE } from './http-message.js';
import type { HttpSettings } from './http-settings.js';
import { OPERATIONS, deprecationHeaders, isRemoved, type Operation, type OperationId } from './operations.js';
import { nextLink, readPetQuery } from './query.js';
import { readJsonText, readNewPet } from './request-body.js';
import { readIdempotencyKey } from './request-headers.js';
import { READ_HEADERS, conditional } from './response-headers.js';
import type { Endpoint, Route } from './routes.js';

type Handler = Endpoint['handle'];

/** The routes of the operations, by their declarations. */
export function operationRoutes(animalStore: AnimalStore, settings: HttpSettings): Route[] {
  const handlers: Record<OperationId, Handler> = {
    listPets: listPets(animalStore),
    createPet: createPet(animalStore, settings),
    getPet: getPet(animalStore),
  };
  const endpoint = (id: OperationId, operation: Operation): Endpoint => ({
    operation: id,
    scope: operation.scope,
    sunset: operation.deprecation?.sunset,
    headers: operation.deprecation && deprecationHeaders(operation.deprecation, settings.deprecatedSince),
    removed: isRemoved(id, settings) ? operation.deprecation?.successor : undefined,
    handle: operation.conditional
      ? async (context) => conditional(context.request, await handlers[id](context))
      : handlers[id],
  });
  const operations = Object.entries<Operation>(OPERATIONS) as Array<[OperationId, Operation]>;
  return [...Map.groupBy(operations, ([, { path }]) => path)].map(([path, onPath]) => {
    const endpoints = new Map(onPath.map(([id, operation]) => [operation.method, endpoint(id, operation)]));
    return { path: settings.basePath + path, endpoints, open: false };
  });
}

const listPets =
  (animalStore: AnimalStore): Handler =>
  async ({ request, deadline, baseUrl }) => {
    const query = readPetQuery(request.query);
    const { pets, next } = await animalStore.listPets(query, deadline);
    const link = next !== undefined && { Link: nextLink(baseUrl, request.query, next) };
    const { status } = OPERATIONS.listPets.success;
    return { status, headers: { ...READ_HEADERS, ...link }, body: petsJson(pets) };
  };

const createPet =
  (animalStore: AnimalStore, { bodyDeadline, bodyLimit }: HttpSettings): Handler =>
  async ({ request, deadline, permit, principal, baseUrl }) => {
    const idempotencyKey = readIdempotencyKey(request, principal?.keyId ?? '');
    const readText = () => deadline.whileClient(readJsonText(request, bodyLimit), bodyDeadline, lateBody);
    const newPet = readNewPet(await permit.aside(readText));
    const { pet, replayed } = await animalStore.createPet(newPet, {
      idempotencyKey,
      signal: deadline.signal,
    });
    return {
      status: OPERATIONS.createPet.success.status,
      headers: {
        'Content-Type': JSON_TYPE,
        'Cache-Control': 'no-store',
        Location: `${baseUrl}${OPERATIONS.createPet.path}/${pet.id}`,
        ...(replayed && { 'Idempotency-Replayed': 'true' }),
      },
      body: petJson(pet),
    };
  };

const getPet =
  (animalStore: AnimalStore): Handler =>
  async ({ parameters: { petId = '' }, deadline }) => {
    const id = parseInt64(petId);
    if (id === undefined) throw new PetNotFoundError(petId);
    const pet = await animalStore.getPet(id, deadline);
    return { status: OPERATIONS.getPet.success.status, headers: READ_HEADERS, body: petJson(pet) };
  };

/** `never` while a field of Pet is missing here and in `petJson`: then it does not compile. */
type CompletePet = Exclude<keyof Pet, 'id' | 'name' | 'categoryId' | 'status'> extends never ? Pet : never;

/** An animal as JSON text, exact to the digit. Written out for speed: no other text is made as often. */
export const petJson = ({ id, name, categoryId, status }: CompletePet): string =>
  `{"id":${id},"name":${quoted(name)},"categoryId":${categoryId},"status":"${status}"}`;

function petsJson(pets: readonly Pet[]): string {
  let text = '[';
  for (const pet of pets) text += (text.length > 1 ? ',' : '') + petJson(pet);
  return `${text}]`;
}

const quoted = (text: string): string =>
  /[^ !#-[\]-\ud7ff\ue000-\uffff]/.test(text) ? JSON.stringify(text) : `"${text}"`;

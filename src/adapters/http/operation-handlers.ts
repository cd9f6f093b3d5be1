import type { AnimalStore, ChangeCall, ExperimentalAnimalStore } from '../../application/animal-store.js';
import { PetNotFoundError } from '../../domain/errors.js';
import { parseInt64 } from '../../domain/int64.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { lateBody } from './error-responses.js';
import { JSON_TYPE } from './http-message.js';
import type { HttpSettings } from './http-settings.js';
import {
  OPERATIONS,
  deprecationHeaders,
  isRemoved,
  servedOperations,
  type Operation,
  type OperationId,
} from './operations.js';
import { petJson, petsJson } from './pet-json.js';
import { changeConditionally, conditional, entityTagOf } from './preconditions.js';
import { nextLink, readFrom, readPetQuery } from './query.js';
import {
  MERGE_PATCH,
  readJsonText,
  readNewPet,
  readStatusChange,
  type AcceptedBody,
} from './request-body.js';
import { readIdempotencyKey } from './request-headers.js';
import { JSON_HEADERS } from './response-headers.js';
import type { Endpoint, RequestContext, Route } from './routes.js';

type Handler = Endpoint['handle'];

/**
 * The routes of the operations, by their declarations.
 * @throws {TypeError} the settings name an experimental operation that the animal store does not have
 */
export function operationRoutes(animalStore: AnimalStore, settings: HttpSettings): Route[] {
  const missing = settings.experimental.filter((id) => !(id in animalStore));
  if (missing.length > 0) throw new TypeError(`The animal store has no ${missing.join(' and no ')}`);
  const changing = animalStore as ExperimentalAnimalStore; // only its operations that are served are called
  const handlers: Record<OperationId, Handler> = {
    listPets: listPets(animalStore),
    createPet: createPet(animalStore, settings),
    getPet: getPet(animalStore),
    changeStatus: changeStatus(changing, settings),
    removePet: removePet(changing),
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
  return [...Map.groupBy(servedOperations(settings), ([, { path }]) => path)].map(([path, onPath]) => {
    const endpoints = new Map(onPath.map(([id, operation]) => [operation.method, endpoint(id, operation)]));
    return { path: settings.basePath + path, endpoints, open: false };
  });
}

const listPets =
  (animalStore: AnimalStore): Handler =>
  async ({ request, deadline, linkBase }) => {
    const query = readPetQuery(request.query);
    const { pets, next } = await animalStore.listPets(query, deadline);
    const link = next !== undefined && { Link: nextLink(linkBase, request.query, next) };
    const { status } = OPERATIONS.listPets.success;
    return { status, headers: { ...JSON_HEADERS, ...link }, body: petsJson(pets) };
  };

const createPet =
  (animalStore: AnimalStore, settings: HttpSettings): Handler =>
  async (context) => {
    const { request, deadline, principal, linkBase } = context;
    const idempotencyKey = readIdempotencyKey(request, principal?.keyId ?? '');
    const newPet = readNewPet(await readBody(context, settings));
    const { pet, replayed } = await animalStore.createPet(newPet, {
      idempotencyKey,
      signal: deadline.signal,
    });
    return {
      status: OPERATIONS.createPet.success.status,
      headers: {
        'Content-Type': JSON_TYPE,
        'Cache-Control': 'no-store',
        Location: `${linkBase}${OPERATIONS.createPet.path}/${pet.id}`,
        ...(replayed && { 'Idempotency-Replayed': 'true' }),
      },
      body: petJson(pet),
    };
  };

/** The text of the body. A slow client occupies no place while it sends. */
const readBody = (
  { request, deadline, permit }: RequestContext,
  { bodyDeadline, bodyLimit }: HttpSettings,
  accepted?: AcceptedBody,
): Promise<string> =>
  permit.whileClient(() =>
    deadline.whileClient(readJsonText(request, bodyLimit, accepted), bodyDeadline, lateBody),
  );

const getPet =
  (animalStore: AnimalStore): Handler =>
  async ({ parameters: { petId = '' }, deadline }) => {
    const pet = await animalStore.getPet(requireInt64(petId), deadline);
    return { status: OPERATIONS.getPet.success.status, headers: JSON_HEADERS, body: petJson(pet) };
  };

const changeStatus =
  (animalStore: ExperimentalAnimalStore, settings: HttpSettings): Handler =>
  async (context) => {
    const required = readFrom(context.request.query);
    const status = readStatusChange(await readBody(context, settings, MERGE_PATCH));
    const pet = await changePet(context, animalStore, required, (id, call) =>
      animalStore.changeStatus(id, status, call),
    );
    const body = petJson(pet);
    const headers = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store', ETag: await entityTagOf(body) };
    return { status: OPERATIONS.changeStatus.success.status, headers, body };
  };

const removePet =
  (animalStore: ExperimentalAnimalStore): Handler =>
  async (context) => {
    const required = readFrom(context.request.query);
    await changePet(context, animalStore, required, (id, call) => animalStore.removePet(id, call));
    const { status } = OPERATIONS.removePet.success;
    return { status, headers: { 'Cache-Control': 'no-store' }, body: '' };
  };

/** Changes the animal of the path, if it is as the request requires. Resolves to what the change resolves to. */
function changePet<Result>(
  { request, parameters, deadline }: RequestContext,
  animalStore: AnimalStore,
  required: PetStatus | undefined,
  change: (id: bigint, call: ChangeCall) => Promise<Result>,
): Promise<Result> {
  const id = requireInt64(parameters['petId']);
  const find = () => animalStore.getPet(id, deadline);
  return changeConditionally(request, find, required, (from) =>
    change(id, { from, signal: deadline.signal }),
  );
}

/** @throws {PetNotFoundError} the text is no int64, so no animal has it as its id */
function requireInt64(petId = ''): bigint {
  const id = parseInt64(petId);
  if (id === undefined) throw new PetNotFoundError(petId);
  return id;
}

import type { AnimalStore, ExperimentalAnimalStore } from '../../application/animal-store.js';
import { entityTagOf } from './entity-tag.js';
import { lateBody } from './error-responses.js';
import { JSON_TYPE, REVALIDATED, UNCACHED, type HeaderFields } from './http-message.js';
import type { HttpSettings } from './http-settings.js';
import {
  OPERATIONS,
  deprecationHeaders,
  isRemoved,
  servedPaths,
  type Operation,
  type OperationId,
} from './operations.js';
import { petJson, petsJson } from './pet-json.js';
import { respondConditionally, startOfChange } from './preconditions.js';
import { nextLink, readFrom, readPetId, readPetQuery } from './parameters.js';
import { readJsonText, readNewPet, readPetChange } from './request-body.js';
import { readIdempotencyKey } from './request-headers.js';
import type { Endpoint, RequestContext, Route } from './routes.js';

/** Carries out an operation. Status, media type and caching of its response follow from its declaration. */
type Handler = (context: RequestContext) => Promise<{
  readonly headers?: HeaderFields | undefined;
  /** Empty without a body. */
  readonly body: string;
}>;

/**
 * The routes of the operations, by their declarations.
 * @throws {TypeError} the settings name an experimental operation that the animal store does not have
 */
export function operationRoutes(animalStore: AnimalStore, settings: HttpSettings): Route[] {
  const missing = settings.experimental.filter((id) => !(id in animalStore));
  if (missing.length > 0)
    throw new TypeError(`The animal store has no ${missing.join(' and no ')}`);
  // Of the experimental operations only those that are served are called.
  const handlers = handlersOf(animalStore as ExperimentalAnimalStore, settings);
  const endpointOf = (id: OperationId, operation: Operation): Endpoint => {
    const { scope, deprecation } = operation;
    return {
      operation: id,
      scope,
      sunset: deprecation?.sunset,
      headers: deprecation && deprecationHeaders(deprecation, settings.deprecatedSince),
      removed: isRemoved(id, settings) ? deprecation?.replacement : undefined,
      handle: respondTo(operation, handlers[id]),
    };
  };
  return Array.from(servedPaths(settings), ([path, operations]) => {
    const endpoints = operations.map(
      ([id, operation]) => [operation.method, endpointOf(id, operation)] as const,
    );
    return { path: settings.basePath + path, endpoints: new Map(endpoints), open: false };
  });
}

function respondTo(operation: Operation, handle: Handler): Endpoint['handle'] {
  const { status, schema } = operation.success;
  const usualHeaders = {
    ...(schema && { 'Content-Type': JSON_TYPE }),
    ...(operation.method === 'GET' ? REVALIDATED : UNCACHED),
  };
  return async (context) => {
    const { headers, body } = await handle(context);
    const response = { status, headers: { ...usualHeaders, ...headers }, body };
    if (!operation.conditional) return response;
    // A full last page gets a Link when a next page appears, so the tag is of the Link too.
    const entityTag = await entityTagOf(body, headers?.['Link']);
    return respondConditionally(context.request, response, entityTag);
  };
}

const handlersOf = (
  animalStore: ExperimentalAnimalStore,
  { bodyDeadline, bodyLimit, requestDeadline }: HttpSettings,
): Readonly<Record<OperationId, Handler>> => {
  /**
   * Reads the text of the body. The client has a time of its own to send it, and occupies no place meanwhile. Then the
   * time of the request starts anew.
   */
  const readBody = (context: RequestContext, types: readonly string[]): Promise<string> => {
    const { request, timer, permit } = context;
    return permit.whileClient(async () => {
      timer.restart(bodyDeadline, lateBody);
      const text = await readJsonText(request, types, bodyLimit);
      timer.restart(requestDeadline);
      return text;
    });
  };

  return {
    async listPets({ request, signal, linkBase }) {
      const { pets, next } = await animalStore.listPets(readPetQuery(request.query), { signal });
      const body = petsJson(pets);
      if (next === undefined) return { body };
      return { headers: { Link: nextLink(linkBase(), request.query, next) }, body };
    },

    async createPet(context) {
      const { request, signal, principal, linkBase } = context;
      const idempotencyKey = readIdempotencyKey(request, principal?.keyId ?? '');
      const newPet = readNewPet(await readBody(context, OPERATIONS.createPet.body.types));
      const { pet, replayed } = await animalStore.createPet(newPet, { idempotencyKey, signal });
      const Location = `${linkBase()}${OPERATIONS.createPet.path}/${pet.id}`;
      const headers = { Location, ...(replayed && { 'Idempotency-Replayed': 'true' }) };
      return { headers, body: petJson(pet) };
    },

    async getPet({ parameters, signal }) {
      const pet = await animalStore.getPet(readPetId(parameters), { signal });
      return { body: petJson(pet) };
    },

    async changePet(context) {
      const { request, parameters, signal } = context;
      const required = readFrom(request.query);
      const change = readPetChange(await readBody(context, OPERATIONS.changePet.body.types));
      const id = readPetId(parameters);
      const from = await startOfChange(context, animalStore, id, required);
      const pet = await animalStore.changePet(id, change, { from, signal });
      const body = petJson(pet);
      return { headers: { ETag: await entityTagOf(body) }, body };
    },

    async removePet(context) {
      const { request, parameters, signal } = context;
      const required = readFrom(request.query);
      const id = readPetId(parameters);
      const from = await startOfChange(context, animalStore, id, required);
      await animalStore.removePet(id, { from, signal });
      return { body: '' };
    },
  };
};

import type { AnimalStore } from '../../../application/animal-store.js';
import { PetNotFoundError } from '../../../domain/errors.js';
import { decodeUtf8, requireJsonBody } from '../request/body-headers.js';
import { conditional } from '../answer/conditional.js';
import { HttpError } from '../http-error.js';
import { JSON_TYPE, type HttpAnswer, type HttpRequest } from '../http-message.js';
import { baseUrl as baseUrlOf, type HttpSettings } from '../http-settings.js';
import { readRequestToken } from '../request/idempotency-key.js';
import { readNewPet } from '../request/new-pet-body.js';
import {
  OPERATIONS,
  deprecationHeaders,
  isRemoved,
  removedMessage,
  type Operation,
  type OperationId,
} from '../operations.js';
import { readPetId, readPetQuery } from '../request/parameters.js';
import { petJson, petsJson } from '../answer/pet-json.js';
import type { Endpoint, Exchange, Route } from './route.js';

/** The routes of the interface's operations, by their declarations. */
export function operationRoutes(store: AnimalStore, settings: HttpSettings): Route[] {
  const { basePath, deprecatedSince } = settings;
  const baseUrl = baseUrlOf(settings);
  const answers: Record<OperationId, Endpoint['answer']> = {
    listPets: listPets(store, baseUrl),
    createPet: createPet(store, baseUrl),
    getPet: getPet(store),
  };
  const endpoint = (id: OperationId): Endpoint => ({
    scope: OPERATIONS[id].scope,
    removed: isRemoved(id, settings) ? removedMessage(OPERATIONS[id], baseUrl) : undefined,
    deprecated: deprecated(id, OPERATIONS[id]),
    answer: answerOf(OPERATIONS[id], answers[id]),
  });
  const ids = Object.keys(OPERATIONS) as OperationId[];
  return [...Map.groupBy(ids, (id) => OPERATIONS[id].path)].map(([path, onPath]) => ({
    path: basePath + path,
    open: false,
    endpoints: new Map(onPath.map((id) => [OPERATIONS[id].method, endpoint(id)])),
    headers: Object.assign(
      {},
      ...onPath.map((id) => {
        const operation = OPERATIONS[id];
        return 'deprecation' in operation
          ? deprecationHeaders(operation.deprecation, deprecatedSince, baseUrl)
          : {};
      }),
    ),
  }));
}

const deprecated = (operationId: OperationId, { deprecation }: Operation): Endpoint['deprecated'] =>
  deprecation && { operationId, sunset: deprecation.sunset };

/** The answer as it is, or, where the declaration says so, only to who does not have it already. */
const answerOf = (
  { conditional: isConditional }: Operation,
  answer: Endpoint['answer'],
): Endpoint['answer'] =>
  isConditional ? async (exchange) => conditional(exchange.request, await answer(exchange)) : answer;

const listPets =
  (store: AnimalStore, baseUrl: string) =>
  async ({ request, deadline }: Exchange): Promise<HttpAnswer> => {
    const query = readPetQuery(request.query);
    const { pets, next } = await deadline.within(store.listPets(query, deadline));
    const headers = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'private, no-cache' };
    return {
      status: OPERATIONS.listPets.success.status,
      headers: next === undefined ? headers : { ...headers, Link: nextLink(baseUrl, request.query, next) },
      body: petsJson(pets),
    };
  };

/** The Link to the next page (RFC 8288): the same query, unknown parameters too, with the cursor set to go on. */
function nextLink(baseUrl: string, query: string, cursor: string): string {
  const others = query
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(`?${pair}`).has('cursor'));
  // As sent, for decoding is not always to be undone; but for what could end the link.
  const parameters = [...others, `cursor=${cursor}`]
    .join('&')
    .replaceAll(/[^\w.~!$&'()*+,;=:@/?%-]/gu, encodeURIComponent);
  return `<${baseUrl}${OPERATIONS.listPets.path}?${parameters}>; rel="next"`;
}

const createPet =
  (store: AnimalStore, baseUrl: string) =>
  async ({ request, deadline, principal }: Exchange): Promise<HttpAnswer> => {
    const token = readRequestToken(request, principal);
    const newPet = readNewPet(await deadline.outside(readJsonText(request)));
    const { signal } = deadline;
    const { pet, replayed } = await deadline.within(
      store.createPet(newPet, { signal, idempotencyKey: token }),
    );
    return {
      status: OPERATIONS.createPet.success.status,
      headers: {
        'Content-Type': JSON_TYPE,
        'Cache-Control': 'no-store',
        Location: `${baseUrl}${OPERATIONS.createPet.path}/${pet.id}`,
        ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
      },
      body: petJson(pet),
    };
  };

/** The body's text, judged in this order: present, its headers, its size, its encoding. */
async function readJsonText(request: HttpRequest): Promise<string> {
  if (!request.announcesBody) throw missingBody();
  try {
    requireJsonBody(request);
  } catch (refusal) {
    throw (await request.hasBody()) ? refusal : missingBody();
  }
  const bytes = await request.readBody();
  if (bytes.length === 0) throw missingBody();
  return decodeUtf8(bytes, request.header('content-type'));
}

const missingBody = (): HttpError =>
  new HttpError('missing_body', 'The request needs a body: an animal in JSON.');

const getPet =
  (store: AnimalStore) =>
  async ({ parameters, deadline }: Exchange): Promise<HttpAnswer> => {
    const sent = parameters['petId'] ?? '';
    const petId = readPetId(sent);
    if (petId === undefined) throw new PetNotFoundError(sent);
    const pet = await deadline.within(store.getPet(petId, deadline));
    return {
      status: OPERATIONS.getPet.success.status,
      headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'private, no-cache' },
      body: petJson(pet),
    };
  };

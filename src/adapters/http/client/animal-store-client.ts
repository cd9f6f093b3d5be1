import type {
  CreatedPet,
  ExperimentalAnimalStore,
  IdempotencyKey,
  PetPage,
  PetQuery,
} from '../../../application/animal-store.js';
import type { CallOptions } from '../../../application/call-options.js';
import {
  PAGE_LIMIT,
  requirePetId,
  requirePetQuery,
  requireValidFrom,
} from '../../../application/call-rules.js';
import { InvalidParameterError } from '../../../domain/errors.js';
import { petChange, petFrom, unsavedPet, type NewPet, type Pet } from '../../../domain/pet.js';
import { DEFAULT_STATUS } from '../../../domain/pet-status.js';
import { stringifyJson } from '../../../json.js';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE } from '../idempotency-key.js';
import { requestSender, type AnimalStoreClientOptions } from './send-request.js';

/**
 * The animal store of a service, over HTTP: a plain object whose functions need no `this`. It refuses invalid arguments
 * before it sends anything, and keeps int64s exact. In a browser the service must allow the page's origin
 * (`CORS_ORIGINS`).
 *
 * It retries a call when the service is unreachable or responds with 408, 429, 502, 503 or 504, or with 409 while a
 * create with the same key is in progress. If the outcome is unknown, it does not retry a removal, or a change with
 * `from`: the retry could fail because the first attempt succeeded. A call without a `signal` ends after 30 seconds.
 *
 * Besides the port's errors, every operation may reject with a `ServiceError`, whose code only HTTP has, such as
 * `invalid_api_key`. An error of the port that came with a response has a `ServiceError` as its cause, with the
 * request id. No error and no property of the client reveals the API key.
 */
export interface AnimalStoreClient extends ExperimentalAnimalStore {
  /**
   * Returns every animal in ascending order of id, over all pages. Each that exists during the whole traversal comes
   * exactly once. Requests a page, as a call of its own, when the one before is used up. `limit` is the size of a page
   * (default 100).
   */
  allPets(query?: PetQuery, options?: CallOptions): AsyncGenerator<Pet, void, undefined>;

  /**
   * As the port says, but without the `scope` of the idempotency key: the service uses the id of the API key, so
   * callers of your program who share this client must not choose equal keys. The key travels in a header, so it must
   * consist of visible ASCII characters other than `"` and `\`. Without one the client generates a key for this call.
   * `replayed` is also true if an earlier attempt of this call succeeded but its response was lost.
   */
  createPet(
    pet: NewPet,
    options?: CallOptions & { readonly idempotencyKey?: Pick<IdempotencyKey, 'key'> | undefined },
  ): Promise<CreatedPet>;
}

/**
 * Makes a client. It sends nothing yet.
 * @throws {TypeError} `baseUrl` is not an http or https URL that ends in `/v1`, or `apiKey` is not a bearer token
 */
export function animalStoreClient(settings: AnimalStoreClientOptions): AnimalStoreClient {
  const send = requestSender(settings);

  const client: AnimalStoreClient = {
    listPets: (query = {}, options) =>
      send(options, () => {
        requirePetQuery(query);
        const { limit, status, after } = query; // without the default: it is the service's
        return { method: 'GET', query: { limit, status, after }, read: toPage };
      }),

    async *allPets({ limit = PAGE_LIMIT.maximum, status, after } = {}, options) {
      let start = after;
      do {
        const page: PetPage = await client.listPets({ limit, status, after: start }, options);
        yield* page.pets;
        // Some proxies drop Link: after a full page, go on from its last id.
        start = page.next ?? (page.pets.length < limit ? undefined : page.pets.at(-1)?.id);
      } while (start !== undefined);
    },

    createPet: (pet, options) =>
      send(options, () => ({
        method: 'POST',
        headers: { 'Idempotency-Key': `"${headerKey(options?.idempotencyKey)}"` },
        body: stringifyJson(unsavedPet(pet)),
        read: (body, headers) => ({
          pet: toPet(body),
          replayed: headers.get('idempotency-replayed') === 'true',
        }),
      })),

    getPet: (id, options) =>
      send(options, () => ({ method: 'GET', petId: requirePetId(id), read: toPet })),

    changePet: (id, change, options) =>
      send(options, () => ({
        method: 'PATCH',
        petId: requirePetId(id),
        query: { from: requireValidFrom(options?.from) },
        body: stringifyJson(petChange(change)),
        isSafeToRepeat: options?.from === undefined,
        read: toPet,
      })),

    removePet: (id, options) =>
      send(options, () => ({
        method: 'DELETE',
        petId: requirePetId(id),
        query: { from: requireValidFrom(options?.from) },
        isSafeToRepeat: false,
        read: () => {},
      })),
  };
  return client;
}

function toPage(body: unknown, headers: Headers): PetPage {
  // Throws if the body is not an array; the caller makes that an `unexpected_response`.
  const pets = (body as unknown[]).map(toPet);
  // The id after which the next page begins (RFC 8288)
  const [, next] = /[?&]after=(-?\d+)[^<>]*>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return next === undefined ? { pets } : { pets, next: BigInt(next) };
}

/** The schema lets a service omit the status. It then means the default. */
const toPet = (body: unknown): Pet => petFrom({ status: DEFAULT_STATUS, ...Object(body) });

/** The key of a create. A new one has 128 random bits: browsers lack `crypto.randomUUID` on pages without https. */
function headerKey(given: Pick<IdempotencyKey, 'key'> | undefined): string {
  if (given === undefined) return crypto.getRandomValues(new BigUint64Array(2)).join('-');
  const { key } = Object(given);
  // Tested in quotes, as it is sent, so that a key with quotes of its own fails.
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(`"${key}"`)) return key;
  const message = `must have ${IDEMPOTENCY_KEY_RULE}`;
  throw new InvalidParameterError([{ field: 'idempotencyKey.key', message }]);
}

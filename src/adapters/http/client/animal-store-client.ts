import type {
  Call,
  ChangeCall,
  CreateCall,
  CreatedPet,
  ExperimentalAnimalStore,
  PetPage,
  PetQuery,
} from '../../../application/animal-store.js';
import {
  PAGE_LIMIT,
  requireFrom,
  requirePetId,
  requirePetQuery,
  requireStatus,
} from '../../../application/create-animal-store.js';
import { InvalidParameterError } from '../../../domain/errors.js';
import { INT64_MIN, parseInt64 } from '../../../domain/int64.js';
import { isSamePet, petFrom, savedPet, unsavedPet, type NewPet, type Pet } from '../../../domain/pet.js';
import type { PetStatus } from '../../../domain/pet-status.js';
import { stringify } from '../../../exact-json.js';
import { IDEMPOTENCY_KEY_PATTERN } from '../request-headers.js';
import { clientSettings, type AnimalStoreClientOptions, type ClientSettings } from './client-options.js';
import { UnexpectedResponseError, readBody, type ReceivedResponse } from './response-errors.js';
import { sendRequest } from './send-request.js';

/**
 * The animal store of a service, over HTTP. It refuses invalid arguments before it sends anything, keeps int64s exact,
 * and needs only a standard `fetch`. In a browser the service must allow the page's origin (`CORS_ORIGINS`).
 *
 * It retries a call when the service was not reached, did not respond in time, or asks for it (408, 429, 502, 503, 504,
 * and 409 while a create with the same key is in progress), until the call's deadline or number of retries. Creates too:
 * each carries an idempotency key, so that the animal is added once. After an unknown outcome it retries neither a removal
 * nor a change with `from`: the retry could find its own effect.
 *
 * For a shorter timeout of one call pass `{ signal: AbortSignal.timeout(2000) }`: the call then rejects with the signal's
 * reason, a `TimeoutError`.
 *
 * Beyond what the port says, every operation may reject with
 * - `ServiceError`: an error that only HTTP has, such as `invalid_api_key`, by its code;
 * - `UnexpectedResponseError`: the response is not one of an animal store.
 *
 * An error of the port that came with a response has a `ServiceError` as its cause, with the request id. No error and no
 * property of the client reveals the API key.
 */
export class AnimalStoreClient implements ExperimentalAnimalStore {
  readonly #settings: ClientSettings;

  /** @throws {TypeError} naming the option that is wrong */
  constructor(options: AnimalStoreClientOptions) {
    this.#settings = clientSettings(options);
  }

  async listPets(query: PetQuery = {}, call: Call = {}): Promise<PetPage> {
    requirePetQuery(query);
    const { limit, status, after } = query;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ limit, status, after })) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const target = parameters.size === 0 ? '/pets' : `/pets?${parameters.toString()}`;
    const request = { operation: 'listPets', method: 'GET', target, success: 200 } as const;
    const response = await sendRequest(this.#settings, request, call);
    // Anything but an array has no such method.
    const pets = readBody(response, (body) => (body as unknown[]).map(toPet));
    const next = nextAfter(response, this.#settings.baseUrl + target);
    return next === undefined ? { pets } : { pets, next };
  }

  /**
   * Returns every animal in ascending order of id, over all pages: each that exists during the whole traversal exactly
   * once. Requests a page when the one before is used up. `limit` is the size of a page (default 100).
   * `Array.fromAsync` makes an array of all of them.
   */
  async *allPets(query: PetQuery = {}, call: Call = {}): AsyncGenerator<Pet, void, undefined> {
    const { limit = PAGE_LIMIT.maximum, status } = query;
    let { after } = query;
    do {
      const page: PetPage = await this.listPets({ limit, status, after }, call);
      for (const pet of page.pets) {
        call.signal?.throwIfAborted();
        yield pet;
      }
      after = page.next;
    } while (after !== undefined);
  }

  /**
   * As the port says. Only `key` of an idempotency key is sent: the service takes the scope from the API key. The key
   * travels in a header, so it must consist of visible ASCII characters other than `"` and `\`.
   *
   * Without one the client generates a key for this call, and `replayed` is false. With one, `replayed` may be true
   * because of an attempt of this very call whose response was lost.
   */
  async createPet(pet: NewPet, { idempotencyKey, signal }: CreateCall = {}): Promise<CreatedPet> {
    const unsaved = unsavedPet(pet);
    const key = idempotencyKey === undefined ? randomKey() : requireHeaderKey(idempotencyKey.key);
    const request = {
      operation: 'createPet',
      method: 'POST',
      target: '/pets',
      success: 201,
      headers: { 'Idempotency-Key': `"${key}"` },
      body: stringify(unsaved),
    } as const;
    const response = await sendRequest(this.#settings, request, { signal });
    const created = readBody(response, toPet);
    if (!isSamePet(created, savedPet(created.id, unsaved))) {
      throw new UnexpectedResponseError('the created animal is not the one that was sent', response);
    }
    const replayed = response.headers.get('idempotency-replayed') === 'true';
    return { pet: created, replayed: idempotencyKey !== undefined && replayed };
  }

  /**
   * As the port says. The interface will remove this operation on 5 December 2030: then the call rejects with a
   * `ServiceError` of code `operation_removed`. Use `listPets` with a status instead.
   */
  async getPet(id: bigint | number, call: Call = {}): Promise<Pet> {
    const petId = requirePetId(id);
    const target = `/pets/${petId}`;
    const request = { operation: 'getPet', method: 'GET', target, success: 200 } as const;
    const response = await sendRequest(this.#settings, request, call);
    const pet = readBody(response, toPet);
    if (pet.id !== petId) throw new UnexpectedResponseError('it is not the requested animal', response);
    return pet;
  }

  /**
   * As the port says, if the service serves it (`EXPERIMENTAL`); else the call rejects with a `ServiceError` of code
   * `method_not_allowed`. The same holds for `removePet`.
   */
  async changeStatus(
    id: bigint | number,
    status: PetStatus,
    { from, signal }: ChangeCall = {},
  ): Promise<Pet> {
    const target = changeTarget(id, from);
    requireStatus(status);
    const body = stringify({ status });
    const idempotent = from === undefined;
    const request = {
      operation: 'changeStatus',
      method: 'PATCH',
      target,
      success: 200,
      body,
      idempotent,
    } as const;
    const response = await sendRequest(this.#settings, request, { signal });
    const pet = readBody(response, toPet);
    if (pet.id === BigInt(id) && pet.status === status) return pet;
    throw new UnexpectedResponseError('it is not the requested change', response);
  }

  /** As the port says. */
  async removePet(id: bigint | number, { from, signal }: ChangeCall = {}): Promise<void> {
    const target = changeTarget(id, from);
    const request = {
      operation: 'removePet',
      method: 'DELETE',
      target,
      success: 204,
      idempotent: false,
    } as const;
    await sendRequest(this.#settings, request, { signal });
  }
}

/** The path and query of a change. */
function changeTarget(id: bigint | number, from: PetStatus | undefined): string {
  const petId = requirePetId(id);
  requireFrom(from);
  return from === undefined ? `/pets/${petId}` : `/pets/${petId}?from=${from}`;
}

const toPet = (body: unknown): Pet => petFrom(Object(body));

/** Where the next page begins, by the link to it (RFC 8288). */
function nextAfter(response: ReceivedResponse, url: string): bigint | undefined {
  const next = /<([^>]*)>[^<]*;\s*rel="?next"?\s*(?:[;,]|$)/i;
  const target = next.exec(response.headers.get('link') ?? '')?.[1];
  if (target === undefined) return undefined;
  const read = (address: string): bigint | undefined =>
    parseInt64(new URL(address, url).searchParams.get('after') ?? '');
  const after = URL.canParse(target, url) ? read(target) : undefined;
  if (after !== undefined && after > (read(url) ?? INT64_MIN)) return after;
  throw new UnexpectedResponseError('its link to the next page does not lead to another page', response);
}

/** 128 random bits. Not `crypto.randomUUID`, which browsers lack on pages without https. */
const randomKey = (): string => crypto.getRandomValues(new BigUint64Array(2)).join('-');

const headerKey = new RegExp(IDEMPOTENCY_KEY_PATTERN);

function requireHeaderKey(key: unknown): string {
  // In quotes, as it is sent: a key that brings its own quotes must not pass.
  if (typeof key === 'string' && headerKey.test(`"${key}"`)) return key;
  const message = String.raw`must have 1 to 255 visible ASCII characters other than \ and "`;
  throw new InvalidParameterError([{ field: 'idempotencyKey.key', message }]);
}

import type {
  AnimalStore,
  Call,
  CreateCall,
  CreatedPet,
  PetPage,
  PetQuery,
} from '../../../application/animal-store.js';
import { PAGE_LIMIT, requireLimitAndStatus, requirePetId } from '../../../application/create-animal-store.js';
import { InvalidParameterError, PetNotFoundError } from '../../../domain/errors.js';
import { isInt64 } from '../../../domain/int64.js';
import { isSamePet, petFrom, savedPet, unsavedPet, type NewPet, type Pet } from '../../../domain/pet.js';
import { parse, stringify } from '../../../exact-json.js';
import type { OperationId } from '../operations.js';
import { IDEMPOTENCY_KEY_PATTERN } from '../idempotency-key.js';
import { clientSettings, type AnimalStoreClientOptions, type ClientSettings } from './client-options.js';
import { UnexpectedResponseError } from './response-errors.js';
import type { ReceivedResponse } from './response-errors.js';
import { sendRequest, type ClientRequest } from './send-request.js';

/**
 * The animal store of a service, over HTTP. It refuses invalid arguments before it sends anything, keeps int64s exact,
 * and rejects with the domain's own errors.
 *
 * It retries a call when the service was not reached, did not respond in time, or asks for it (408, 429, 502, 503, 504,
 * and 409 while a create with the same key is in progress), until the call's deadline or number of retries. Creates too:
 * each carries an idempotency key, so that the animal is added once.
 *
 * Beyond what the port says, every operation may reject with
 * - `ServiceError`: an error that only HTTP has, such as `invalid_api_key`, by its code;
 * - `UnexpectedResponseError`: the response is not one of an animal store.
 *
 * An error of the port that came with a response has a `ServiceError` as its cause, with the request id. No error and no
 * property of the client reveals the API key.
 *
 * It needs only a standard `fetch`. In a browser the service must allow the page's origin (`CORS_ORIGINS`). A proxy that
 * does this instead must expose the same headers: without a readable Link, every page looks like the last.
 */
export class AnimalStoreClient implements AnimalStore {
  readonly #settings: ClientSettings;
  readonly #deprecated = new Set<OperationId>();

  /** @throws {TypeError} naming the option that is wrong */
  constructor(options: AnimalStoreClientOptions) {
    this.#settings = clientSettings(options);
  }

  async listPets(query: PetQuery = {}, call: Call = {}): Promise<PetPage> {
    requireLimitAndStatus(query);
    const { limit, status, cursor } = query;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ limit, status, cursor })) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const target = parameters.size === 0 ? '/pets' : `/pets?${parameters.toString()}`;
    const response = await this.#send({ operation: 'listPets', method: 'GET', target, status: 200 }, call);
    const pets = readJson(response);
    if (!Array.isArray(pets)) throw new UnexpectedResponseError('its body is not an array', response);
    const next = nextCursor(response, this.#settings.baseUrl + target);
    const page = { pets: pets.map((pet) => toPet(pet, response)) };
    return next === undefined ? page : { ...page, next };
  }

  /**
   * Returns every animal in ascending order of id, over all pages: each that exists during the whole traversal exactly
   * once. Requests a page when the one before is used up. `limit` is the size of a page (default 100).
   */
  async *allPets(query: PetQuery = {}, call: Call = {}): AsyncGenerator<Pet, void, undefined> {
    const { limit = PAGE_LIMIT.maximum, status } = query;
    let { cursor } = query;
    do {
      const page: PetPage = await this.listPets({ limit, status, cursor }, call);
      for (const pet of page.pets) {
        call.signal?.throwIfAborted();
        yield pet;
      }
      cursor = page.next;
    } while (cursor !== undefined);
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
    const response = await this.#send(
      {
        operation: 'createPet',
        method: 'POST',
        target: '/pets',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `"${key}"` },
        body: stringify(unsaved),
        status: 201,
      },
      { signal },
    );
    const created = toPet(readJson(response), response);
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
    call.signal?.throwIfAborted();
    if (!isInt64(petId)) throw new PetNotFoundError(petId);
    const response = await this.#send(
      { operation: 'getPet', method: 'GET', target: `/pets/${petId}`, status: 200, petId: String(petId) },
      call,
    );
    const pet = toPet(readJson(response), response);
    if (pet.id !== petId) throw new UnexpectedResponseError('it is not the requested animal', response);
    return pet;
  }

  async #send(request: ClientRequest, call: Call): Promise<ReceivedResponse> {
    const response = await sendRequest(this.#settings, request, call);
    const { operation } = request;
    if (response.headers.has('deprecation') && !this.#deprecated.has(operation)) {
      this.#deprecated.add(operation);
      this.#settings.onDeprecated({ operation, sunset: response.headers.get('sunset') ?? undefined });
    }
    return response;
  }
}

function readJson(response: ReceivedResponse): unknown {
  try {
    return parse(response.body);
  } catch (cause) {
    throw new UnexpectedResponseError('its body is not JSON', { ...response, cause });
  }
}

function toPet(value: unknown, response: ReceivedResponse): Pet {
  try {
    return petFrom(Object(value));
  } catch (cause) {
    throw new UnexpectedResponseError('an animal in it is not valid', { ...response, cause });
  }
}

/** The cursor in the link to the next page (RFC 8288). Only the service interprets it. */
function nextCursor(response: ReceivedResponse, url: string): string | undefined {
  const links = (response.headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g);
  const [, target] =
    [...links].find(([, , parameters = '']) => /;\s*rel="?next"?\s*(?:[;,]|$)/i.test(parameters)) ?? [];
  if (target === undefined) return undefined;
  const cursor = URL.canParse(target, url) ? new URL(target, url).searchParams.get('cursor') : null;
  if (cursor !== null && cursor !== new URL(url).searchParams.get('cursor')) return cursor;
  throw new UnexpectedResponseError('its link to the next page does not lead to another page', response);
}

/** 128 random bits. Not `crypto.randomUUID`, which browsers lack on pages without https. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

const headerKey = new RegExp(IDEMPOTENCY_KEY_PATTERN);

function requireHeaderKey(key: unknown): string {
  // In quotes, as it is sent: a key that brings its own quotes must not pass.
  if (typeof key === 'string' && headerKey.test(`"${key}"`)) return key;
  const message = String.raw`must have 1 to 255 visible ASCII characters other than \ and "`;
  throw new InvalidParameterError([{ field: 'idempotencyKey.key', message }]);
}

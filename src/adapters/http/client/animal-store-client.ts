import type {
  CallOptions,
  ChangeOptions,
  CreatedPet,
  ExperimentalAnimalStore,
  IdempotencyKey,
  PetPage,
  PetQuery,
} from '../../../application/animal-store.js';
import {
  PAGE_LIMIT,
  petCondition,
  requirePetId,
  requirePetQuery,
} from '../../../application/call-rules.js';
import { requireProgress } from '../../../application/pet-pages.js';
import { InvalidParameterError } from '../../../domain/errors.js';
import { petChange, petFrom, unsavedPet, type NewPet, type Pet } from '../../../domain/pet.js';
import { stringifyJson } from '../../../exact-json.js';
import { entityTagOf } from '../entity-tag.js';
import { petJson } from '../pet-json.js';
import { IDEMPOTENCY_KEY_PATTERN } from '../request-headers.js';
import {
  clientSettings,
  type AnimalStoreClientOptions,
  type ClientSettings,
} from './client-options.js';
import { sendRequest } from './send-request.js';

/**
 * The animal store of a service, over HTTP. It refuses invalid arguments before it sends anything, keeps int64s exact,
 * and needs only a standard `fetch`. In a browser the service must allow the page's origin (`CORS_ORIGINS`).
 *
 * It retries a call when the service was not reached or asks for it (408, 429, 502, 503, 504, and 409 while a create with
 * the same key is in progress), until the call's deadline or number of retries. Creates too: each carries an idempotency
 * key, so that the animal is added once. After an unknown outcome it retries neither a removal nor a change with `from`:
 * the retry could find its own effect.
 *
 * Beyond what the port says, every operation may reject with a `ServiceError`, by its code: `invalid_api_key` and others
 * that only HTTP has. An error of the port that came with a response has a `ServiceError` as its cause, with the request
 * id. No error and no property of the client reveals the API key.
 */
export class AnimalStoreClient implements ExperimentalAnimalStore {
  readonly #settings: ClientSettings;

  /** @throws {TypeError} naming the option that is wrong */
  constructor(options: AnimalStoreClientOptions) {
    this.#settings = clientSettings(options);
  }

  async listPets(query: PetQuery = {}, call: CallOptions = {}): Promise<PetPage> {
    requirePetQuery(query, call);
    const { limit, status, after } = query;
    return sendRequest(
      this.#settings,
      {
        method: 'GET',
        path: '/pets',
        query: { limit, status, after } satisfies Required<PetQuery>,
        read: (body, headers) => toPage(body, headers, after),
      },
      call,
    );
  }

  /**
   * Returns every animal in ascending order of id, over all pages: each that exists during the whole traversal exactly
   * once. Requests a page when the one before is used up. `limit` is the size of a page (default 100). A full page may
   * lack its `Link`, which some proxies drop: then the next one begins after its last animal.
   */
  async *allPets(
    query: PetQuery = {},
    call: CallOptions = {},
  ): AsyncGenerator<Pet, void, undefined> {
    requirePetQuery(query, call); // its members alone are passed on
    const { limit = PAGE_LIMIT.maximum, ...others } = query;
    let { after } = others;
    do {
      const page: PetPage = await this.listPets({ ...others, limit, after }, call);
      for (const pet of page.pets) {
        call.signal?.throwIfAborted();
        yield pet;
      }
      after = page.next ?? (page.pets.length < limit ? undefined : page.pets.at(-1)?.id);
    } while (after !== undefined);
  }

  /**
   * As the port says, but an idempotency key needs no scope: the service takes it from the API key, and one that is given
   * is not sent. The key travels in a header, so it must consist of visible ASCII characters other than `"` and `\`.
   *
   * Without one the client generates a key for this call, and `replayed` is false. With one, `replayed` may be true
   * because of an attempt of this very call whose response was lost.
   */
  async createPet(
    pet: NewPet,
    call: CallOptions & { readonly idempotencyKey?: Pick<IdempotencyKey, 'key'> | undefined } = {},
  ): Promise<CreatedPet> {
    call.signal?.throwIfAborted();
    const { idempotencyKey } = call;
    const body = stringifyJson(unsavedPet(pet));
    const isOwnKey = idempotencyKey === undefined;
    const key = isOwnKey ? randomKey() : requireHeaderKey(idempotencyKey);
    const headers = { 'Idempotency-Key': `"${key}"` };
    return sendRequest(
      this.#settings,
      {
        method: 'POST',
        path: '/pets',
        headers,
        body,
        read: (created, received) => ({
          pet: toPet(created),
          replayed: !isOwnKey && received.get('idempotency-replayed') === 'true',
        }),
      },
      call,
    );
  }

  /**
   * As the port says. The interface will remove this operation on 5 December 2030: then the call rejects with a
   * `ServiceError` of code `operation_removed`. Use `listPets` with a status instead.
   */
  async getPet(id: bigint | number, call: CallOptions = {}): Promise<Pet> {
    const path = `/pets/${requirePetId(id, call)}`;
    return sendRequest(this.#settings, { method: 'GET', path, read: toPet }, call);
  }

  /**
   * As the port says, if the service serves it (`EXPERIMENTAL`); else the call rejects with a `ServiceError` of code
   * `method_not_allowed`. An animal as `from` is sent as its `ETag`, which the client computes as services of this version
   * do: a later version may reject with `PreconditionFailedError` instead. All of this holds for `removePet`, too.
   */
  async changePet(
    id: bigint | number,
    change: Partial<NewPet>,
    call: ChangeOptions = {},
  ): Promise<Pet> {
    const path = `/pets/${requirePetId(id, call)}`;
    const condition = await conditionOf(call);
    const body = stringifyJson(petChange(change));
    const idempotent = call.from === undefined;
    return sendRequest(
      this.#settings,
      { method: 'PATCH', path, ...condition, body, idempotent, read: toPet },
      call,
    );
  }

  /** As the port says. */
  async removePet(id: bigint | number, call: ChangeOptions = {}): Promise<void> {
    const path = `/pets/${requirePetId(id, call)}`;
    const condition = await conditionOf(call);
    return sendRequest(
      this.#settings,
      { method: 'DELETE', path, ...condition, idempotent: false, read: () => {} },
      call,
    );
  }
}

const toPet = (body: unknown): Pet => petFrom(Object(body));

/** How a request says what a change starts from: an animal by its ETag, a status in the query. */
async function conditionOf({ from }: ChangeOptions) {
  if (from === undefined) return {};
  const condition = petCondition(from);
  if ('id' in condition) return { headers: { 'If-Match': await entityTagOf(petJson(condition)) } };
  return { query: { from: condition[0] } };
}

/** 128 random bits. Not `crypto.randomUUID`, which browsers lack on pages without https. */
const randomKey = (): string => crypto.getRandomValues(new BigUint64Array(2)).join('-');

function toPage(body: unknown, headers: Headers, after: bigint | undefined): PetPage {
  // Anything but an array has no such method.
  const pets = (body as unknown[]).map(toPet);
  // The id that the next page begins behind (RFC 8288).
  const [, next] = /[?&]after=(-?\d+)[^<>]*>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  requireProgress(pets, after);
  if (next === undefined) return { pets };
  const page = { pets, next: BigInt(next) };
  requireProgress([{ id: page.next }], after); // else following the links would never end
  return page;
}

const headerKey = new RegExp(IDEMPOTENCY_KEY_PATTERN);

function requireHeaderKey(idempotencyKey: Pick<IdempotencyKey, 'key'>): string {
  // Callers without a compiler may pass null.
  const key: unknown = idempotencyKey?.key;
  // In quotes, as it is sent: a key that brings its own quotes must not pass.
  if (typeof key === 'string' && headerKey.test(`"${key}"`)) return key;
  const message = String.raw`must have 1 to 255 visible ASCII characters other than \ and "`;
  throw new InvalidParameterError([{ field: 'idempotencyKey.key', message }]);
}

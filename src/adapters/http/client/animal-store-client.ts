import type {
  AnimalStore,
  CreateCall,
  CreatedPet,
  PetPage,
  PetQuery,
} from '../../../application/animal-store.js';
import type { Call } from '../../../application/animal-store.js';
import { PAGE_LIMIT, requireLimitAndStatus, requirePetId } from '../../../application/create-animal-store.js';
import { InvalidParameterError, PetNotFoundError } from '../../../domain/errors.js';
import { isInt64 } from '../../../domain/int64.js';
import { unsavedPet, type NewPet, type Pet } from '../../../domain/pet.js';
import { IDEMPOTENCY_KEY_PATTERN } from '../idempotency-key.js';
import type { Answer } from './answer.js';
import { clientSettings, type AnimalStoreClientOptions } from './client-options.js';
import { linkTarget } from './link-header.js';
import { readPet, readPets } from './pet-answer.js';
import { RequestSender } from './request-sender.js';
import { UnexpectedAnswerError } from './service-error.js';

/**
 * The animal store of a service, over HTTP. It does what `createAnimalStore` does in the process: what no store
 * takes is refused before it is sent, int64s are exact, errors are the domain's own.
 *
 * A call is repeated, until its deadline or its number of retries is reached, when the service was not reached,
 * gave no answer in time, or asks for it (408, 429, 502, 503, 504, and 409 while a create with the same key is
 * undecided). Creates too: each carries an idempotency key, so that the animal is created once.
 *
 * Beyond what the port says, every operation may reject with
 * - `ServiceError`: an error that only HTTP knows, such as `invalid_api_key`, by its code;
 * - `UnexpectedAnswerError`: what answered is not an animal store.
 *
 * Errors of the port that came with an answer have that answer's `ServiceError` as their cause; its request id is
 * what the service's operator asks for. The API key is in no error, and cannot be got out of the client.
 *
 * Runs on everything that has a standard `fetch`. In a browser the service has to allow the page's origin
 * (`CORS_ORIGINS`). Where a proxy does that in its place, it has to expose the same headers as the service:
 * without a readable Link, every page looks like the last.
 */
export class AnimalStoreClient implements AnimalStore {
  readonly #requests: RequestSender;
  readonly #baseUrl: string;

  /** @throws {TypeError} naming the option that is wrong */
  constructor(options: AnimalStoreClientOptions) {
    const settings = clientSettings(options);
    this.#requests = new RequestSender(settings);
    this.#baseUrl = settings.baseUrl;
  }

  async listPets(query: PetQuery = {}, call: Call = {}): Promise<PetPage> {
    requireLimitAndStatus(query);
    const parameters = new URLSearchParams();
    const { limit, status, cursor } = query;
    for (const [name, value] of Object.entries({ limit, status, cursor })) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const target = parameters.size === 0 ? '/pets' : `/pets?${parameters.toString()}`;
    const answer = await this.#requests.send(
      { operation: 'listPets', method: 'GET', target, status: 200 },
      call,
    );
    const pets = readPets(answer);
    const next = nextCursor(answer, this.#baseUrl + target);
    return next === undefined ? { pets } : { pets, next };
  }

  /**
   * Every animal, ascending by id, over all pages: each that exists during the whole traversal exactly once. A
   * page is asked for when the one before is used up. `limit` is the size of a page, 100 when left out; a
   * `cursor` is where to begin.
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
   * As the port says. Of a request token only `token` is sent: its scope is the API key, by the service. It may
   * hold visible ASCII characters but `"` and `\`, since it travels in a header; others are refused.
   *
   * Without a token the call makes one of its own, so that it can be repeated safely within itself; `replayed` is
   * then false. With one, `replayed` may be true because of an attempt of this very call, whose answer was lost.
   */
  async createPet(pet: NewPet, { idempotencyKey, signal }: CreateCall = {}): Promise<CreatedPet> {
    const { name, categoryId, status } = unsavedPet(pet);
    const key = idempotencyKey === undefined ? randomKey() : headerToken(idempotencyKey.key);
    const answer = await this.#requests.send(
      {
        operation: 'createPet',
        method: 'POST',
        target: '/pets',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `"${key}"` },
        body: `{"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`,
        status: 201,
      },
      { signal },
    );
    const created = readPet(answer);
    if (created.name !== name || created.categoryId !== categoryId || created.status !== status) {
      throw new UnexpectedAnswerError('the animal created is not the one that was sent', answer);
    }
    return {
      pet: created,
      replayed: idempotencyKey !== undefined && answer.headers.get('idempotency-replayed') === 'true',
    };
  }

  /**
   * As the port says. The operation behind it is deprecated: the interface has it go on 5 December 2030, and there
   * is no other by which to ask for one animal. `onDeprecated` hears of it; once it is gone, the call rejects
   * with a `ServiceError` `operation_removed`. `listPets` with a status is what the interface wants used instead.
   */
  async getPet(id: bigint | number, call: Call = {}): Promise<Pet> {
    const petId = requirePetId(id);
    call.signal?.throwIfAborted();
    if (!isInt64(petId)) throw new PetNotFoundError(petId);
    const answer = await this.#requests.send(
      { operation: 'getPet', method: 'GET', target: `/pets/${petId}`, status: 200, petId: String(petId) },
      call,
    );
    const pet = readPet(answer);
    if (pet.id !== petId) throw new UnexpectedAnswerError('the animal is not the one asked for', answer);
    return pet;
  }
}

/** The cursor of the link to the next page, as it is: only the service reads it. */
function nextCursor(answer: Answer, url: string): string | undefined {
  const target = linkTarget(answer.headers.get('link') ?? '', 'next', url);
  if (target === undefined) return undefined;
  const cursor = target.searchParams.get('cursor');
  if (cursor !== null && cursor !== new URL(url).searchParams.get('cursor')) return cursor;
  throw new UnexpectedAnswerError('its link to the next page does not lead on', answer);
}

/** 128 random bits. Not `crypto.randomUUID`, which browsers lack on pages without https. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/** The service's own rule for the header, in which the token stands in quotes. */
const quotedToken = new RegExp(IDEMPOTENCY_KEY_PATTERN);

function headerToken(token: unknown): string {
  if (typeof token === 'string' && quotedToken.test(`"${token}"`)) return token;
  throw new InvalidParameterError([
    {
      field: 'idempotencyKey.key',
      message: String.raw`must have 1 to 255 visible ASCII characters other than \ and "`,
    },
  ]);
}

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  HttpInterface,
  Readiness,
  type HttpInterfaceOptions,
  type HttpLog,
  type HttpRequest,
  type HttpResponse,
  type RespondedRequest,
} from '../../../src/adapters/http/index.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import type { AnimalStore, CreatedPet } from '../../../src/application/animal-store.js';
import type { CallOptions } from '../../../src/application/call-options.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import { SCOPES, type Authenticator } from '../../../src/application/ports/authenticator.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { Pet } from '../../../src/domain/pet.js';

export const KEY = { authorization: 'Bearer any' };
export const REX = '{"name":"Rex","categoryId":1}';

/** Accepts every key. The key is its own id. */
export const anyKey: Authenticator = {
  authenticate: async (keyId) => ({ ok: true, principal: { keyId, scopes: new Set(SCOPES) } }),
};

type GivenOptions = Partial<HttpInterfaceOptions> & { readonly pets?: PetRepository };

/** The interface on a store in memory that accepts every key, unless the options say otherwise. */
export const httpInterface = ({
  pets = openMemoryStore().pets,
  ...options
}: GivenOptions = {}): HttpInterface =>
  new HttpInterface({
    animalStore: createAnimalStore({ pets }),
    authenticator: anyKey,
    readiness: new Readiness(async () => {}),
    ...options,
  });

/** An animal store in memory that has all operations. */
export const memoryAnimalStore = () => createAnimalStore(openMemoryStore());

/** An animal store whose lists reject. */
export const failing = (failure: unknown): AnimalStore => ({
  ...memoryAnimalStore(),
  listPets: () => Promise.reject(failure),
});

/** A list with these headers, by their names in lower case, and without a body. */
export const requestWith = (
  headers: Readonly<Record<string, string>>,
  request: Partial<HttpRequest> = {},
): HttpRequest => ({
  method: 'GET',
  path: '/v1/pets',
  query: '',
  header: (name) => headers[name],
  readBody: async () => new Uint8Array(),
  onDisconnect: () => {},
  ...request,
});

/** A create with a valid key. */
export const createWith = (body: string, request: Partial<HttpRequest> = {}): HttpRequest =>
  requestWith(KEY, {
    method: 'POST',
    readBody: async () => new TextEncoder().encode(body),
    ...request,
  });

/** A request whose client disconnects when the test says so. */
export function leaving(request: HttpRequest): {
  readonly request: HttpRequest;
  readonly leave: () => void;
} {
  const listeners: Array<() => void> = [];
  return {
    request: { ...request, onDisconnect: (listener) => void listeners.push(listener) },
    leave: () => listeners.forEach((listener) => listener()),
  };
}

/** A log that keeps what it gets. */
export class KeptLog implements HttpLog {
  readonly lines: RespondedRequest[] = [];

  /** The causes of responses of 500 and above. */
  get failures(): readonly unknown[] {
    return this.lines.flatMap(({ error }) => error ?? []);
  }

  responded(request: RespondedRequest): void {
    this.lines.push(request);
  }
}

const running: Server[] = [];

/** Starts a program on `node:http`, on a free port. Resolves to its address. `closeHosts` ends it. */
export async function startHost(
  listener: (...exchange: Parameters<RequestListener>) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  running.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function closeHosts(): void {
  for (const server of running.splice(0)) server.close().closeAllConnections();
}

/** Waits until all work that needs no timer and no socket is done. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The status of a response, and the code of its error. */
export const outcome = ({ status, body }: Pick<HttpResponse, 'status' | 'body'>): string =>
  [status, /"code":"(\w+)"/.exec(String(body))?.[1]].filter(Boolean).join(' ');

/** The same of a response that was sent. */
export async function sentOutcome(response: Response | Promise<Response>): Promise<string> {
  const sent = await response;
  return outcome({ status: sent.status, body: await sent.text() });
}

interface HeldCall {
  readonly signal: AbortSignal | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A store whose calls end when the test says so. It refuses aborted calls, and ignores later aborts. */
export class HeldPetRepository implements PetRepository {
  readonly calls: HeldCall[] = [];
  #arrival = Promise.withResolvers<void>();

  /** Waits until there were this many calls. Rejects after a while, with how many there were. */
  async called(count: number): Promise<void> {
    const fail = (): void =>
      this.#arrival.reject(new Error(`the store got ${this.calls.length} calls, not ${count}`));
    const late = setTimeout(fail, 15_000);
    while (this.calls.length < count) await this.#arrival.promise;
    clearTimeout(late);
  }

  add(_pet: unknown, call?: CallOptions): Promise<Pet> {
    return this.#hold(call, { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' });
  }

  async addOnce(
    pet: unknown,
    _claim: unknown,
    _now: number,
    call?: CallOptions,
  ): Promise<CreatedPet> {
    return { pet: await this.add(pet, call), replayed: false };
  }

  findById(_id: bigint, call?: CallOptions): Promise<Pet | undefined> {
    return this.#hold(call, undefined);
  }

  list(_range: unknown, call?: CallOptions): Promise<readonly Pet[]> {
    return this.#hold(call, []);
  }

  async #hold<T>(call: CallOptions | undefined, result: T): Promise<T> {
    call?.signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.calls.push({ signal: call?.signal, resolve: () => resolve(result), reject });
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
    return promise;
  }
}

/** Keeps the process alive during a test that waits for a deadline: the timer of a request does not. */
export function keepAlive(): void {
  let timer: ReturnType<typeof setInterval>;
  before(() => {
    timer = setInterval(() => {}, 1000);
  });
  after(() => clearInterval(timer));
}

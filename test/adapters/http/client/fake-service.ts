import { mock } from 'node:test';
import { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { AnimalStoreClientOptions } from '../../../../src/adapters/http/client/client-options.js';

export const BASE_URL = 'https://animals.example/shop/v1';
export const API_KEY = 'the-secret-key-0123456789';

export const BELLA = '{"id":1,"name":"Bella","categoryId":7,"status":"available"}';
export const bella = { name: 'Bella', categoryId: 7 };

/** A request that the fake service received. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: Headers;
}

/** A call of a client. */
export type ClientCall = (client: AnimalStoreClient) => Promise<unknown>;

/** The response to one request, or the failure of its fetch. */
export type Step = Response | Error | ((sent: Sent) => Promise<Response>);

export const json = (status: number, body: string, headers: object = {}): Response =>
  new Response(body, {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  });

export const errorJson = (status: number, code: string, headers: object = {}): Response =>
  json(status, JSON.stringify({ code, message: `Message of ${code}.`, status }), {
    'X-Request-Id': 'request-1',
    ...headers,
  });

/** A proxy's page. */
export const html = (status: number, headers: object = {}): Response =>
  new Response('<html><h1>Sorry</h1></html>', {
    status,
    headers: { 'Content-Type': 'text/html', ...headers },
  });

/** A response that never comes, until the signal ends it. */
export const never: Step = ({ init }) =>
  new Promise((_, reject) => {
    init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });

/** A response whose body breaks off. */
export const broken: Step = async () =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        controller.enqueue(new Uint8Array(5));
        controller.error(new TypeError('terminated'));
      },
    }),
  );

/** More turns of the event loop than promises and streams without input or output ever take. */
const IDLE = 20;

interface Timer {
  readonly due: number;
  readonly milliseconds: number;
  readonly callback: () => void;
}

/** Replaces timers and clocks: time advances to the next timer as soon as nothing else is left to do. */
class IdleTime {
  static current = new IdleTime();
  /** The lengths of the timers that fired. */
  readonly passed: number[] = [];
  /** What Math.random returns. */
  chance = 0.5;
  elapsed = 0;
  readonly #timers = new Set<Timer>();
  #turns: NodeJS.Immediate | undefined;

  /** The number of timers that have neither fired nor been cleared. */
  get running(): number {
    return this.#timers.size;
  }

  schedule(callback: () => void, milliseconds: number): Timer {
    const timer = { due: this.elapsed + milliseconds, milliseconds, callback };
    this.#timers.add(timer);
    this.#whenIdle(IDLE);
    return timer;
  }

  cancel(timer: Timer): void {
    this.#timers.delete(timer);
  }

  #whenIdle(turns: number): void {
    clearImmediate(this.#turns);
    this.#turns = setImmediate(() => (turns > 0 ? this.#whenIdle(turns - 1) : this.#advance()));
  }

  #advance(): void {
    const [next] = [...this.#timers].sort((one, other) => one.due - other.due);
    if (next === undefined) return;
    this.elapsed = next.due;
    this.#timers.delete(next);
    this.passed.push(next.milliseconds);
    next.callback();
    this.#whenIdle(IDLE);
  }
}

/** Replaces time in each test of the enclosing suite. Every `fakeService` starts a new time. */
export function useIdleTime(): void {
  beforeEach(() => {
    IdleTime.current = new IdleTime();
    mock.method(globalThis, 'setTimeout', (callback: () => void, milliseconds = 0) =>
      IdleTime.current.schedule(callback, milliseconds),
    );
    mock.method(globalThis, 'clearTimeout', (timer: Timer) => IdleTime.current.cancel(timer));
    mock.method(performance, 'now', () => IdleTime.current.elapsed);
    mock.method(Math, 'random', () => IdleTime.current.chance);
  });
  afterEach(() => mock.restoreAll());
}

/** A client of a service that responds with these steps, one for each request, and then always with the last. */
export function fakeService(...steps: readonly Step[]) {
  const sent: Sent[] = [];
  IdleTime.current = new IdleTime();
  const fetch: NonNullable<AnimalStoreClientOptions['fetch']> = async (url, init) => {
    const request = { url, init, headers: new Headers(init.headers) };
    sent.push(request);
    const step = steps[Math.min(sent.length, steps.length) - 1];
    if (typeof step === 'function') return step(request);
    if (step instanceof Response) return step.clone();
    throw step ?? new Error('there is no step');
  };
  const client = (options: Partial<AnimalStoreClientOptions> = {}): AnimalStoreClient =>
    new AnimalStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY, fetch, ...options });
  return { sent, timing: IdleTime.current, client };
}

import { mock } from 'node:test';
import {
  animalStoreClient,
  type AnimalStoreClient,
  type AnimalStoreClientOptions,
} from '../../../../src/adapters/http/client/index.js';

export const BASE_URL = 'https://animals.example/shop/v1';
export const API_KEY = 'the-secret-key-0123456789';

export const BELLA = '{"id":1,"name":"Bella","categoryId":7,"status":"available"}';
export const bella = { name: 'Bella', categoryId: 7 };

/** A call of a client. */
export type ClientCall = (client: AnimalStoreClient) => Promise<unknown>;

/** A request that the fake service received. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: Headers;
}

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
export const never = ({ init }: Sent): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(init.signal?.reason);
    init.signal?.addEventListener('abort', end, { once: true });
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

/** Makes every pause of the enclosing suite end at once. Returns the lengths of those since the test began. */
export function skipPauses(): readonly number[] {
  const pauses: number[] = [];
  beforeEach(() => {
    pauses.splice(0);
    mock.method(Math, 'random', () => 0.5);
    mock.method(globalThis, 'setTimeout', (end: () => void, milliseconds = 0) => {
      pauses.push(milliseconds);
      return setImmediate(end);
    });
  });
  afterEach(() => mock.restoreAll());
  return pauses;
}

/** A client of a service that responds with these steps, one for each request, and then always with the last. */
export function fakeService(...steps: readonly Step[]) {
  const sent: Sent[] = [];
  const fetch: NonNullable<AnimalStoreClientOptions['fetch']> = async (url, init) => {
    const request = { url, init, headers: new Headers(init.headers) };
    sent.push(request);
    const step = steps[Math.min(sent.length, steps.length) - 1];
    if (typeof step === 'function') return step(request);
    if (step instanceof Response) return step.clone();
    throw step ?? new Error('there is no step');
  };
  const client = (options: Partial<AnimalStoreClientOptions> = {}): AnimalStoreClient =>
    animalStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY, fetch, ...options });
  return { sent, client };
}

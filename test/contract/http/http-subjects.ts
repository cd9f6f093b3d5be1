import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpInterface } from '../../../src/adapters/http/index.js';
import { NodeServer } from '../../../src/adapters/http/node/index.js';
import { crossOriginHeaders } from '../../../src/adapters/http/response-headers.js';
import type { Open, Subject } from '../contract.js';
import { within } from '../settle.js';
import type { RawResponse, Conversation } from './conversation.js';
import { fillRequest, get, type RowRequest } from './request-row.js';
import { converse, messageOf } from './socket-client.js';
import { storeFault, wireHttp, type HttpKeys, type Situation } from './wire-http.js';

/** A service in a situation, with an empty store: the subject of the contract of the HTTP interface. */
export interface HttpSubject extends Subject {
  /** Where the operations are, including the base path. */
  readonly url: string;
  /** Whether requests reach it over a socket. Otherwise cases that need one are skipped. */
  readonly overSocket: boolean;
  /** The API keys that the service knows. */
  readonly keys: HttpKeys;
  /** Why the situation is not available. Cases that need it are skipped then. */
  readonly missing?: string | undefined;
  /**
   * Sends a request with all its values filled in, or bytes as they are. Waits for `responses` (default: 1), or until
   * the server closes the connection. Resolves to what came back.
   */
  send(
    request: RowRequest | { readonly raw: string },
    wanted?: { readonly responses?: number; readonly untilClosed?: boolean },
  ): Promise<Conversation>;
}

export type OpenHttp = Open<HttpSubject, Situation>;

const listening = new Set<NodeServer>();

/**
 * Makes an unhandled rejection an uncaught exception while a service listens. In a real service it ends the process, but
 * mocha drops it.
 */
const throwUnhandled = (error: unknown): never => {
  throw error;
};

/**
 * Subjects for a transport that is a request listener of Node.js: `make` makes it on the HTTP interface. A `NodeServer`
 * listens with it on 127.0.0.1 and a free port.
 */
export const listenerSubjects =
  (
    make: (http: HttpInterface) => RequestListener | Promise<RequestListener>,
  ): Open<HttpSubject, Situation> =>
  async (situation) => {
    const { http, keys, used } = await wireHttp(situation);
    const { corsOrigins } = http.settings;
    const listener = await make(http);
    const server = new NodeServer(
      (request, response) => {
        listener(request, response); // rejections stay unhandled, and the test runner reports them
      },
      { allow: http.allow, headers: (request) => crossOriginHeaders(corsOrigins, request) },
    );
    const port = await server.listen(0, '127.0.0.1');
    listening.add(server);
    if (listening.size === 1) process.on('unhandledRejection', throwUnhandled);
    const stop = async (): Promise<void> => {
      await server.close(50);
      await nextTurn(); // the transport's rejections about closed connections must arrive first
      listening.delete(server);
      if (listening.size === 0) process.off('unhandledRejection', throwUnhandled);
    };
    const url = `http://127.0.0.1:${port}${http.settings.basePath}`;
    return socketSubject({ url, keys, used, stop }, situation);
  };

/** Subjects for a transport that is a function from a Fetch request to its response. No socket is opened. */
export const fetchSubjects =
  (
    make: (
      http: HttpInterface,
    ) =>
      | ((request: Request) => Response | Promise<Response>)
      | Promise<(request: Request) => Response | Promise<Response>>,
  ): Open<HttpSubject, Situation> =>
  async (situation) => {
    const { http, keys, used } = await wireHttp(situation);
    const { basePath } = http.settings;
    const handle = await make(http);
    const leaving = new AbortController();
    if (storeFault(situation) === 'occupied') {
      const request = fillRequest(get('/pets'), { ...keys, base: basePath });
      // It ends only with the subject.
      Promise.resolve(handle(fetchRequest(request, { signal: leaving.signal }))).catch(() => {});
      await occupied(used);
    }
    return {
      url: `http://animals.test${basePath}`,
      overSocket: false,
      keys,
      async send(request) {
        if ('raw' in request) throw new Error('bytes need a socket');
        const sent = fetchRequest(request);
        const began = performance.now();
        const response = await handle(sent);
        const milliseconds = performance.now() - began;
        return {
          responses: [await rawResponseOf(response)],
          interim: [],
          closed: false,
          milliseconds,
        };
      },
      dispose: async () => leaving.abort(),
    };
  };

/**
 * Subjects for anything that listens by itself: `start` starts it in a situation (`SITUATIONS`, `environmentOf`) on a
 * free port, with an empty store, or returns why the situation is not available.
 */
export const serviceSubjects =
  (
    start: (situation: Situation) => Promise<
      | {
          /** Where the operations are, including the base path. */
          readonly url: string;
          /** The API keys that it was started with, or that were issued before. */
          readonly keys: HttpKeys;
          /** Resolves when a faulty store is used for the first time. The situation `busy` needs it. */
          readonly used?: Promise<void> | undefined;
          /** Ends the service, and requests in progress. */
          readonly stop: () => Promise<void>;
        }
      | string
    >,
  ): Open<HttpSubject, Situation> =>
  async (situation) => {
    const service = await start(situation);
    return typeof service === 'string'
      ? unavailableSubject(service)
      : socketSubject(service, situation);
  };

/** The subject of a situation that is not available: its cases are skipped with the reason. */
const unavailableSubject = (reason: string): HttpSubject => ({
  url: '',
  overSocket: true,
  keys: {} as HttpKeys, // nobody uses them
  missing: reason,
  send: () => Promise.reject(new Error(reason)),
  dispose: async () => {},
});

async function socketSubject(
  service: Pick<HttpSubject, 'url' | 'keys'> & {
    readonly used?: Promise<void> | undefined;
    readonly stop: () => Promise<void>;
  },
  situation: Situation,
): Promise<HttpSubject> {
  const { keys, used } = service;
  let stop = (): Promise<void> => service.stop();
  const url = new URL(service.url);
  if (storeFault(situation) === 'occupied') {
    const request = fillRequest(get('/pets'), { ...keys, base: url.pathname });
    // It ends only with the service.
    const socket = connect(Number(url.port), url.hostname).on('error', () => {});
    socket.write(messageOf(request, url.host, 1).bytes);
    await occupied(used).catch(async (error: unknown) => {
      socket.destroy();
      await stop().catch(() => {}); // the first error matters more
      throw error;
    });
    stop = () => service.stop().finally(() => socket.destroy());
  }
  return {
    url: service.url,
    overSocket: true,
    keys,
    send: (request, { responses = 1, untilClosed = false } = {}) =>
      converse(url, messageOf(request, url.host, responses), untilClosed),
    dispose: stop,
  };
}

/** The request that a runtime makes of such a message: its body is a stream, its length a header if it is known. */
function fetchRequest(
  { method, target, headers, body, chunked }: RowRequest,
  { signal }: RequestInit = {},
): Request {
  const sent = new Headers();
  let host = 'animals.test';
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'host') host = value;
    sent.append(name, value);
  }
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  if (content && !chunked && !sent.has('content-length'))
    sent.set('Content-Length', String(content.length));
  return new Request(`http://${host}${target}`, {
    method,
    headers: sent,
    signal: signal ?? null,
    ...(content && { body: new Blob([content]).stream(), duplex: 'half' }),
  });
}

const rawResponseOf = async (response: Response): Promise<RawResponse> => ({
  status: response.status,
  headers: [...response.headers],
  body: Buffer.from(await response.arrayBuffer()),
});

/** Waits until a request has reached the store, which never resolves: well below the time limit of a case. */
async function occupied(used: Promise<void> | undefined): Promise<void> {
  if (used === undefined)
    throw new TypeError('The situation busy needs `used` of the running service');
  await within(10_000, 'the request that must occupy the service did not reach the store', used);
}

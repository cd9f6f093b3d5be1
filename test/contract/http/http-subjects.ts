import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { HttpInterface } from '../../../src/adapters/http/http-interface.js';
import { NodeServer } from '../../../src/adapters/http/node/node-server.js';
import { fetchAnswer, fetchRequest } from './fetch-message.js';
import type { HttpSubject, OpenHttp } from './http-subject.js';
import { occupied } from './occupying.js';
import { get, type HttpKeys } from './request-row.js';
import { SITUATIONS, type Situation, type SituationSetup } from './situation.js';
import { converse } from './socket-client.js';
import { fillRequest, messageOf } from './wire.js';
import { wireHttp } from './wire-http.js';

/** What may be there at once, or later. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Subjects for a transport that is a request listener of Node.js: `make` makes it of the HTTP interface, and
 * a `NodeServer` listens with it, on 127.0.0.1 and a free port, as the service does.
 */
export const listenerSubjects = (make: (http: HttpInterface) => MaybePromise<RequestListener>): OpenHttp =>
  serviceSubjects(async (situation) => {
    const { http, keys, used } = await wireHttp(situation);
    const server = new NodeServer(await make(http));
    const port = await server.listen(0, '127.0.0.1');
    return {
      url: `http://127.0.0.1:${port}${http.settings.basePath}`,
      keys,
      used,
      stop: async () => void (await server.close(50)),
    };
  });

/** Subjects for a transport that is a function from a Fetch request to its response. No socket is opened. */
export const fetchSubjects =
  (make: (http: HttpInterface) => MaybePromise<(request: Request) => MaybePromise<Response>>): OpenHttp =>
  async (situation) => {
    const { http, keys, used } = await wireHttp(situation);
    return fetchSubject({
      handle: await make(http),
      situation,
      basePath: http.settings.basePath,
      keys,
      used,
    });
  };

/** A service that runs, for a test. */
export interface RunningService {
  /** Where the operations are, base path included. */
  readonly url: string;
  /** The API keys that it was started with, or that were issued before. */
  readonly keys: HttpKeys;
  /**
   * Resolves when a store that is not well was used for the first time; needed for the situation `busy`, which fails
   * where the first request does not come to the store within ten seconds.
   */
  readonly used?: Promise<void> | undefined;
  /** Ends the service, and requests that still wait. */
  readonly stop: () => Promise<void>;
}

/**
 * Subjects for what listens by itself, whatever it is made of: `start` starts it in a situation (`SITUATIONS`,
 * `environmentOf`) on a free port, its store empty, or says why this situation cannot be had.
 */
export const serviceSubjects =
  (start: (situation: Situation) => Promise<RunningService | string>): OpenHttp =>
  async (situation) => {
    const service = await start(situation);
    return typeof service === 'string' ? missing(service) : socketSubject(service, situation);
  };

const missing = (reason: string): HttpSubject => ({
  url: '',
  overSocket: true,
  keys: NO_KEYS,
  missing: reason,
  send: () => Promise.reject(new Error(reason)),
  dispose: async () => {},
});

/** Of a service that nobody asks anything that needs one. */
export const NO_KEYS: HttpKeys = {
  key: '',
  secondKey: '',
  managedKey: '',
  readOnlyKey: '',
  writeOnlyKey: '',
  expiredKey: '',
  revokedKey: '',
};

const isOccupied = (situation: Situation): boolean =>
  (SITUATIONS[situation] as SituationSetup).store === 'occupied';

async function socketSubject(
  { url: address, keys, used, stop }: RunningService,
  situation: Situation,
): Promise<HttpSubject> {
  const url = new URL(address);
  if (isOccupied(situation)) {
    // Ended by nothing but the end of the service.
    const request = fillRequest(get('/pets'), { ...keys, base: url.pathname });
    const socket = connect(Number(url.port), url.hostname);
    socket.write(messageOf(request, url.host, 1).bytes);
    await occupied(used, endOf(socket)).catch(async (error: unknown) => {
      socket.destroy();
      await stop().catch(() => {}); // what went wrong first matters more
      throw error;
    });
  }
  return {
    url: address,
    overSocket: true,
    keys,
    send: (request, { answers = 1, untilClosed = false } = {}) =>
      converse(url, messageOf(request, url.host, answers), untilClosed),
    dispose: stop,
  };
}

/** Resolves when anything is answered on a connection, or it ends. */
const endOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(`was answered ${bytes.toString('latin1').split('\r\n', 1)[0]}`));
    socket.once('close', () => resolve('lost its connection'));
    socket.on('error', () => {}); // told by the close
  });

interface Handled {
  readonly handle: (request: Request) => MaybePromise<Response>;
  readonly situation: Situation;
  readonly basePath: string;
  readonly keys: HttpKeys;
  readonly used: Promise<void>;
  /** Called when the subject is disposed of. */
  readonly close?: () => Promise<void>;
}

/** A subject whose requests are handed to a function. */
export async function fetchSubject({
  handle,
  situation,
  basePath,
  keys,
  used,
  close,
}: Handled): Promise<HttpSubject> {
  const leaving = new AbortController();
  if (isOccupied(situation)) {
    const request = fillRequest(get('/pets'), { ...keys, base: basePath });
    const ended = Promise.resolve(handle(fetchRequest(request, { signal: leaving.signal }))).then(
      ({ status }) => `was answered ${status}`,
      (error: unknown) => `was rejected with ${String(error)}`,
    );
    await occupied(used, ended).catch(async (error: unknown) => {
      leaving.abort();
      await close?.().catch(() => {}); // what went wrong first matters more
      throw error;
    });
  }
  return {
    url: `http://animals.test${basePath}`,
    overSocket: false,
    keys,
    async send(request) {
      if ('raw' in request) throw new Error('bytes are for a socket');
      const sent = fetchRequest(request);
      const began = performance.now();
      const response = await handle(sent);
      const milliseconds = performance.now() - began;
      return { answers: [await fetchAnswer(response)], interim: [], closed: false, milliseconds };
    },
    async dispose() {
      leaving.abort();
      await close?.();
    },
  };
}

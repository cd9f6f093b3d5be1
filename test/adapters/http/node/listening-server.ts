import { expect } from 'chai';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { NodeServer, type NodeServerOptions } from '../../../../src/adapters/http/node/index.js';
import { within } from '../../../contract/settle.js';
import { RawConnection } from './raw-connection.js';

/** What ends each running server. */
const running: Array<() => unknown> = [];

/** A server on a free port, which `closeServers` ends. */
export async function listening(listener: RequestListener, options?: NodeServerOptions) {
  const server = new NodeServer(listener, options);
  running.push(() => server.close(0));
  const port = await server.listen(0, '127.0.0.1');
  /** Connects and sends `bytes`. `isHalfOpen`: the client does not end its side when the server does. */
  const open = (bytes: string | Buffer = '', isHalfOpen = false) =>
    RawConnection.open(port, bytes, isHalfOpen);
  return { server, port, open };
}

/** Listens as a host on `node:http` does, on a free port. Resolves to its address. `closeServers` ends it, too. */
export async function serve(
  host: (...exchange: Parameters<RequestListener>) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void host(request, response));
  running.push(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Ends all servers and connections that a test left. */
export async function closeServers(): Promise<void> {
  await RawConnection.closeAll();
  await Promise.all(running.splice(0).map((end) => end()));
}

/** The head of a request, with a Host; `lines` are further headers. */
export const head = (requestLine: string, ...lines: readonly string[]): string =>
  [`${requestLine} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

/** Responds with the target of the request, at once. */
export const echoTarget: RequestListener = (request, response) => {
  response.end(request.url);
};

/** Responds with the body of the request. Does not listen for errors. */
export const echoBody: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => response.end(Buffer.concat(chunks)));
};

/** A listener to which the test responds. */
class Held {
  readonly responses: ServerResponse[] = [];
  #arrival = Promise.withResolvers<void>();

  readonly listener: RequestListener = (_request, response) => {
    this.responses.push(response);
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  };

  /** The targets of the requests so far. */
  get targets(): ReadonlyArray<string | undefined> {
    return this.responses.map(({ req }) => req.url);
  }

  /** The response to the request at `index`, from 0, once it is there. */
  async nth(index: number): Promise<ServerResponse> {
    for (;;) {
      const found = this.responses[index];
      if (found) return found;
      await this.#arrival.promise;
    }
  }
}

/** A server on a free port whose requests wait until the test responds to them. */
export async function holding(options?: NodeServerOptions) {
  const held = new Held();
  const server = await listening(held.listener, options);
  /** Sends a request on a new connection. Resolves when it has reached the listener. */
  const ask = async (bytes: string, isHalfOpen = false) => {
    const index = held.responses.length;
    const connection = await server.open(bytes, isHalfOpen);
    return { connection, response: await held.nth(index) };
  };
  return { ...server, held, ask };
}

/** Resolves once the server has read everything that was sent before. */
export const serverHasRead = async (port: number): Promise<void> => {
  await (await RawConnection.open(port, '@@\r\n\r\n')).allResponses();
};

/** Resolves to a number once the server has read everything that was sent before and that it wants to read. */
export async function steady(port: number, count: () => number): Promise<number> {
  for (let before = -1; count() > before;) {
    before = count();
    await serverHasRead(port);
  }
  return count();
}

/** Rejects if `promise` takes longer: a promise about time, not a way to wait. */
export const inTime = <T>(promise: Promise<T>, milliseconds = 15_000): Promise<T> =>
  within(milliseconds, 'it did not end', promise);

/** Checks that a server that was closed has answered every request, without waiting for idle connections. */
export async function expectAllAnswered(closed: Promise<boolean>): Promise<void> {
  expect(await inTime(closed), 'whether every request was answered').to.equal(true);
}

/** Runs a test that puts the clock of the server forward. */
export async function withClock(test: (forward: (milliseconds: number) => void) => Promise<void>) {
  const now = performance.now.bind(performance);
  let later = 0;
  const clock = mock.method(performance, 'now', () => now() + later);
  const forward = (milliseconds: number): void => {
    later += milliseconds;
  };
  try {
    await test(forward);
  } finally {
    clock.mock.restore();
  }
}

import { expect } from 'chai';
import type { RequestListener, ServerResponse } from 'node:http';
import { NodeServer, type NodeServerOptions } from '../../../../src/adapters/http/node/index.js';
import { RawConnection } from './raw-connection.js';

const running: NodeServer[] = [];

/** A server on a free port, which `closeServers` ends. */
export async function listening(...given: ConstructorParameters<typeof NodeServer>) {
  const server = new NodeServer(...given);
  running.push(server);
  const port = await server.listen(0, '127.0.0.1');
  /** Connects and sends `bytes`. `isHalfOpen`: the client does not end its side when the server does. */
  const open = (bytes: string | Buffer = '', isHalfOpen = false) =>
    RawConnection.open(port, bytes, isHalfOpen);
  return { server, port, open };
}

/** Ends all servers and connections that a test left. */
export async function closeServers(): Promise<void> {
  await RawConnection.closeAll();
  const closing = running.splice(0).map((server) => server.close(0));
  await Promise.all(closing);
}

/** The head of a request, with a Host; `lines` are further headers. */
export const head = (requestLine: string, ...lines: readonly string[]): string =>
  [`${requestLine} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

/** The head and the body of a POST. */
export const post = (body: string, ...lines: readonly string[]): string =>
  head('POST /', ...lines, `Content-Length: ${body.length}`) + body;

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

/** A server on a free port whose requests wait until the test responds to them. */
export async function holding(options?: NodeServerOptions) {
  const responses: ServerResponse[] = [];
  let arrival = Promise.withResolvers<void>();
  const server = await listening((_request, response) => {
    responses.push(response);
    arrival.resolve();
    arrival = Promise.withResolvers();
  }, options);
  /** The response to the request at `index`, from 0, once it has reached the listener. */
  const nth = async (index: number): Promise<ServerResponse> => {
    for (;;) {
      const found = responses[index];
      if (found) return found;
      await arrival.promise;
    }
  };
  /** Sends a request on a new connection. Resolves when it has reached the listener. */
  const ask = async (bytes: string, isHalfOpen = false) => {
    const index = responses.length;
    const connection = await server.open(bytes, isHalfOpen);
    return { connection, response: await nth(index) };
  };
  return { ...server, responses, nth, ask };
}

/** Resolves once the server has read all that was sent before: it refuses a later, malformed request. */
export const serverHasRead = async (port: number): Promise<void> => {
  await (await RawConnection.open(port, '@@\r\n\r\n')).allResponses();
};

/** Checks that a server that was closed has answered every request. */
export async function expectAllAnswered(closed: Promise<boolean>): Promise<void> {
  expect(await closed, 'whether every request was answered').to.equal(true);
}

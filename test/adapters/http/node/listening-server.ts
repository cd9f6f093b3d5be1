import type { RequestListener } from 'node:http';
import { NodeServer, type NodeServerOptions } from '../../../../src/adapters/http/node/index.js';
import { RawConnection } from './raw-connection.js';

const running: NodeServer[] = [];

/** A server on a free port, ended by `closeServers`. */
export async function listening(
  listener: RequestListener,
  options?: NodeServerOptions,
): Promise<{ readonly server: NodeServer; readonly port: number }> {
  const server = new NodeServer(listener, options);
  running.push(server);
  return { server, port: await server.listen(0, '127.0.0.1') };
}

/** Ends all servers and connections that a test left. */
export async function closeServers(): Promise<void> {
  await RawConnection.closeAll();
  await Promise.all(running.splice(0).map((server) => server.close(0)));
}

/** A request's head, with a Host; `lines` are further headers. */
export const head = (requestLine: string, ...lines: readonly string[]): string =>
  [`${requestLine} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

/** Answers with the target of the request: fast, in full, and told apart. */
export const echoTarget: RequestListener = (request, response) => {
  response.end(request.url);
};

/** Rejects when `promise` takes longer: the promise of a time, not a way to wait. */
export async function inTime<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

import { once } from 'node:events';
import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';
import { arrayBuffer } from 'node:stream/consumers';
import type { HttpInterfaceOptions } from '../../../src/adapters/http/index.js';
import { petJson } from '../../../src/adapters/http/operations.js';
import { hasHeader, type Header, type RowRequest } from './row.js';
import { serviceParts, type ServiceSetup } from './service-parts.js';

/** A service that serves with the transport under test. */
export interface HttpService {
  /** Where the paths of requests begin, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Handles a request in this process. Omit it to have requests sent to `url` over sockets. */
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  /** Ends the service, and requests in progress. */
  readonly close: () => Promise<unknown>;
}

/** Starts a service on a `new HttpInterface(options)`, over a socket on a free port. */
export type OpenHttp = (options: HttpInterfaceOptions) => Promise<HttpService>;

/** A response as the client received it. */
export interface RowResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Whether the client was told to send its body. Only a socket shows it. */
  readonly continued?: boolean;
  /** Whether the connection had served another request. Only a socket shows it. */
  readonly isReused?: boolean;
}

/** What a rule can do with the service. */
export interface TestedService {
  /** Without an agent, each request has its own connection. */
  readonly send: (request: RowRequest, agent?: Agent) => Promise<RowResponse>;
  /** The animals of the store as JSON, in ascending order of id. */
  readonly animals: () => Promise<readonly string[]>;
}

/** Opens a service for a rule, and closes it afterwards. */
export async function withService(
  open: OpenHttp,
  setup: ServiceSetup,
  run: (service: TestedService) => Promise<void>,
): Promise<void> {
  const { options, pets } = await serviceParts(setup);
  const service = await open(options);
  const { url, fetch } = service;
  const alive = setInterval(() => {}, 60_000); // keeps the process alive: the deadline's timer is unref'd
  try {
    await run({
      send: (request, agent) =>
        fetch ? sendByFetch(url, request, fetch) : sendOverSocket(url, request, agent),
      animals: async () => (await pets.list({ limit: 1000 })).map(petJson),
    });
  } finally {
    clearInterval(alive);
    await service.close();
  }
}

async function sendByFetch(
  url: string,
  { method, path, headers, body, chunked }: RowRequest,
  fetch: NonNullable<HttpService['fetch']>,
): Promise<RowResponse> {
  const content = body === undefined ? null : Buffer.from(body);
  const sent = headersFrom(headers);
  if (content && !chunked) sent.set('Content-Length', String(content.length));
  const stream = content && new Blob([content]).stream();
  const init = { method, headers: sent, body: stream, duplex: 'half' as const };
  const response = await fetch(new Request(url + path, init));
  const bytes = await response.arrayBuffer();
  return { status: response.status, headers: response.headers, body: decoded(bytes) };
}

async function sendOverSocket(
  url: string,
  request: RowRequest,
  agent: Agent | false = false,
): Promise<RowResponse> {
  const { method, path, body = '' } = request;
  const { host, hostname, port } = new URL(url);
  const headers = headersOverSocket(request, host);
  const sending = httpRequest({ hostname, port, method, path, headers, agent });
  const awaitsContinue = hasHeader(request, 'Expect'); // Node.js then sends the head at once
  let continued = false;
  sending.on('continue', () => {
    continued = true;
    if (awaitsContinue) sending.end(body); // an unasked 100 must not end it twice
  });
  if (!awaitsContinue) sending.end(body);
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  sending.on('error', () => {}); // the server may close while the rest of the body is sent
  const { statusCode: status = 0, headersDistinct } = response;
  const received = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value) => [name, value] as const),
  );
  const text = decoded(await arrayBuffer(response));
  return {
    status,
    headers: headersFrom(received),
    body: text,
    continued,
    isReused: sending.reusedSocket,
  };
}

/** Names and values in turn, as `node:http` takes them. */
function headersOverSocket(request: RowRequest, host: string): string[] {
  const { headers, body, chunked } = request;
  const sent = headers.flat();
  if (!hasHeader(request, 'Host')) sent.push('Host', host);
  if (chunked) sent.push('Transfer-Encoding', 'chunked');
  else if (body !== undefined) sent.push('Content-Length', String(Buffer.byteLength(body)));
  return [...sent, 'Connection', 'keep-alive'];
}

/** A header may be there twice. */
const headersFrom = (pairs: readonly Header[]): Headers =>
  new Headers(pairs.map((pair) => [...pair]));

/** The text of bytes that must be UTF-8. */
const decoded = (bytes: ArrayBuffer): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

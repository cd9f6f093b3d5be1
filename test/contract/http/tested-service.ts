import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { arrayBuffer } from 'node:stream/consumers';
import type { HttpInterfaceOptions } from '../../../src/adapters/http/index.js';
import { petJson } from '../../../src/adapters/http/operations.js';
import type { RowRequest } from './row.js';
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
}

/** What a rule can do with the service. */
export interface TestedService {
  readonly send: (request: RowRequest) => Promise<RowResponse>;
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
      send: (request) => (fetch ? sendByFetch(url, request, fetch) : sendOverSocket(url, request)),
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
  const sent = new Headers();
  for (const [name, value] of headers) sent.append(name, value);
  const content = body === undefined ? undefined : Buffer.from(body);
  if (content && !chunked) sent.set('Content-Length', String(content.length));
  const stream = content && { body: new Blob([content]).stream(), duplex: 'half' as const };
  const response = await fetch(new Request(url + path, { method, headers: sent, ...stream }));
  const bytes = await response.arrayBuffer();
  return { status: response.status, headers: response.headers, body: decoded(bytes) };
}

async function sendOverSocket(url: string, request: RowRequest): Promise<RowResponse> {
  const { method, path, headers, body, chunked } = request;
  const { host, hostname, port } = new URL(url);
  const content = Buffer.from(body ?? '');
  const names = new Set(headers.map(([name]) => name));
  const fields = [...headers, ['Connection', 'keep-alive']];
  if (!names.has('Host')) fields.push(['Host', host]);
  if (chunked) fields.push(['Transfer-Encoding', 'chunked']);
  else if (body !== undefined) fields.push(['Content-Length', String(content.length)]);
  const options = { hostname, port, method, path, headers: fields.flat(), agent: false };
  const sending = httpRequest(options);
  const awaitsContinue = names.has('Expect'); // Node.js sends the head at once
  let continued = false;
  sending.on('continue', () => {
    continued = true;
    if (awaitsContinue) sending.end(content);
  });
  if (!awaitsContinue) sending.end(content);
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  sending.on('error', () => {}); // the server may close while the rest of the body is sent
  const received = new Headers();
  const { rawHeaders, statusCode: status = 0 } = response;
  for (let at = 0; at < rawHeaders.length; at += 2)
    received.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return { status, headers: received, body: decoded(await arrayBuffer(response)), continued };
}

/** The text of bytes that must be UTF-8. */
const decoded = (bytes: ArrayBuffer): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

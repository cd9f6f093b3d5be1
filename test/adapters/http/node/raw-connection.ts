import { expect } from 'chai';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A response as it came over the wire, with the names of its headers in lower case. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A client that sends exactly the given bytes. */
export class RawConnection {
  static readonly #open = new Set<RawConnection>();

  readonly socket: Socket;
  /** Resolves to the code of the error that ended the connection, or to `undefined` if it ended in order. */
  readonly closed: Promise<string | undefined>;
  #received = '';
  #isOver = false;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      let code: string | undefined;
      socket.on('error', (error: NodeJS.ErrnoException) => {
        ({ code } = error);
      });
      socket.on('close', () => {
        RawConnection.#open.delete(this);
        this.#change(true);
        resolve(code);
      });
    });
    socket.setEncoding('latin1').on('data', (text) => {
      this.#received += text;
      this.#change(false);
    });
    socket.on('end', () => this.#change(true));
    RawConnection.#open.add(this);
  }

  /** Connects and sends `bytes`. `isHalfOpen`: does not end its side when the server does. */
  static async open(
    port: number,
    bytes: string | Buffer = '',
    isHalfOpen = false,
  ): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: isHalfOpen });
    await once(socket, 'connect');
    const connection = new RawConnection(socket);
    connection.send(bytes);
    return connection;
  }

  /** Ends every connection that a test left open. */
  static async closeAll(): Promise<void> {
    const open = [...RawConnection.#open];
    for (const { socket } of open) socket.destroy();
    await Promise.all(open.map(({ closed }) => closed));
  }

  send(bytes: string | Buffer): void {
    if (bytes.length > 0) this.socket.write(bytes);
  }

  get received(): string {
    return this.#received;
  }

  /** Waits until enough was received; fails if the connection ends before that. */
  async until(isEnough: (received: string) => boolean): Promise<void> {
    while (!isEnough(this.received)) {
      if (this.#isOver)
        throw new Error(`the connection ended after ${JSON.stringify(this.received)}`);
      await this.#changed.promise;
    }
  }

  /** The responses so far, once there are `count`. */
  async responses(count: number): Promise<readonly RawResponse[]> {
    await this.until((received) => parseResponses(received).responses.length >= count);
    return parseResponses(this.received).responses;
  }

  /** All responses, once the server has ended the connection. Fails if anything follows them. */
  async allResponses(): Promise<readonly RawResponse[]> {
    while (!this.#isOver) await this.#changed.promise;
    const { responses, rest } = parseResponses(this.received);
    expect(rest, 'bytes after the last response').to.equal('');
    return responses;
  }

  /** The bodies of the responses so far, once there are `count`. */
  async bodies(count: number): Promise<readonly string[]> {
    return (await this.responses(count)).map(({ body }) => body);
  }

  /** The bodies of all responses, once the server has ended the connection. */
  async allBodies(): Promise<readonly string[]> {
    return (await this.allResponses()).map(({ body }) => body);
  }

  #change(isOver: boolean): void {
    this.#isOver ||= isOver;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Sends `bytes` on a new connection. Resolves to all responses, once the server has ended it. */
export const exchange = async (
  port: number,
  bytes: string | Buffer,
): Promise<readonly RawResponse[]> => (await RawConnection.open(port, bytes)).allResponses();

/** Resolves when the port refuses connections. */
export async function untilRefused(port: number): Promise<void> {
  for (;;) {
    try {
      const { socket } = await RawConnection.open(port);
      socket.destroy();
    } catch {
      return;
    }
    await delay(10);
  }
}

/** Sends `bytes` on a new connection, and reads nothing until the test resumes its socket. */
export async function stalled(port: number, bytes = ''): Promise<RawConnection> {
  const connection = await RawConnection.open(port);
  connection.socket.pause();
  connection.send(bytes);
  return connection;
}

/** Reads the complete responses at the beginning of `received`. None of them is to HEAD. */
export function parseResponses(received: string) {
  const responses: RawResponse[] = [];
  let rest = received;
  for (let first = firstResponse(rest); first; first = firstResponse(rest)) {
    if (first.status >= 200) responses.push(first);
    rest = rest.slice(first.length);
  }
  return { responses, rest };
}

/** The first response and its length, if it is complete. */
function firstResponse(text: string): (RawResponse & { readonly length: number }) | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not an HTTP/1.1 status line: ${statusLine}`);
  const headers = new Map(
    lines.map((line) => {
      const [name = ''] = line.split(':', 1);
      return [name.toLowerCase(), line.slice(name.length + 1).trim()] as const;
    }),
  );
  const start = end + 4;
  if (status < 200 || status === 204 || status === 304)
    return { status, headers, body: '', length: start };
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = readChunks(text, start);
    return chunked && { status, headers, ...chunked };
  }
  // Without a length, it goes on until the connection ends.
  const length = start + Number(headers.get('content-length') ?? text.length - start);
  return text.length >= length
    ? { status, headers, body: text.slice(start, length), length }
    : undefined;
}

/** A body in chunks from `start` on, and where it ends, if it is complete. */
function readChunks(text: string, start: number) {
  let body = '';
  for (let at = start; ;) {
    const line = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, line), 16);
    const end = line + 2 + size;
    if (line === -1 || text.length < end + 2) return undefined;
    if (size === 0) return { body, length: end + 2 };
    body += text.slice(line + 2, end);
    at = end + 2;
  }
}

/** Checks that a response is an error in the interface's shape, and closes its connection. */
export function expectError(response: RawResponse | undefined, status: number, code: string): void {
  if (response === undefined) throw new Error(`no response, but ${status} ${code} was promised`);
  const { message } = JSON.parse(response.body) as { readonly message: unknown };
  expect(response.body).to.equal(JSON.stringify({ code, message, status }));
  expect(message).to.be.a('string').with.length.above(5);
  expect(response.status).to.equal(status);
  const { headers } = response;
  expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
  expect(headers.get('x-request-id')).to.match(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers.get('cache-control')).to.equal('no-store');
  expect(headers.get('connection')).to.equal('close');
}

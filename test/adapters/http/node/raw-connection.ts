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
  received = '';
  #isOver = false;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    let code: string | undefined;
    socket.on('error', (error: NodeJS.ErrnoException) => {
      ({ code } = error);
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#change(true);
        resolve(code);
      });
    });
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.received += text;
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
    RawConnection.#open.clear();
    for (const { socket } of open) socket.destroy();
    await Promise.all(open.map(({ closed }) => closed));
  }

  send(bytes: string | Buffer): void {
    if (bytes.length > 0) this.socket.write(bytes);
  }

  /** Waits until enough was received; fails if the connection ends before that. */
  async until(isEnough: (received: string) => boolean): Promise<void> {
    while (!isEnough(this.received)) {
      if (this.#isOver) throw new Error(`ended after ${JSON.stringify(this.received)}`);
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

  /** Waits for as many responses, and checks their bodies. */
  async expectBodies(...expected: readonly string[]): Promise<void> {
    const responses = await this.responses(expected.length);
    expect(bodiesOf(responses)).to.deep.equal(expected);
  }

  /** Waits until the server has ended the connection, and checks the bodies of all responses. */
  async expectAllBodies(...expected: readonly string[]): Promise<void> {
    const responses = await this.allResponses();
    expect(bodiesOf(responses)).to.deep.equal(expected);
  }

  #change(isOver: boolean): void {
    this.#isOver ||= isOver;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Checks the statuses of responses. */
export function expectStatuses(
  responses: readonly RawResponse[],
  ...expected: readonly number[]
): void {
  const statuses = responses.map(({ status }) => status);
  expect(statuses).to.deep.equal(expected);
}

export const bodiesOf = (responses: readonly RawResponse[]): readonly string[] =>
  responses.map(({ body }) => body);

/** Sends `bytes` on a new connection. Resolves to all responses, once the server has ended it. */
export async function exchange(
  port: number,
  bytes: string | Buffer,
): Promise<readonly RawResponse[]> {
  const connection = await RawConnection.open(port, bytes);
  return connection.allResponses();
}

/** Resolves when the port refuses connections. */
export async function untilRefused(port: number): Promise<void> {
  for (;;) {
    const connection = await RawConnection.open(port).catch(() => {});
    if (!connection) return;
    connection.socket.destroy();
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

/** Reads the complete responses at the beginning of `received`. None of them is to HEAD, or in chunks. */
export function parseResponses(received: string) {
  const responses: RawResponse[] = [];
  let rest = received;
  for (let end = endOfFirst(rest); end <= rest.length; end = endOfFirst(rest)) {
    const [head = ''] = rest.split('\r\n\r\n', 1);
    const status = statusOf(head);
    const body = rest.slice(head.length + 4, end);
    if (status >= 200) responses.push({ status, headers: headersOf(head), body });
    rest = rest.slice(end);
  }
  return { responses, rest };
}

/** Where the first response ends, or will end. */
function endOfFirst(text: string): number {
  const [head = ''] = text.split('\r\n\r\n', 1);
  if (head === text) return Infinity;
  const start = head.length + 4;
  if ([100, 204, 304].includes(statusOf(head))) return start;
  // Without a length, the body goes on until the connection ends.
  return start + Number(headersOf(head).get('content-length') ?? text.length - start);
}

function statusOf(head: string): number {
  const [version, status] = head.split(' ', 2);
  if (version !== 'HTTP/1.1') throw new Error(`not an HTTP/1.1 response: ${head}`);
  return Number(status);
}

/** The headers, by their names in lower case. */
function headersOf(head: string): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n').slice(1)) {
    const [name = ''] = line.split(':', 1);
    const value = line.slice(name.length + 1);
    headers.set(name.toLowerCase(), value.trim());
  }
  return headers;
}

/** Checks that a response is an error in the interface's shape, and closes its connection. */
export function expectError(response: RawResponse | undefined, status: number, code: string): void {
  if (response === undefined) throw new Error(`no response, but ${status} ${code} was promised`);
  const { message } = JSON.parse(response.body) as { readonly message: unknown };
  expect(response.body).to.equal(JSON.stringify({ code, message, status }));
  expect(message).to.be.a('string');
  expect(response.status).to.equal(status);
  const { headers } = response;
  expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
  expect(headers.get('cache-control')).to.equal('no-store');
  expect(headers.get('connection')).to.equal('close');
}

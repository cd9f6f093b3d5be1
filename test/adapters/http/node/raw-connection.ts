import { expect } from 'chai';
import { connect, type Socket } from 'node:net';

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
      socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
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
  static open(port: number, bytes: string | Buffer = '', isHalfOpen = false): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: isHalfOpen });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        const connection = new RawConnection(socket);
        connection.send(bytes);
        resolve(connection);
      });
    });
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
      if (this.#isOver) throw new Error(`the connection ended after ${JSON.stringify(this.received)}`);
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

  #change(isOver: boolean): void {
    this.#isOver ||= isOver;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Sends `bytes` on a new connection. Resolves to all responses, once the server has ended it. */
export const exchange = async (port: number, bytes: string | Buffer): Promise<readonly RawResponse[]> =>
  (await RawConnection.open(port, bytes)).allResponses();

/** Reads the complete responses at the beginning of `received`. Their bodies have a Content-Length or chunks. */
export function parseResponses(received: string): {
  readonly responses: readonly RawResponse[];
  readonly rest: string;
} {
  const responses: RawResponse[] = [];
  let rest = received;
  for (;;) {
    const [start = '', code, lines = ''] = START.exec(rest) ?? [];
    if (code === undefined) {
      if (rest.includes('\r\n\r\n')) throw new Error(`no response: ${JSON.stringify(rest.slice(0, 500))}`);
      return { responses, rest };
    }
    const after = rest.slice(start.length);
    const fields = [...lines.matchAll(/(.*): (.*)\r\n/g)];
    const headers = new Map(fields.map(([, name = '', value = '']) => [name.toLowerCase(), value]));
    const length = code === '100' ? 0 : bodyLength(headers, after);
    if (length > after.length) return { responses, rest };
    rest = after.slice(length);
    const sent = after.slice(0, length);
    const body = headers.has('content-length') ? sent : sent.replaceAll(/[0-9a-f]+\r\n|\r\n/g, '');
    if (code !== '100') responses.push({ status: Number(code), headers, body });
  }
}

const START = /^HTTP\/1\.1 (\d{3}) [\w ,'-]*\r\n((?:[\w-]+: [ -~]*\r\n)*)\r\n/;

/** Infinity if the body in chunks is not complete. */
function bodyLength(headers: ReadonlyMap<string, string>, text: string): number {
  const announced = headers.get('content-length');
  if (announced !== undefined) return Number(announced);
  return /^(?:[1-9a-f][0-9a-f]*\r\n[^]*?\r\n)*?0\r\n\r\n/.exec(text)?.[0].length ?? Infinity;
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

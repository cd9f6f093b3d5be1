import { expect } from 'chai';
import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire; names of headers in lower case. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A client that sends exactly the bytes it is told to, for what no well-behaved client would send. */
export class RawConnection {
  static readonly #open = new Set<RawConnection>();

  readonly socket: Socket;
  /** Resolves to the code of the error that ended the connection, or `undefined` for an orderly end. */
  readonly closed: Promise<string | undefined>;
  #chunks: Buffer[] = [];
  #onChange = new Set<() => void>();
  #isOver = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      let code: string | undefined;
      socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
      socket.on('close', () => {
        RawConnection.#open.delete(this);
        this.#over();
        resolve(code);
      });
    });
    socket.on('data', (chunk) => {
      this.#chunks.push(chunk);
      this.#changed();
    });
    socket.on('end', () => this.#over());
    RawConnection.#open.add(this);
  }

  /** Connects; `text` is sent at once. */
  static open(port: number, text: string | Buffer = ''): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        const connection = new RawConnection(socket.setNoDelay());
        connection.send(text);
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

  send(text: string | Buffer): void {
    if (text.length > 0) this.socket.write(text);
  }

  get bytes(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    return bytes;
  }

  get received(): string {
    return this.bytes.toString('latin1');
  }

  /** Whether the other side has ended the connection. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Waits until what was received is enough, or fails when the connection ends before it is. */
  async until(enough: (received: string) => boolean): Promise<void> {
    while (!enough(this.received)) {
      if (this.#isOver) throw new Error(`the connection ended after ${JSON.stringify(this.received)}`);
      await this.#change();
    }
  }

  /** The first `count` answers, as soon as they are there. */
  async answers(count: number, methods: readonly string[] = []): Promise<readonly RawAnswer[]> {
    await this.until(() => parseAnswers(this.bytes, methods).answers.length >= count);
    return parseAnswers(this.bytes, methods).answers;
  }

  /** All answers, once the other side has ended the connection. Fails if they are followed by anything else. */
  async allAnswers(methods: readonly string[] = []): Promise<readonly RawAnswer[]> {
    while (!this.#isOver) await this.#change();
    const { answers, rest } = parseAnswers(this.bytes, methods);
    expect(rest, 'bytes behind the last answer').to.equal('');
    return answers;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.add(resolve));
  }

  #changed(): void {
    const waiting = this.#onChange;
    this.#onChange = new Set();
    for (const resolve of waiting) resolve();
  }

  #over(): void {
    this.#isOver = true;
    this.#changed();
  }
}

/** Sends `text` on a new connection, and resolves to all answers once the server has ended it. */
export async function exchange(
  port: number,
  text: string | Buffer,
  methods: readonly string[] = [],
): Promise<readonly RawAnswer[]> {
  return (await RawConnection.open(port, text)).allAnswers(methods);
}

/**
 * Reads the complete answers at the beginning of `bytes`, strictly: a length or chunks, no other end of a body.
 * @param methods of the requests that they answer, in their order; needed for HEAD only
 */
export function parseAnswers(
  bytes: Buffer,
  methods: readonly string[] = [],
): { readonly answers: readonly RawAnswer[]; readonly rest: string } {
  const answers: RawAnswer[] = [];
  let rest = bytes.toString('latin1');
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return { answers, rest };
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const { code } = /^HTTP\/1\.1 (?<code>\d{3}) [\w ,'-]*$/.exec(statusLine)?.groups ?? {};
    if (code === undefined) throw new Error(`no status line: ${JSON.stringify(statusLine)}`);
    const status = Number(code);
    const headers = new Map(lines.map(readHeader));
    const afterHead = rest.slice(headEnd + 4);
    if (status === 100) {
      rest = afterHead;
      continue;
    }
    const bodiless = status === 204 || status === 304 || methods[answers.length] === 'HEAD';
    const body = bodiless ? { text: '', length: 0 } : readBody(headers, afterHead);
    if (body === undefined) return { answers, rest };
    answers.push({ status, headers, body: Buffer.from(body.text, 'latin1').toString('utf8') });
    rest = afterHead.slice(body.length);
  }
}

function readHeader(line: string): [string, string] {
  const { name, value } = /^(?<name>[\w-]+): (?<value>[ -~]*)$/.exec(line)?.groups ?? {};
  if (name === undefined || value === undefined) throw new Error(`no header: ${JSON.stringify(line)}`);
  return [name.toLowerCase(), value];
}

function readBody(
  headers: ReadonlyMap<string, string>,
  text: string,
): { readonly text: string; readonly length: number } | undefined {
  const announced = headers.get('content-length');
  if (announced !== undefined) {
    const length = Number(announced);
    return text.length < length ? undefined : { text: text.slice(0, length), length };
  }
  if (headers.get('transfer-encoding') !== 'chunked') throw new Error('a body without a length');
  let body = '';
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || text.length < end) return undefined;
    if (size === 0) return { text: body, length: end };
    body += text.slice(lineEnd + 2, end - 2);
    at = end;
  }
}

/** Checks that an answer is an error exactly as the interface promises it, from a connection that ends with it. */
export function expectError(answer: RawAnswer | undefined, status: number, code: string): void {
  expectErrorShape(answer, status, code);
  expect(answer?.headers.get('connection')).to.equal('close');
}

/** Checks that an answer is an error exactly as the interface promises it. */
function expectErrorShape(answer: RawAnswer | undefined, status: number, code: string): void {
  if (answer === undefined) throw new Error(`no answer, but ${status} ${code} was promised`);
  const { headers, body } = answer;
  expect(answer.status).to.equal(status);
  const error = JSON.parse(body) as { readonly message: unknown };
  expect(error).to.deep.equal({ code, message: error.message, status });
  expect(error.message).to.be.a('string').with.length.above(5);
  expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
  expect(headers.get('x-request-id')).to.match(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers.get('cache-control')).to.equal('no-store');
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { headerValues, type Answer, type Conversation } from './conversation.js';

export interface Message {
  readonly bytes: Uint8Array;
  /** Sent once the server said to continue. */
  readonly afterContinue?: Uint8Array | undefined;
  /** Of each request in the bytes: an answer to HEAD ends with its headers. */
  readonly methods: readonly string[];
}

const PATIENCE = 5000;

/**
 * Puts bytes on a connection of their own, and waits for so many answers or, with `untilClosed`, for the end.
 * A request is not ended by closing our side: the server alone decides whether the connection goes on.
 */
export async function converse(url: URL, message: Message, untilClosed: boolean): Promise<Conversation> {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  const reader = new AnswerReader(message.methods);
  const finished = new AbortController();
  let closed = false;
  let milliseconds = 0;
  const came = Promise.withResolvers<void>();
  const done = (): boolean => (untilClosed ? closed : reader.answers.length >= message.methods.length);
  socket.on('data', (bytes) => {
    const before = reader.answers.length + reader.interim.length;
    try {
      reader.read(bytes);
    } catch (error) {
      came.reject(error); // no HTTP: there is nothing more to be read
      socket.destroy();
      return;
    }
    if (before === 0) milliseconds = performance.now() - began;
    if (message.afterContinue && before === 0 && reader.interim.length > 0)
      socket.write(message.afterContinue);
    if (done()) came.resolve();
  });
  socket.on('end', () => {
    closed = reader.isBetweenAnswers;
    came.resolve();
  });
  // A server that closes early may refuse what is still being sent; the answer must have come whole by then.
  socket.on('error', (error) => (reader.answers.length > 0 ? came.resolve() : came.reject(error)));
  socket.on('close', () => came.resolve());
  await once(socket, 'connect');
  const began = performance.now();
  socket.write(message.bytes);
  try {
    const late = delay(PATIENCE, undefined, { signal: finished.signal, ref: false }).catch(() => {});
    await Promise.race([came.promise, late]);
    return { answers: reader.answers, interim: reader.interim, closed, milliseconds };
  } finally {
    finished.abort();
    await destroyed(socket);
  }
}

async function destroyed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
}

/** Takes HTTP/1.1 messages apart as they come. */
class AnswerReader {
  readonly answers: Answer[] = [];
  readonly interim: number[] = [];
  readonly #methods: readonly string[];
  #rest: Buffer = Buffer.alloc(0);

  constructor(methods: readonly string[]) {
    this.#methods = methods;
  }

  get isBetweenAnswers(): boolean {
    return this.#rest.length === 0;
  }

  read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#readOne());
  }

  #readOne(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const [statusLine = '', ...lines] = this.#rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no HTTP/1.1 status line: ${statusLine}`);
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    if (status < 200) {
      this.#rest = this.#rest.subarray(end + 4);
      this.interim.push(status);
      return true;
    }
    const bodiless = this.#methods[this.answers.length] === 'HEAD' || status === 204 || status === 304;
    const [length] = headerValues({ status, headers, body: Buffer.alloc(0) }, 'content-length');
    if (length === undefined && !bodiless) throw new Error(`an answer of unknown length: ${statusLine}`);
    const bodyEnd = end + 4 + (bodiless ? 0 : Number(length));
    if (this.#rest.length < bodyEnd) return false;
    this.answers.push({ status, headers, body: this.#rest.subarray(end + 4, bodyEnd) });
    this.#rest = this.#rest.subarray(bodyEnd);
    return true;
  }
}

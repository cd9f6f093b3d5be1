import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { HttpError } from '../http-error.js';
import { silentLog, type HttpLog } from '../http-log.js';
import { readMessageHead } from './message-head.js';
import { asBytes, closingAnswer, parserError, type ClosingAnswer } from './raw-answer.js';
import { SERVER_LIMITS, type ServerLimits } from './server-limits.js';
import { closeAfterUnreadBody, continueWhenRead, endThenDestroy } from './unread-body.js';

export interface NodeServerOptions {
  readonly limits?: Partial<ServerLimits> | undefined;
  readonly log?: HttpLog | undefined;
}

/** So many requests may wait on one connection; then, until all are answered, no more are read. */
const PAUSE_AT_WAITING = 100;

/** What is going on on one connection. */
interface Connection {
  /** The response being made; others wait for it. */
  current: ServerResponse | undefined;
  readonly waiting: Array<{ readonly request: IncomingMessage | undefined; readonly start: () => void }>;
  /** How many requests came on it. */
  received: number;
  /** What closes the connection is decided: what else comes on it is not looked at (RFC 9112, 9.6). */
  closing: boolean;
}

/**
 * A listening server for any request listener. It keeps the bounds of `SERVER_LIMITS`, gives the faults that
 * no listener gets to see an answer in the interface's shape, takes the requests of a connection one after
 * the other, never reads a body that nobody wants, and stops without losing an answer.
 */
export class NodeServer {
  readonly #server: Server;
  readonly #listener: RequestListener;
  readonly #limits: ServerLimits;
  readonly #log: HttpLog;
  readonly #connections = new Map<Socket, Connection>();
  #draining = false;
  #closed = false;

  constructor(listener: RequestListener, { limits, log = silentLog }: NodeServerOptions = {}) {
    this.#listener = listener;
    this.#limits = { ...SERVER_LIMITS, ...limits };
    this.#log = log;
    this.#server = this.#createServer();
  }

  /** Resolves to the port when the server accepts connections; port 0 takes a free one. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** From now on every answer closes its connection, so that clients go elsewhere; new ones are still served. */
  drain(): void {
    this.#draining = true;
    for (const { current } of this.#connections.values()) {
      if (current && !current.headersSent) current.setHeader('Connection', 'close');
    }
  }

  /**
   * Accepts nothing more, closes idle connections, and waits for requests in flight; those not answered
   * within `milliseconds` are cut off. Resolves to whether all were answered.
   */
  close(milliseconds: number): Promise<boolean> {
    this.drain();
    this.#closed = true;
    return new Promise((resolve) => {
      let answered = true;
      const timer = setTimeout(() => {
        answered = false;
        for (const socket of this.#connections.keys()) socket.destroy();
      }, milliseconds);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve(answered);
      });
      for (const [socket, { current, closing }] of this.#connections) {
        if (current === undefined && !closing) socket.destroy();
      }
    });
  }

  #createServer(): Server {
    const limits = this.#limits;
    const server = createServer({
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: limits.connectionsCheckingInterval,
      keepAliveTimeout: limits.keepAliveTimeout,
      maxHeaderSize: limits.maxHeaderSize,
      insecureHTTPParser: false,
      requireHostHeader: false, // Node's own answer to that has no body: readMessageHead sees to it
      noDelay: true,
    });
    server.maxHeadersCount = limits.maxHeadersCount;
    server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
    server.maxConnections = limits.maxConnections;
    server.on('connection', (socket: Socket) => {
      this.#connections.set(socket, { current: undefined, waiting: [], received: 0, closing: false });
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('request', (request, response) => this.#receive(request, response));
    server.on('checkContinue', (request, response) => {
      // Node looks no further than whether it is among the expectations.
      if (!/^100-continue$/i.test(request.headers.expect ?? ''))
        return this.#receive(request, response, unmet());
      continueWhenRead(request, response);
      this.#receive(request, response);
    });
    server.on('checkExpectation', (request, response) => this.#receive(request, response, unmet()));
    server.on('clientError', (error, socket) => this.#refuse(socket as Socket, parserError(error)));
    server.on('connect', (request, socket) => {
      // Node has let go of the socket: without a listener, a client that resets it would end the process.
      socket.on('error', () => socket.destroy());
      const allow = 'GET, HEAD, POST, OPTIONS';
      this.#refuse(
        socket as Socket,
        new HttpError('method_not_allowed', 'There are no tunnels.', { Allow: allow }),
        request,
      );
    });
    return server;
  }

  /** Takes the requests of a connection in turn: one that closes it must be the last that was processed. */
  #receive(request: IncomingMessage, response: ServerResponse, refusal?: HttpError): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined || connection.closing) return;
    connection.received += 1;
    // Node says so as well, but leaves the connection open unless it is said here.
    if (connection.received === this.#limits.maxRequestsPerSocket) response.setHeader('Connection', 'close');
    const { waiting } = connection;
    waiting.push({ request, start: () => this.#start(connection, request, response, refusal) });
    this.#next(connection);
    if (waiting.length === PAUSE_AT_WAITING) {
      // Not now: Node resumes the socket at the end of each request.
      setImmediate(() => waiting.length > 0 && request.socket.pause());
    }
  }

  #next(connection: Connection): void {
    if (connection.current === undefined) connection.waiting.shift()?.start();
  }

  #start(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    refusal: HttpError | undefined,
  ): void {
    connection.current = response;
    response.once('close', () => {
      connection.current = undefined;
      const { socket } = request;
      if (!socket.writable) return; // that answer was the connection's last
      this.#next(connection);
      if (connection.waiting.length === 0 && !connection.closing && socket.isPaused()) socket.resume();
      if (this.#closed && connection.current === undefined) socket.destroySoon();
    });
    const { fault = refusal, announcesBody } = readMessageHead(request);
    if (this.#draining) response.setHeader('Connection', 'close');
    if (announcesBody)
      closeAfterUnreadBody(request, response, this.#limits, () => (connection.closing = true));
    if (fault) this.#answer(response, closingAnswer(fault, sentRequestId(request)), request);
    else this.#listener(request, response);
  }

  /** Answers what no listener gets to see, in its turn, and closes the connection. `request` is known for CONNECT. */
  #refuse(socket: Socket, error: HttpError, request?: IncomingMessage): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    if (connection.closing) return; // the linger after an answer sees to it
    connection.closing = true;
    socket.pause();
    const { current, waiting } = connection;
    if (current && !current.req.complete) {
      // The fault is in the body that this response's listener may be reading.
      if (current.headersSent) socket.destroy();
      else this.#answer(current, closingAnswer(error, sentRequestId(current.req)), current.req);
      return;
    }
    // It is in the last request that came: those before it are answered first.
    const cut = waiting.at(-1)?.request?.complete === false ? waiting.pop()?.request : request;
    const answer = closingAnswer(error, cut && sentRequestId(cut));
    waiting.push({
      request: undefined,
      start: () => {
        this.#logAnswer(answer);
        endThenDestroy(socket, this.#limits.lingerTime, asBytes(answer));
      },
    });
    this.#next(connection);
  }

  #answer(response: ServerResponse, answer: ClosingAnswer, request: IncomingMessage): void {
    this.#logAnswer(answer, request);
    response.writeHead(answer.status, answer.headers);
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  #logAnswer({ requestId, status, code }: ClosingAnswer, request?: IncomingMessage): void {
    const { method = '-', url = '-' } = request ?? {};
    const [path = '-'] = url.split('?', 1);
    this.#log.answered({ requestId, method, path, status, code, milliseconds: 0 });
  }
}

const unmet = (): HttpError => new HttpError('expectation_failed', 'Only Expect: 100-continue is met.');

const sentRequestId = ({ headers }: IncomingMessage): string | undefined =>
  headers['x-request-id']?.toString();

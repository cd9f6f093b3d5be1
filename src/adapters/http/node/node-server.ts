import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { HttpError } from '../error-responses.js';
import { silentLog, type HttpLog } from '../http-log.js';
import { Connection } from './connection.js';
import { readMessageHead } from './message-head.js';
import { asBytes, closingAnswer, parserError, type ClosingAnswer } from './raw-answer.js';
import { SERVER_LIMITS, type ServerLimits } from './server-limits.js';
import { closeAfterUnreadBody, continueWhenRead, endThenDestroy } from './unread-body.js';

/** How a server differs from the usual one. */
export interface NodeServerOptions {
  /** Those that differ from `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /**
   * Told of requests that the server answers by itself, because no listener can be given them. Nobody is when
   * left out.
   */
  readonly log?: HttpLog | undefined;
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
      this.#connections.set(socket, new Connection(socket));
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

  #receive(request: IncomingMessage, response: ServerResponse, refusal?: HttpError): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined || connection.closing) return;
    // Node says so too with the last request it takes, but leaves the connection open unless it is said here.
    const isLast = connection.received + 1 === this.#limits.maxRequestsPerSocket;
    if (isLast) response.setHeader('Connection', 'close');
    connection.receive(request, response, () => this.#start(connection, request, response, refusal));
  }

  #start(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    refusal: HttpError | undefined,
  ): void {
    response.once('close', () => {
      connection.finish();
      if (this.#closed && connection.current === undefined) request.socket.destroySoon();
    });
    const { fault = refusal, announcesBody } = readMessageHead(request);
    if (this.#draining) response.setHeader('Connection', 'close');
    if (announcesBody) closeAfterUnreadBody(request, response, this.#limits, () => connection.close());
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
    socket.pause();
    const { current } = connection;
    if (current && !current.req.complete) {
      // The fault is in the body that this response's listener may be reading.
      connection.close();
      if (current.headersSent) socket.destroy();
      else this.#answer(current, closingAnswer(error, sentRequestId(current.req)), current.req);
      return;
    }
    // It is in the last request that came: those before it are answered first.
    const cut = connection.takeCut() ?? request;
    const answer = closingAnswer(error, cut && sentRequestId(cut));
    connection.closeAfterOthers(() => {
      this.#logAnswer(answer);
      endThenDestroy(socket, this.#limits.lingerTime, asBytes(answer));
    });
  }

  #answer(response: ServerResponse, answer: ClosingAnswer, request: IncomingMessage): void {
    this.#logAnswer(answer, request);
    response.writeHead(answer.status, answer.headers);
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  #logAnswer({ requestId, status, code }: ClosingAnswer, request?: IncomingMessage): void {
    const { method = '-', url = '-' } = request ?? {};
    const [path = '-'] = url.split('?', 1);
    this.#log.responded({ requestId, method, path, status, code, milliseconds: 0 });
  }
}

const unmet = (): HttpError => new HttpError('expectation_failed', 'Only Expect: 100-continue is met.');

const sentRequestId = ({ headers }: IncomingMessage): string | undefined =>
  headers['x-request-id']?.toString();

import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { errorAnswer } from '../answer/error-answers.js';
import { HttpError } from '../http-error.js';
import { silentLog, unfailing, type HttpLog } from '../http-log.js';
import { commonHeaders, requestId } from '../request/request-id.js';
import { Connection, connectionOf, type ServerState } from './connection.js';
import {
  headFault,
  lastResponse,
  parserFault,
  refusedRequest,
  unparsedRequest,
  type RefusedRequest,
} from './refusals.js';
import { serverLimits, type ServerLimits } from './server-limits.js';
import { ServerRequest, ServerResponse } from './server-messages.js';

/** Options of a `NodeServer`. */
export interface NodeServerOptions {
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /** Called for every response that the server gives by itself. Omit to log nothing. */
  readonly log?: HttpLog | undefined;
  /** Returns further headers of such a response, for example those for cross-origin requests. */
  readonly headers?: ((request: RefusedRequest) => Readonly<Record<string, string>>) | undefined;
}

/** How often a stopping server looks for idle connections, in milliseconds. */
const STOPPING_INTERVAL = 20;

/**
 * A listening server for any request listener. It keeps the limits of `SERVER_LIMITS`, takes one request at a
 * time from each connection, answers what no listener can be given in the interface's Error shape, survives what
 * a listener throws or rejects with, and stops without losing a response.
 */
export class NodeServer {
  readonly #listener: (...exchange: Parameters<RequestListener>) => unknown;
  readonly #state: ServerState;
  readonly #log: HttpLog;
  readonly #headers: NonNullable<NodeServerOptions['headers']>;
  readonly #http: HttpServer<typeof ServerRequest, typeof ServerResponse>;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #checking: NodeJS.Timeout | undefined;
  #drainedAt = Infinity;

  /** @param listener may return a promise; if it throws or rejects before it responds, the response is 500 */
  constructor(listener: RequestListener, { limits, log = silentLog, headers }: NodeServerOptions = {}) {
    this.#listener = listener;
    this.#state = { limits: serverLimits(limits), isDraining: false };
    this.#log = unfailing(log);
    this.#headers = headers ?? (() => ({}));
    this.#http = this.#createHttpServer();
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = this.#state.limits.maxConnections;
  }

  /** Resolves to the port once the server accepts connections; port 0 takes a free one. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        this.#check(this.#state.limits.connectionsCheckingInterval);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** From now on every response closes its connection, so that clients go elsewhere. New ones are still served. */
  drain(): void {
    if (this.#state.isDraining) return;
    this.#state.isDraining = true;
    this.#drainedAt = performance.now();
  }

  /**
   * Stops listening, ends idle connections, and waits until every request is answered and every response is
   * with the operating system. Connections that are still open after `milliseconds` are cut off.
   * @returns whether all requests were answered
   */
  close(milliseconds: number): Promise<boolean> {
    this.drain();
    return new Promise((resolve) => {
      let answered = true;
      const deadline = setTimeout(() => {
        for (const connection of this.#connections) {
          if (connection.current) answered = false;
          connection.destroy();
        }
      }, milliseconds);
      this.#server.close(() => {
        clearTimeout(deadline);
        clearInterval(this.#checking);
        resolve(answered);
      });
      this.#check(STOPPING_INTERVAL);
    });
  }

  #createHttpServer(): HttpServer<typeof ServerRequest, typeof ServerResponse> {
    const { maxHeaderSize, maxHeadersCount, maxRequestsPerSocket, keepAliveTimeout } = this.#state.limits;
    const http = createHttpServer({
      IncomingMessage: ServerRequest,
      ServerResponse,
      maxHeaderSize,
      keepAliveTimeout, // said in the responses; kept by #check
      insecureHTTPParser: false,
      requireHostHeader: false, // headFault checks it: Node's response to that has no body
    });
    http.maxHeadersCount = maxHeadersCount;
    http.maxRequestsPerSocket = maxRequestsPerSocket;
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      http.on(event, (request, response) => this.#begin(request, response));
    }
    http.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
      this.#fail(socket as unknown as Connection, parserFault(error), error.rawPacket);
    });
    http.on('connect', (request: ServerRequest) => {
      const headers = { Allow: 'GET, HEAD, POST, OPTIONS' };
      const error = new HttpError('method_not_allowed', 'CONNECT is not supported.', headers);
      this.#refuse(connectionOf(request), error, refusedRequest(request));
    });
    return http;
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket, this.#state);
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
    this.#http.emit('connection', connection);
  }

  #begin(request: ServerRequest, response: ServerResponse): void {
    const client = connectionOf(request);
    client.begin({ request, response });
    const fault = headFault(request);
    if (fault) return this.#refuse(client, fault, refusedRequest(request));
    if (request.headers.expect !== undefined) {
      request.whenWanted(() => response.headersSent || response.writeContinue());
    }
    try {
      const answering = this.#listener(request, response);
      if (answering instanceof Promise)
        answering.catch((error: unknown) => this.#rescue(request, response, error));
    } catch (error) {
      this.#rescue(request, response, error);
    }
  }

  /** Responds for a listener that threw or rejected. */
  #rescue(request: ServerRequest, response: ServerResponse, error: unknown): void {
    const refused = refusedRequest(request);
    const id = requestId(refused.header('x-request-id'));
    this.#log.failed(id, error);
    if (response.writableEnded) return;
    if (response.headersSent) connectionOf(request).destroy();
    else this.#refuse(connectionOf(request), error, refused, id);
  }

  /** Deals with input that is malformed or late. Its listener answers if it reads the body and listens for errors. */
  #fail(connection: Connection, fault: HttpError, bytes?: Buffer): void {
    if (!connection.isParsing) return;
    connection.stopParsing();
    if (connection.current === undefined) return this.#refuse(connection, fault, unparsedRequest(bytes));
    const { request, response } = connection.current;
    request.fail(fault, () => {
      if (response.headersSent) connection.destroy();
      else this.#refuse(connection, fault, refusedRequest(request));
    });
  }

  /** Responds in place of a listener and closes the connection. */
  #refuse(
    connection: Connection,
    error: unknown,
    request: RefusedRequest,
    id = requestId(request.header('x-request-id')),
  ): void {
    if (!connection.writable) return;
    const { method, path } = request;
    const { status, code, headers, body } = errorAnswer(error, id);
    const all = { ...commonHeaders(id), ...this.#headers(request), ...headers };
    connection.end(lastResponse(status, all, body, method));
    this.#log.answered({ requestId: id, method, path, status, code, milliseconds: 0 });
  }

  /** Checks all connections regularly. */
  #check(interval: number): void {
    const { keepAliveTimeout, stopGrace } = this.#state.limits;
    clearInterval(this.#checking);
    this.#checking = setInterval(() => {
      const now = performance.now();
      const isStopping = !this.#server.listening;
      for (const connection of this.#connections) {
        if (connection.isLate(now)) {
          this.#fail(connection, new HttpError('request_timeout', 'The request did not come in time.'));
        } else if (!isStopping) connection.endIfIdle(now - keepAliveTimeout);
        else if (this.#drainedAt < now - stopGrace) connection.endIfIdle(now - stopGrace);
      }
    }, interval).unref();
  }
}

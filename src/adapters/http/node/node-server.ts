import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type RequestListener,
  type Server as HttpServer,
} from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { types } from 'node:util';
import { errorResponse, type ErrorResponse, type HttpError } from '../error-responses.js';
import { report, type HttpLog } from '../http-log.js';
import type { HttpRequest } from '../http-message.js';
import type { AdmissionControl } from './admission-control.js';
import { Connection, connectionOf, type ServerState } from './connection.js';
import {
  connectRefused,
  requestFault,
  lastResponse,
  lateRequest,
  parserFault,
  refusedRequest,
  unparsedRequest,
  type ParserError,
  type RefusedRequest,
} from './refusals.js';
import { serverLimits, type SERVER_LIMITS } from './server-limits.js';
import { ServerRequest, ServerResponse } from './server-messages.js';
import { FairScheduler } from './fair-scheduler.js';

/** Options of a `NodeServer`. */
export interface NodeServerOptions {
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: { readonly [Name in keyof typeof SERVER_LIMITS]?: number };
  /** Called for every response that the server gives by itself. Omit to log nothing. */
  readonly log?: HttpLog | undefined;
  /** Returns further headers of such a response, for example those for cross-origin requests. */
  readonly headers?:
    | ((request: Pick<HttpRequest, 'method' | 'header'>) => Readonly<Record<string, string>>)
    | undefined;
  /** The Allow header of a refused CONNECT: `allow` of an `HttpInterface`. Default: `GET, HEAD, POST, OPTIONS`. */
  readonly allow?: string | undefined;
  /** The admission of the `HttpInterface` that the server serves: it is told of connections and unread responses. */
  readonly admission?: AdmissionControl | undefined;
}

/** Connections parsed in one turn of the event loop: more than requests are started, so that parsing delays none. */
const PARSED_PER_TURN = 128;
/** How often a stopping server looks for idle connections, in milliseconds. */
const STOPPING_INTERVAL = 20;
/** The longest time in which a stopping server accepts waiting connections, in milliseconds. */
const ACCEPTING_TIME = 1_000;
/** If only short turns of the event loop accepted nothing for this time, in milliseconds, no connection waits. */
const QUIET_TIME = 5;
const SHORT_TURN = 0.2;

/**
 * A listening server for any request listener. It keeps the limits of `SERVER_LIMITS`, takes one request at a time from
 * each connection, responds in the interface's Error shape where no listener can, survives what a listener throws or
 * rejects with, and stops without losing a response. `setTimeout` of its requests, responses and sockets has no effect.
 */
export class NodeServer {
  readonly #listener: (...exchange: Parameters<RequestListener>) => unknown;
  readonly #options: NodeServerOptions;
  readonly #state: ServerState;
  readonly #http: HttpServer<typeof ServerRequest, typeof ServerResponse>;
  readonly #server: Server;
  #accepted = 0;
  #checking: NodeJS.Timeout | undefined;

  /** @param listener may return a promise; if it throws or rejects before it responds, the response is 500 */
  constructor(listener: RequestListener, options: NodeServerOptions = {}) {
    this.#listener = listener;
    this.#options = options;
    this.#state = {
      limits: serverLimits(options.limits),
      connections: new Set(),
      waiting: new Set(),
      scheduler: new FairScheduler(PARSED_PER_TURN),
      admission: options.admission,
    };
    this.#http = this.#createParsingServer();
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#accept(socket),
    );
  }

  /**
   * Resolves to the port once the server accepts connections; port 0 takes a free one.
   * @param reusePort whether other processes may listen on the port, too: the operating system hands out connections.
   * Default: no. Rejects with `ENOTSUP` where the system cannot, as on macOS and Windows.
   */
  async listen(port: number, host: string, reusePort = false): Promise<number> {
    const { maxConnections, connectionsCheckingInterval } = this.#state.limits;
    // As many may wait to be accepted as may be open: a client whose SYN is dropped retries after 1 s.
    await once(
      this.#server.listen({ port, host, reusePort, backlog: maxConnections }),
      'listening',
    );
    this.#checkEvery(connectionsCheckingInterval);
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on every response closes its connection, so that clients go elsewhere. New ones are still served. */
  drain(): void {
    this.#state.isDraining = true;
  }

  /**
   * Stops listening, ends idle connections, and waits until every response is with the operating system. Connections that
   * are still open after `milliseconds` are cut off.
   * @returns whether every request was answered
   */
  async close(milliseconds: number): Promise<boolean> {
    const until = performance.now() + milliseconds;
    await this.#acceptAll(Math.min(milliseconds / 2, ACCEPTING_TIME));
    this.drain(); // not before: a disconnected client reconnects
    this.#state.stoppedAt ??= performance.now();
    this.#checkEvery(STOPPING_INTERVAL);
    const left = Math.max(1, until - performance.now());
    let answered = true;
    const deadline = setTimeout(() => {
      for (const connection of this.#state.connections) {
        answered &&= connection.response === undefined;
        connection.destroy();
      }
    }, left);
    await new Promise((resolve) => this.#server.close(resolve));
    clearTimeout(deadline);
    clearInterval(this.#checking);
    return answered;
  }

  /**
   * Accepts the connections that wait: the operating system resets them when the listening socket closes. Starts no
   * requests meanwhile: each response could bring another connection of its client.
   */
  async #acceptAll(milliseconds: number): Promise<void> {
    const { scheduler } = this.#state;
    scheduler.isHeld = true;
    const began = performance.now();
    for (
      let quietSince = began, now = began;
      now - quietSince < QUIET_TIME && now - began < milliseconds;
    ) {
      const [accepted, before] = [this.#accepted, now];
      await nextTurn(); // Node accepts one connection a turn
      now = performance.now();
      if (this.#accepted > accepted || now - before > SHORT_TURN) quietSince = now;
    }
    scheduler.isHeld = false;
  }

  #checkEvery(interval: number): void {
    clearInterval(this.#checking);
    this.#checking = setInterval(() => void this.#check(), interval).unref();
  }

  async #check(): Promise<void> {
    await nextTurn();
    const now = performance.now();
    await nextTurn(); // what had arrived by now at a busy server has been read: it is not late
    for (const connection of this.#state.connections) {
      if (connection.check(now)) this.#fail(connection, lateRequest());
    }
  }

  /** The server that parses; it does not listen, because it would destroy connections that look idle to it. */
  #createParsingServer(): HttpServer<typeof ServerRequest, typeof ServerResponse> {
    const { maxHeaderSize, keepAliveTimeout } = this.#state.limits;
    const { allow = 'GET, HEAD, POST, OPTIONS' } = this.#options;
    const http = createHttpServer({
      IncomingMessage: ServerRequest,
      ServerResponse,
      maxHeaderSize,
      keepAliveTimeout, // announced in responses; `Connection.check` enforces it
      insecureHTTPParser: false,
      requireHostHeader: false, // requestFault checks it: Node's response to that has no body
    });
    http.maxHeadersCount = 0; // with a limit, Node.js silently drops further headers, such as Authorization
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      http.on(event, (request, response) => this.#begin(request, response));
    }
    http.on('connect', (request: ServerRequest) => {
      this.#refuse(connectionFor(request), connectRefused(allow), refusedRequest(request));
    });
    http.on('clientError', (error: ParserError, socket) => {
      const connection = connectionOf(socket);
      if (connection && !socket.destroyed)
        this.#fail(connection, parserFault(error), error.rawPacket);
    });
    return http;
  }

  /**
   * At the limit, closes the connection that has waited longest for its client, or one that pipelines: its client has
   * to expect that (RFC 9112, 9.3.2). Drops the new one if there is neither.
   */
  #accept(socket: Socket): void {
    this.#accepted += 1;
    const { limits, connections, waiting, scheduler, admission } = this.#state;
    scheduler.accepted();
    admission?.accepted();
    if (connections.size >= limits.maxConnections) {
      const [longest = [...connections].find((open) => open.pipelines)] = waiting;
      if (longest === undefined) return void socket.destroy();
      longest.destroy();
    }
    void new Connection(socket, this.#state, this.#http);
  }

  #begin(request: ServerRequest, response: ServerResponse): void {
    const connection = connectionFor(request);
    connection.begin(response);
    const fault = requestFault(request);
    if (fault) return this.#refuse(connection, fault, refusedRequest(request));
    const rescue = (error: unknown): void => this.#rescue(connection, response, error);
    try {
      const responding = this.#listener(request, response);
      if (types.isPromise(responding)) responding.catch(rescue);
    } catch (error) {
      rescue(error);
    }
  }

  /** Responds for a listener that threw or rejected. If its response has begun, cuts the connection off. */
  #rescue(connection: Connection, response: ServerResponse, error: unknown): void {
    const request = refusedRequest(response.req);
    if (!response.headersSent) return this.#refuse(connection, error, request);
    this.#responseTo(connection, error, request);
    if (!response.writableEnded) connection.destroy();
  }

  /** Deals with late or malformed input. A listener that reads the body and listens for errors responds itself. */
  #fail(connection: Connection, fault: HttpError, bytes?: Buffer): void {
    if (!connection.isParsing) return;
    connection.stopParsing();
    const { response } = connection;
    if (response === undefined) return this.#refuse(connection, fault, unparsedRequest(bytes));
    response.req.fail(fault, () => {
      if (response.headersSent) connection.destroy();
      else this.#refuse(connection, fault, refusedRequest(response.req));
    });
  }

  /** Responds in place of a listener, and closes the connection. */
  #refuse(connection: Connection, error: unknown, request: RefusedRequest): void {
    if (!connection.socket.writable) return;
    const response = this.#responseTo(connection, error, request);
    const headers = { ...this.#options.headers?.(request), ...response.headers };
    connection.end(lastResponse({ ...response, headers }, request.method));
  }

  /** Makes and logs a response in place of a listener. */
  #responseTo({ socket }: Connection, error: unknown, request: RefusedRequest): ErrorResponse {
    const response = errorResponse(error, request.id);
    const rest = {
      requestId: request.id,
      clientAddress: socket.remoteAddress,
      error,
      milliseconds: 0,
    };
    report(this.#options.log, request, response, rest);
    return response;
  }
}

const connectionFor = ({ socket }: ServerRequest): Connection => connectionOf(socket) as Connection;

import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { HttpError, errorResponse } from '../error-responses.js';
import { logResponse, type HttpLog } from '../http-log.js';
import type { HeaderFields, HttpResponse } from '../http-message.js';
import { Connection } from './connection.js';
import { scheduler } from './fair-scheduler.js';
import { JoinedRequest } from './joined-request.js';
import {
  lastResponse,
  parserFault,
  refusedRequest,
  requestFault,
  unparsedRequest,
  type ParserError,
  type RefusedRequest,
} from './refusals.js';
import { serverLimits, type ServerLimits } from './server-limits.js';

/** Options of a `NodeServer`. */
export interface NodeServerOptions {
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits>;
  /** Called for every response that the server gives by itself. Omit to log nothing. */
  readonly log?: HttpLog | undefined;
  /** Returns further headers of such a response, for example those for cross-origin requests. */
  readonly headers?: ((request: RefusedRequest) => HeaderFields) | undefined;
}

/** May return a promise. */
type Listener = (...exchange: Parameters<RequestListener>) => unknown;

/** A stopping server accepts connections until none has come for this long, in milliseconds. */
const QUIET_TIME = 20;
/** The longest time for that, in milliseconds. */
const ACCEPTING_TIME = 1_000;
/** The server's own `Connection: close`. An array, so that `===` tells it from one that the listener has set. */
const OWN_CLOSE = ['close'];

/**
 * `node:http` with limits for any request listener. It responds in the interface's Error shape where no listener can,
 * survives what a listener throws or rejects with, and stops without losing a response. There is no TLS, no upgrade, no
 * CONNECT and no Unix socket: put a proxy in front.
 *
 * `docs/listener.md` lists its limits, and the attacks that measure them. Behind nginx `node:http` alone is enough.
 */
export class NodeServer {
  readonly #listener: Listener;
  readonly #options: NodeServerOptions;
  readonly #limits: ServerLimits;
  /** The open connections, the least recently used first. */
  readonly #open = new Set<Connection>();
  readonly #parsingServer: HttpServer;
  readonly #listeningServer: Server;
  #accepted = 0;
  #isDraining = false;

  /**
   * @param listener if it throws or rejects before it responds, the server sends the response to that error: 500,
   * unless the error has a code of the interface
   */
  constructor(listener: Listener, options: NodeServerOptions = {}) {
    this.#listener = listener;
    this.#options = options;
    this.#limits = serverLimits(options.limits);
    this.#parsingServer = this.#createParsingServer();
    const socketOptions = { allowHalfOpen: true, noDelay: true };
    this.#listeningServer = createServer(socketOptions, (socket) => this.#accept(socket));
  }

  /** Resolves to the port once the server accepts connections; port 0 takes a free one. */
  async listen(port: number, host: string): Promise<number> {
    // As many may wait to be accepted as may be open: a client whose SYN is dropped retries after 1 s.
    this.#listeningServer.listen({ port, host, backlog: this.#limits.maxConnections });
    await once(this.#listeningServer, 'listening');
    return (this.#listeningServer.address() as AddressInfo).port;
  }

  /** From now on every response closes its connection, so that clients go elsewhere. New ones are still served. */
  drain(): void {
    this.#isDraining = true;
    for (const { responses } of this.#open) responses.forEach(closeAfter);
  }

  /**
   * Stops listening, ends idle connections, and waits until every response is with the operating system. Connections
   * that are still open after `milliseconds` are cut off.
   * @returns whether every request was answered
   */
  async close(milliseconds: number): Promise<boolean> {
    const until = performance.now() + milliseconds;
    await this.#acceptWaiting(Math.min(milliseconds / 2, ACCEPTING_TIME));
    this.drain(); // not earlier: clients that it disconnects reconnect, and would be accepted
    const closed = new Promise((resolve) => this.#listeningServer.close(resolve));
    let areAllAnswered = true;
    // Repeated: a response that began before the drain leaves its connection open.
    const endingIdle = setInterval(() => {
      for (const connection of this.#open) {
        if (connection.responses.size === 0) connection.end();
      }
    }, this.#limits.stopGrace);
    const left = Math.max(0, until - performance.now());
    const deadline = setTimeout(() => {
      for (const connection of this.#open) {
        areAllAnswered &&= connection.responses.size === 0;
        connection.destroy();
      }
    }, left);
    await closed;
    clearInterval(endingIdle);
    clearTimeout(deadline);
    return areAllAnswered;
  }

  /** Accepts the backlog: to stop listening would reset its connections. */
  async #acceptWaiting(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds;
    let before: number;
    do {
      before = this.#accepted;
      await delay(QUIET_TIME);
      await nextTurn(); // the process may have paused: what waits is accepted before the next turn
    } while (this.#accepted > before && performance.now() < until);
  }

  /**
   * The server that parses. It gets its connections from the one that listens. `node:http` checks `headersTimeout` and
   * `requestTimeout` only in a server that listens, so `Connection` has timers for them.
   */
  #createParsingServer(): HttpServer {
    const { keepAliveTimeout, maxHeaderSize } = this.#limits;
    const http = createHttpServer({
      keepAliveTimeout,
      maxHeaderSize,
      IncomingMessage: JoinedRequest,
      insecureHTTPParser: false,
      requireHostHeader: false, // requestFault checks it: Node's response to that has no body
    });
    http.maxHeadersCount = 0; // no limit: Node.js would silently drop the headers above it
    const begin = (_request: IncomingMessage, response: ServerResponse): void => {
      void this.#begin(response);
    };
    http.on('request', begin);
    http.on('checkExpectation', begin);
    http.on('checkContinue', (request, response) => {
      const proceed = (): unknown => response.headersSent || response.writeContinue();
      // A listener begins to read by `resume`, as `data` and `pipe` do, or by `readable`.
      request.once('resume', proceed);
      request.on('newListener', (event) => event === 'readable' && proceed());
      begin(request, response);
    });
    http.on('clientError', (error: ParserError, socket) =>
      this.#refuseInput(parserFault(error), socket as Connection, error.rawPacket),
    );
    return http;
  }

  /** At the limit, closes another connection for a new one, or drops the new one if none may be closed. */
  #accept(socket: Socket): void {
    this.#accepted += 1;
    scheduler.noteAccepted();
    if (this.#open.size >= this.#limits.maxConnections) {
      const other = [...this.#open].find(({ isEvictable }) => isEvictable);
      if (other === undefined) {
        socket.destroy();
        return;
      }
      other.destroy();
      this.#open.delete(other);
    }
    const connection = new Connection(socket, this.#limits, () => this.#refuseLate(connection));
    this.#open.add(connection);
    connection.once('close', () => this.#open.delete(connection));
    this.#parsingServer.emit('connection', connection);
  }

  #refuseLate(connection: Connection): void {
    const [response] = connection.responses;
    if (response?.req.complete) return; // the listener is late, not the client
    const fault = new HttpError('request_timeout', 'The request did not come in time.');
    this.#refuseInput(fault, connection);
  }

  /** Answers the requests of a connection one after the other. */
  async #begin(response: ServerResponse): Promise<void> {
    const connection = connectionOf(response.req);
    const { responses } = connection;
    const previous = [...responses].at(-1);
    if (previous && responses.size >= this.#limits.maxPipelined) {
      connection.endInput();
      closeAfter(previous);
      return;
    }
    responses.add(response);
    response.once('close', () => {
      responses.delete(response);
      connection.limitRequest();
    });
    // Waits even without a previous one: then the parser has finished its input, and `complete` is right.
    await (previous && new Promise((resolve) => previous.once('close', resolve)));
    if (connection.writable) await this.#serve(response, connection);
  }

  async #serve(response: ServerResponse, connection: Connection): Promise<void> {
    const { req: request } = response;
    this.#open.delete(connection);
    this.#open.add(connection); // as the last
    const fault = requestFault(request);
    if (fault) return this.#respondInstead(response, fault);
    connection.limitRequest(request.complete ? undefined : this.#limits.requestTimeout);
    if (this.#isDraining) closeAfter(response);
    else if (!request.complete) this.#closeUnlessRead(response);
    try {
      await this.#listener(request, response);
    } catch (error) {
      this.#respondInstead(response, error);
    }
  }

  /** Lets a response close its connection, unless the listener first reads all of the body. */
  #closeUnlessRead(response: ServerResponse): void {
    closeAfter(response);
    response.req.once('end', () => {
      if (response.headersSent || this.#isDraining) return;
      if (response.getHeader('Connection') === OWN_CLOSE) response.removeHeader('Connection');
    });
  }

  /** Responds to late or malformed input, unless the listener does: it gets the fault as an error of the request. */
  #refuseInput(fault: HttpError, connection: Connection, packet?: Buffer): void {
    if (!connection.writable) return;
    connection.endInput();
    const [response] = connection.responses;
    if (response === undefined) return this.#closeWith(connection, fault, unparsedRequest(packet));
    if (response.req.complete) {
      // A later request is malformed: the response to this one comes first.
      response.once('close', () => this.#refuseInput(fault, connection, packet));
      return;
    }
    closeAfter(response);
    if (response.req.listenerCount('error') > 0) response.req.emit('error', fault);
    else if (response.headersSent) connection.end();
    else this.#respondInstead(response, fault);
  }

  /**
   * Responds in place of the listener. If its response has begun, only logs the error, and cuts off a response that is
   * not complete.
   */
  #respondInstead({ req, headersSent, writableEnded }: ServerResponse, error: unknown): void {
    const connection = connectionOf(req);
    const request = refusedRequest(req);
    if (!headersSent) return this.#closeWith(connection, error, request);
    this.#loggedResponse(connection, error, request);
    if (!writableEnded) connection.destroy();
  }

  /** Sends the response to an error, and closes the connection. */
  #closeWith(connection: Connection, error: unknown, request: RefusedRequest): void {
    if (!connection.writable) return;
    const response = this.#loggedResponse(connection, error, request);
    const headers = { ...this.#options.headers?.(request), ...response.headers };
    connection.end(lastResponse({ ...response, headers }, request.method));
  }

  /** Makes the response to an error, and logs it. */
  #loggedResponse(connection: Connection, error: unknown, request: RefusedRequest): HttpResponse {
    const response = errorResponse(error, request.id);
    logResponse(this.#options.log, request, response, {
      requestId: request.id,
      clientAddress: connection.remoteAddress,
      error,
      milliseconds: 0,
    });
    return response;
  }
}

const connectionOf = ({ socket }: IncomingMessage): Connection => socket as unknown as Connection;

/** Lets a response close its connection, unless its headers were sent. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', OWN_CLOSE);
}

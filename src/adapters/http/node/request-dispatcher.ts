import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { HttpError, errorResponse } from '../error-responses.js';
import { logResponse, type HttpLog } from '../http-log.js';
import type { HeaderFields, HttpResponse } from '../http-message.js';
import type { Connection } from './connection.js';
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
import type { ServerLimits } from './server-limits.js';

/** A request listener that may return a promise. */
export type Listener = (...exchange: Parameters<RequestListener>) => unknown;

/** How the server's own responses are logged and completed. */
export interface OwnResponseOptions {
  /** Called for every response that the server gives by itself. Omit to log nothing. */
  readonly log?: HttpLog | undefined;
  /** Returns further headers of such a response, for example those for cross-origin requests. */
  readonly headers?: ((request: RefusedRequest) => HeaderFields) | undefined;
}

/** The server's own `Connection: close`. An array, so that `===` tells it from one that the listener has set. */
const OWN_CLOSE = ['close'];

/**
 * Parses the input of connections, and hands the requests of each to the listener, one after the other. Itself answers
 * what the listener cannot: malformed and late input, and its own errors.
 */
export class RequestDispatcher {
  readonly #listener: Listener;
  readonly #limits: ServerLimits;
  readonly #options: OwnResponseOptions;
  readonly #onRequest: (connection: Connection) => void;
  readonly #parser: Server;
  #isDraining = false;

  /** @param onRequest called when a connection has a new request */
  constructor(
    listener: Listener,
    limits: ServerLimits,
    options: OwnResponseOptions,
    onRequest: (connection: Connection) => void,
  ) {
    this.#listener = listener;
    this.#limits = limits;
    this.#options = options;
    this.#onRequest = onRequest;
    this.#parser = this.#createParser();
  }

  /** Serves the requests of a new connection. */
  serve(connection: Connection): void {
    this.#parser.emit('connection', connection);
  }

  /** From now on every response closes its connection, also those in progress on `connections`. */
  drain(connections: Iterable<Connection>): void {
    this.#isDraining = true;
    for (const { responses } of connections) responses.forEach(closeAfter);
  }

  /** Refuses the request of a connection whose client has not sent all of it in time. */
  refuseLate(connection: Connection): void {
    const [response] = connection.responses;
    if (response?.req.complete) return; // the listener is late, not the client
    const fault = new HttpError('request_timeout', 'The request did not come in time.');
    this.#refuseInput(fault, connection);
  }

  /**
   * A server that does not listen. Therefore it does not check `headersTimeout` and `requestTimeout`: `Connection` has
   * timers for them.
   */
  #createParser(): Server {
    const { keepAliveTimeout, maxHeaderSize } = this.#limits;
    const parser = createServer({
      keepAliveTimeout,
      maxHeaderSize,
      IncomingMessage: JoinedRequest,
      insecureHTTPParser: false,
      requireHostHeader: false, // requestFault checks it: Node's response to that has no body
    });
    parser.maxHeadersCount = 0; // no limit: Node.js would silently drop the headers above it
    const begin = (_request: IncomingMessage, response: ServerResponse): void => {
      void this.#begin(response);
    };
    parser.on('request', begin);
    parser.on('checkExpectation', begin);
    parser.on('checkContinue', (request, response) => {
      const proceed = (): unknown => response.headersSent || response.writeContinue();
      // A listener begins to read by `resume`, as `data` and `pipe` do, or by `readable`.
      request.once('resume', proceed);
      request.on('newListener', (event) => event === 'readable' && proceed());
      begin(request, response);
    });
    parser.on('clientError', (error: ParserError, socket) =>
      this.#refuseInput(parserFault(error), socket as Connection, error.rawPacket),
    );
    return parser;
  }

  /** Waits for the earlier responses of the connection. Too many of them end its input. */
  async #begin(response: ServerResponse): Promise<void> {
    const connection = connectionOf(response.req);
    const { responses } = connection;
    const previous = [...responses].at(-1);
    if (previous && responses.size >= this.#limits.maxPipelined) {
      connection.ignoreInput();
      closeAfter(previous);
      return;
    }
    responses.add(response);
    response.once('close', () => {
      responses.delete(response);
      connection.endHeaders();
    });
    if (previous) await new Promise((resolve) => previous.once('close', resolve));
    else await Promise.resolve(); // the parser finishes its input first: then `complete` is right
    if (connection.writable) await this.#dispatch(response, connection);
  }

  async #dispatch(response: ServerResponse, connection: Connection): Promise<void> {
    const { req: request } = response;
    this.#onRequest(connection);
    const fault = requestFault(request);
    if (fault) return this.#respondInstead(response, fault);
    connection.endHeaders(request.complete ? undefined : this.#limits.requestTimeout);
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
      // Only ours: the listener may have asked for a close itself.
      if (response.getHeader('Connection') === OWN_CLOSE) response.removeHeader('Connection');
    });
  }

  /** Responds to late or malformed input. A listener that handles errors of the request gets the fault instead. */
  #refuseInput(fault: HttpError, connection: Connection, packet?: Buffer): void {
    if (!connection.writable) return;
    connection.ignoreInput();
    const [response] = connection.responses;
    if (response === undefined) return this.#sendLast(connection, fault, unparsedRequest(packet));
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
    if (!headersSent) return this.#sendLast(connection, error, request);
    this.#logError(connection, error, request);
    if (!writableEnded) connection.destroy();
  }

  /** Sends the response to an error past `node:http`, which ignores the listener's from then on, and closes. */
  #sendLast(connection: Connection, error: unknown, request: RefusedRequest): void {
    if (!connection.writable) return;
    const response = this.#logError(connection, error, request);
    const headers = { ...this.#options.headers?.(request), ...response.headers };
    connection.end(lastResponse({ ...response, headers }, request.method));
  }

  /** Logs an error. Returns the response to it. */
  #logError(connection: Connection, error: unknown, request: RefusedRequest): HttpResponse {
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

import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorResponse, type HttpError } from '../error-responses.js';
import { report, type HttpLog } from '../http-log.js';
import type { HttpRequest, HttpResponse } from '../http-message.js';
import type { AdmissionControl } from './admission-control.js';
import { FairScheduler } from './fair-scheduler.js';
import { Gate, type Gates } from './gate.js';
import { JoinedRequest } from './joined-request.js';
import {
  connectRefused,
  requestFault,
  lastResponse,
  parserFault,
  refusedRequest,
  unparsedRequest,
  type ParserError,
  type RefusedRequest,
} from './refusals.js';
import { serverLimits, type SERVER_LIMITS } from './server-limits.js';

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

/** How often a stopping server looks for idle connections, in milliseconds. */
const STOPPING_INTERVAL = 20;
/** The longest time in which a stopping server accepts waiting connections, in milliseconds. */
const ACCEPTING_TIME = 1_000;
/** If so many turns of the event loop in a row accepted nothing, no connection waits. */
const QUIET_TURNS = 300;

/**
 * A listening server for any request listener. It keeps the limits of `SERVER_LIMITS`, takes one request at a time from
 * each connection, responds in the interface's Error shape where no listener can, survives what a listener throws or
 * rejects with, and stops without losing a response. `request.socket` is a stream over the client's socket, with its
 * `remoteAddress` and `bytesRead`; `setTimeout` of it, of requests and of responses has no effect. There
 * is no TLS, no upgrade, no CONNECT and no Unix socket: put a proxy in front.
 */
export class NodeServer {
  readonly #listener: (...exchange: Parameters<RequestListener>) => unknown;
  readonly #options: NodeServerOptions;
  readonly #gates: Gates;
  readonly #http: HttpServer;
  readonly #server: Server;
  #accepted = 0;
  #checking: NodeJS.Timeout | undefined;

  /**
   * @param listener may return a promise. If it throws or rejects before it responds, the response is that of its error:
   * 500 unless it is one of the interface's
   */
  constructor(
    listener: (...exchange: Parameters<RequestListener>) => unknown,
    options: NodeServerOptions = {},
  ) {
    if (typeof listener !== 'function')
      throw new TypeError('The listener must be a function, such as `app.callback()` of Koa');
    this.#listener = listener;
    this.#options = options;
    this.#gates = {
      limits: serverLimits(options.limits),
      open: new Set(),
      admission: options.admission,
      turns: new FairScheduler(),
      refuse: (gate, error, bytes) => this.#refuse(gate, error, requestAt(gate, bytes)),
      isHeld: false,
      isDraining: false,
      stoppedAt: undefined,
    };
    this.#http = this.#createParsingServer();
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#accept(socket),
    );
  }

  /** Resolves to the port once the server accepts connections; port 0 takes a free one. */
  async listen(port: number, host: string): Promise<number> {
    const { maxConnections, connectionsCheckingInterval } = this.#gates.limits;
    // As many may wait to be accepted as may be open: a client whose SYN is dropped retries after 1 s.
    const server = this.#server.listen({ port, host, backlog: maxConnections });
    await once(server, 'listening');
    this.#checkEvery(connectionsCheckingInterval);
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on every response closes its connection, so that clients go elsewhere. New ones are still served. */
  drain(): void {
    this.#gates.isDraining = true;
    for (const gate of this.#gates.open) gate.closeAfterResponse();
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
    this.#gates.stoppedAt ??= performance.now();
    this.#checkEvery(STOPPING_INTERVAL);
    const left = Math.max(1, until - performance.now());
    let areAllAnswered = true;
    const deadline = setTimeout(() => {
      for (const gate of this.#gates.open) {
        areAllAnswered &&= gate.response === undefined;
        gate.destroy();
      }
    }, left);
    await new Promise((resolve) => this.#server.close(resolve));
    clearTimeout(deadline);
    clearInterval(this.#checking);
    return areAllAnswered;
  }

  /**
   * Accepts the connections that wait: the operating system resets them when the listening socket closes. Parses no
   * requests meanwhile: each response could bring another connection of its client.
   */
  async #acceptAll(milliseconds: number): Promise<void> {
    this.#gates.isHeld = true;
    const until = performance.now() + milliseconds;
    for (let turn = 0, quiet = 0; quiet < QUIET_TURNS; turn += 1, quiet += 1) {
      if (turn >= QUIET_TURNS && performance.now() >= until) break; // not before: the machine may have paused
      const accepted = this.#accepted;
      await nextTurn(); // Node accepts one connection a turn
      if (this.#accepted > accepted) quiet = 0;
    }
    this.#gates.isHeld = false;
    for (const gate of this.#gates.open) gate.feed();
  }

  #checkEvery(interval: number): void {
    clearInterval(this.#checking);
    this.#checking = setInterval(() => void this.#check(), interval).unref();
  }

  async #check(): Promise<void> {
    await nextTurn();
    const now = performance.now();
    await nextTurn(); // what had arrived by now at a busy server has been read: it is not late
    for (const gate of this.#gates.open) gate.check(now);
  }

  /** The server that parses. It does not listen: it gets the gates as its connections. */
  #createParsingServer(): HttpServer {
    const { maxHeaderSize, keepAliveTimeout } = this.#gates.limits;
    const { allow = 'GET, HEAD, POST, OPTIONS' } = this.#options;
    const http = createHttpServer({
      IncomingMessage: JoinedRequest,
      maxHeaderSize,
      keepAliveTimeout, // announced in responses; `Gate.check` enforces it
      insecureHTTPParser: false,
      requireHostHeader: false, // requestFault checks it: Node's response to that has no body
    });
    http.maxHeadersCount = 0; // with a limit, Node.js silently drops further headers, such as Authorization
    http.on('request', (_request, response) => void this.#begin(response, false));
    http.on('checkContinue', (_request, response) => void this.#begin(response, true));
    http.on('checkExpectation', (_request, response) => void this.#begin(response, false));
    http.on('connect', (request) => this.#refuseRequest(request, connectRefused(allow)));
    http.on('clientError', (error: ParserError, socket) => {
      if (!socket.destroyed) (socket as Gate).fail(parserFault(error), error.rawPacket);
    });
    return http;
  }

  /** At the limit, closes another connection for a new one, or drops the new one if none may be closed. */
  #accept(socket: Socket): void {
    const { limits, open, admission, turns } = this.#gates;
    this.#accepted += 1;
    admission?.accepted();
    turns.accepted();
    if (open.size >= limits.maxConnections) longestWaiting(open)?.destroy();
    if (open.size >= limits.maxConnections) socket.destroy();
    else void new Gate(socket, this.#gates, this.#http);
  }

  async #begin(response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const { req: request } = response;
    const fault = requestFault(request);
    if (fault) return this.#refuseRequest(request, fault);
    const gate = gateOf(request);
    gate.begin(response, expectsContinue);
    try {
      await this.#listener(request, response);
    } catch (error) {
      this.#rescue(gate, response, error);
    }
  }

  /** Responds for a listener that threw or rejected. If its response has begun, cuts the connection off. */
  #rescue(gate: Gate, response: ServerResponse, error: unknown): void {
    const request = refusedRequest(response.req);
    if (!response.headersSent) return this.#refuse(gate, error, request);
    this.#logResponse(gate, error, request); // too late to send it: only the log learns of the error
    if (!response.writableEnded) gate.destroy();
  }

  #refuseRequest(request: IncomingMessage, error: HttpError): void {
    this.#refuse(gateOf(request), error, refusedRequest(request));
  }

  /** Responds in place of a listener, and closes the connection. */
  #refuse(gate: Gate, error: unknown, request: RefusedRequest): void {
    if (!gate.writable) return;
    const response = this.#logResponse(gate, error, request);
    const headers = { ...this.#options.headers?.(request), ...response.headers };
    gate.close(lastResponse({ ...response, headers }, request.method));
  }

  /** Logs the response to an error in place of a listener, and returns it. */
  #logResponse({ remoteAddress }: Gate, error: unknown, request: RefusedRequest): HttpResponse {
    const response = errorResponse(error, request.id);
    const rest = { requestId: request.id, clientAddress: remoteAddress, error, milliseconds: 0 };
    report(this.#options.log, request, response, rest);
    return response;
  }
}

const gateOf = ({ socket }: IncomingMessage): Gate => socket as unknown as Gate;

/** What is known of the request at a gate: its headers, or the bytes in which a fault was found. */
const requestAt = ({ response }: Gate, bytes: Buffer | undefined): RefusedRequest =>
  response ? refusedRequest(response.req) : unparsedRequest(bytes);

/** The connection that has waited longest for its client; `undefined` if every one waits for its listener. */
function longestWaiting(open: Iterable<Gate>): Gate | undefined {
  let longest: Gate | undefined;
  let since = Infinity;
  for (const gate of open) {
    const { waitingSince = Infinity } = gate;
    if (waitingSince >= since) continue;
    longest = gate;
    since = waitingSince;
  }
  return longest;
}

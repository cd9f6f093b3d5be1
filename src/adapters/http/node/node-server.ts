import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextIteration, setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.js';
import { scheduler } from './fair-scheduler.js';
import { RequestDispatcher, type Listener, type OwnResponseOptions } from './request-dispatcher.js';
import { serverLimits, type ServerLimits } from './server-limits.js';

/** Options of a `NodeServer`. */
export interface NodeServerOptions extends OwnResponseOptions {
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits>;
}

/** A stopping server accepts connections until none has come for this long, in milliseconds. */
const QUIET_TIME = 20;
/** The longest time for that, in milliseconds. */
const ACCEPTING_TIME = 1_000;

/**
 * `node:http` with limits for any request listener. It responds with the interface's error body where no listener can,
 * survives what a listener throws or rejects with, and stops without losing a response. There is no TLS, no upgrade, no
 * CONNECT and no Unix socket: put a proxy in front.
 *
 * `docs/listener.md` lists its limits, and the attacks that measure them. Behind nginx `node:http` alone is enough.
 */
export class NodeServer {
  readonly #limits: ServerLimits;
  /** The open connections, the least recently used first. */
  readonly #open = new Set<Connection>();
  readonly #dispatcher: RequestDispatcher;
  readonly #server: Server;
  #accepted = 0;

  /**
   * @param listener if it throws or rejects before it responds, the server sends the response to that error: 500,
   * unless the error has a code of the interface
   */
  constructor(listener: Listener, { limits, ...options }: NodeServerOptions = {}) {
    this.#limits = serverLimits(limits);
    this.#dispatcher = new RequestDispatcher(listener, this.#limits, options, (connection) => {
      this.#open.delete(connection);
      this.#open.add(connection); // as the last
    });
    const socketOptions = { allowHalfOpen: true, noDelay: true };
    this.#server = createServer(socketOptions, (socket) => this.#accept(socket));
  }

  /** Resolves to the port once the server accepts connections; port 0 takes a free one. */
  async listen(port: number, host: string): Promise<number> {
    // As many may wait to be accepted as may be open: a client whose SYN is dropped retries after 1 s.
    this.#server.listen({ port, host, backlog: this.#limits.maxConnections });
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on every response closes its connection, so that clients go elsewhere. New ones are still served. */
  drain(): void {
    this.#dispatcher.drain(this.#open);
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
    const closed = new Promise((resolve) => this.#server.close(resolve));
    let areAllAnswered = true;
    // Repeated: a response that began before the drain leaves its connection open.
    const endingIdle = setInterval(() => {
      for (const connection of this.#open) {
        if (connection.isIdle) connection.end();
      }
    }, this.#limits.stopGrace);
    const left = Math.max(0, until - performance.now());
    const deadline = setTimeout(() => {
      for (const connection of this.#open) {
        areAllAnswered &&= connection.isIdle;
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
      await nextIteration(); // the process may have paused: what waits is accepted before the next one
    } while (this.#accepted > before && performance.now() < until);
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
    const connection = new Connection(socket, this.#limits, () =>
      this.#dispatcher.refuseLate(connection),
    );
    this.#open.add(connection);
    connection.once('close', () => this.#open.delete(connection));
    this.#dispatcher.serve(connection);
  }
}

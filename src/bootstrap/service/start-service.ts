import type { Container } from 'inversify';
import { setTimeout as delay } from 'node:timers/promises';
import { NodeServer } from '../../adapters/http/node/node-server.js';
import { crossOriginHeaders } from '../../adapters/http/response-headers.js';
import { DOCS_PATH } from '../../adapters/http/docs-routes.js';
import type { Readiness } from '../../adapters/http/health.js';
import { unfinishedCopy } from './errors.js';
import { resultWithin } from './time-limit.js';
import { TOKENS } from './wiring.js';
import type { Store } from '../../application/ports/store.js';

/** The running service. */
export interface Service {
  /** The address of the operations, base path included. */
  readonly url: string;
  /** The address of the docs page. */
  readonly docsUrl: string;
  /**
   * Stops in order: readiness off, every response closes its connection, no new connections, requests in flight
   * finish, store closed. Resolves to whether all of it finished in time.
   * @param drainDelay how long to accept requests, in milliseconds. Default: the setting.
   */
  stop(drainDelay?: number): Promise<boolean>;
  /** Calls `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens the store and listens. If that fails, closes what it opened. Does what the settings say, except `ADMIN_PORT`,
 * `LOG_LEVEL` and `LOG_FORMAT`: metrics and the log are the program's. Issues no API key.
 * @throws {Error} the store is a copy that has not finished; or the container has started a service before.
 */
export async function startService(container: Container): Promise<Service> {
  if (started.has(container))
    throw new Error(
      'The store closes with its service, so a container starts one service: create another',
    );
  started.add(container);
  const settings = container.get(TOKENS.settings);
  const { host, port, shutdownDeadline } = settings;
  const store = await container.getAsync(TOKENS.store);
  try {
    await requireWhole(store);
    const readiness = await container.getAsync(TOKENS.readiness);
    const log = await container.getAsync(TOKENS.httpLog);
    const admission = await container.getAsync(TOKENS.admission);
    const http = await container.getAsync(TOKENS.httpInterface);
    const listener = await container.getAsync(TOKENS.requestListener);
    const server = new NodeServer(listener, {
      log,
      admission,
      allow: http.allow,
      headers: (request) => crossOriginHeaders(settings.corsOrigins, request),
    });
    const boundPort = await server.listen(port, host);
    const origin = `http://${addressOf(host)}:${boundPort}`;
    return {
      url: origin + settings.basePath,
      docsUrl: origin + DOCS_PATH,
      async stop(drainDelay = settings.drainDelay) {
        readiness.stop();
        if (drainDelay > 0) server.drain();
        await delay(drainDelay);
        const end = performance.now() + shutdownDeadline;
        const areAnswered = await server.close(shutdownDeadline);
        const closing = store.close().then(() => true);
        const isClosed = await resultWithin(end - performance.now(), closing, false);
        return areAnswered && isClosed;
      },
      async [Symbol.asyncDispose](this: Service) {
        await this.stop();
      },
    };
  } catch (error) {
    await store.close().catch(() => {}); // the first error matters more
    throw error;
  }
}

/** Containers whose store closes, or has closed, with their service. */
const started = new WeakSet<Container>();

/** Refuses the target of a copy that has not finished. Trusts a store that cannot be asked now. */
async function requireWhole({ transfer, location }: Store): Promise<void> {
  if (transfer === undefined) return;
  // Not `AbortSignal.timeout`: its timer would go on after the answer.
  const waiting = new AbortController();
  const answer = transfer.isUnfinished({ signal: waiting.signal }).catch(() => false);
  const isUnfinished = await resultWithin(1000, answer, false);
  waiting.abort();
  if (isUnfinished) throw unfinishedCopy(location);
}

/** Whether `/readyz` responds with 200. */
export async function isReady(readiness: Readiness): Promise<boolean> {
  try {
    await readiness.check();
    return true;
  } catch {
    return false;
  }
}

/** The host in a URL that works on this machine. */
export function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

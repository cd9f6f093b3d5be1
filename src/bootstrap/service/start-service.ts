import type { Container } from 'inversify';
import { setTimeout as delay } from 'node:timers/promises';
import { crossOriginHeaders } from '../../adapters/http/cross-origin.js';
import { NodeServer } from '../../adapters/http/node/node-server.js';
import type { Store } from '../../application/ports/store.js';
import { urlHost } from './host.js';
import { TOKENS } from './tokens.js';

/** The running service. */
export interface Service {
  /** The address of the operations, base path included. */
  readonly url: string;
  /** The address of the docs page. */
  readonly docsUrl: string;
  /**
   * Stops in order: for `drainDelay`, reports not ready and closes each connection after its response; then accepts no
   * new connections, and finishes requests in flight; then closes the store. Resolves to whether all of it finished in
   * time.
   * @param drainDelay how long to keep serving, in milliseconds. Default: the setting.
   */
  stop(drainDelay?: number): Promise<boolean>;
  /** Calls `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How long a store may take to close, in milliseconds: see `Store.close`. */
const CLOSING_TIME = 5000;

/**
 * Opens the store and listens. If that fails, closes what it opened. Uses all settings except `ADMIN_PORT` and
 * `LOG_LEVEL`: `serve` adds metrics and the log. Issues no API key. A container can start only one service: its `stop`
 * closes the store.
 */
export async function startService(container: Container): Promise<Service> {
  const settings = container.get(TOKENS.settings);
  const { host, port, basePath, corsOrigins, shutdownDeadline } = settings;
  const store = await container.getAsync(TOKENS.store);
  try {
    const readiness = await container.getAsync(TOKENS.readiness);
    const listener = await container.getAsync(TOKENS.requestListener);
    const server = new NodeServer(listener, {
      log: await container.getAsync(TOKENS.httpLog),
      headers: (request) => crossOriginHeaders(corsOrigins, request),
    });
    const boundPort = await server.listen(port, host);
    const origin = `http://${urlHost(host)}:${boundPort}`;
    const stop = async (drainDelay = settings.drainDelay): Promise<boolean> => {
      readiness.stop();
      if (drainDelay > 0) {
        server.drain();
        await delay(drainDelay);
      }
      const areAllAnswered = await server.close(shutdownDeadline);
      return (await closeInTime(store)) && areAllAnswered;
    };
    return {
      url: origin + basePath,
      docsUrl: `${origin}/docs`,
      stop,
      [Symbol.asyncDispose]: async () => void (await stop()),
    };
  } catch (error) {
    await closeInTime(store); // the first error matters more
    throw error;
  }
}

/** Closes the store. Resolves to whether that succeeded in time: a store that hangs must not keep the process. */
async function closeInTime(store: Store): Promise<boolean> {
  const waiting = new AbortController();
  const closed = store.close().then(() => true);
  const late = delay(CLOSING_TIME, false, { signal: waiting.signal });
  try {
    return await Promise.race([closed, late]);
  } catch {
    return false;
  } finally {
    waiting.abort();
  }
}

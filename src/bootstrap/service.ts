import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from 'inversify';
import { DOCS_PATH } from '../adapters/http/docs-routes.js';
import { NodeServer } from '../adapters/http/node/node-server.js';
import { TOKENS } from './tokens.js';

/** The service while it runs. */
export interface Service {
  /** Where the operations are, base path included. */
  readonly url: string;
  /** Where people read what the operations are, and try them. */
  readonly docsUrl: string;
  /**
   * Stops in order: not ready, every answer closes its connection, no new connections, requests in flight
   * answered, store closed. Resolves to whether all of it was done in time.
   * @param drainDelay for how long requests are still taken, in milliseconds; as in the settings when left out
   */
  stop(drainDelay?: number): Promise<boolean>;
}

/** Opens the store and listens. What was opened is closed again if that fails. */
export async function startService(container: Container): Promise<Service> {
  const { host, port, http, shutdownDeadline, ...settings } = container.get(TOKENS.settings);
  const store = await container.getAsync(TOKENS.store);
  try {
    const readiness = await container.getAsync(TOKENS.readiness);
    const server = new NodeServer(await container.getAsync(TOKENS.requestListener), {
      log: container.get(TOKENS.httpLog),
    });
    const listening = await server.listen(port, host);
    const origin = `http://${addressOf(host)}:${listening}`;
    return {
      url: origin + http.basePath,
      docsUrl: origin + DOCS_PATH,
      async stop(drainDelay = settings.drainDelay) {
        readiness.stop();
        server.drain();
        await delay(drainDelay);
        const end = performance.now() + shutdownDeadline;
        const answered = await server.close(shutdownDeadline);
        const closed = await within(end - performance.now(), store.close());
        return answered && closed;
      },
    };
  } catch (error) {
    await store.close().catch(() => undefined); // why it failed matters more
    throw error;
  }
}

/** The host as it stands in a URL that works on this machine. */
function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

async function within(milliseconds: number, work: Promise<void>): Promise<boolean> {
  const stop = new AbortController();
  const done = work.then(() => true);
  // Referenced: when nothing else is left to wait for, the process must not end in the middle of stopping.
  const late = delay(Math.max(0, milliseconds), false, { signal: stop.signal }).catch(() => false);
  try {
    return await Promise.race([done, late]);
  } finally {
    stop.abort();
  }
}

import type { Container } from 'inversify';
import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import {
  UsageError,
  interruptible,
  type InterruptedError,
  type HostProcess,
} from './command-line.js';
import { printKey } from './keys.js';
import { configure } from '../service/container.js';
import { isUnavailable } from '../service/errors.js';
import type { Logger } from 'pino';
import { createLogger } from '../service/logger.js';
import type { AdminPort } from '../service/metrics.js';
import { changedSettings, isLoopback } from '../service/settings.js';
import { isReady, startService, type Service } from '../service/start-service.js';
import { TOKENS, type Adapter } from '../service/wiring.js';

/** Runs the service until SIGINT or SIGTERM. Resolves to the exit code: 0, or 1 if the stop cut something off. */
export async function serve(io: HostProcess, adapters: readonly Adapter[] = []): Promise<number> {
  const logging: Adapter = ({ replaceFrom }) =>
    replaceFrom(TOKENS.logger, (context) => createLogger(context.get(TOKENS.settings), io.stderr));
  const container = await configure(io.env, [logging, ...adapters]);
  const logger = await container.getAsync(TOKENS.logger);
  if (!logger) throw new TypeError('An adapter has unbound the log of the service.');
  return interruptible(io, (signal) => runUntilInterrupted({ io, container, logger, signal }));
}

/** What a service runs with. */
interface Running {
  readonly io: HostProcess;
  readonly container: Container;
  readonly logger: Logger;
  /** Aborts at SIGINT and SIGTERM, with an `InterruptedError` as the reason. */
  readonly signal: AbortSignal;
}

async function runUntilInterrupted(running: Running): Promise<number> {
  const { io, container, logger, signal } = running;
  const interrupted = logInterruption(running);
  // Before the start, which makes the parts that this decorates.
  const openAdminPort = await measureForAdminPort(container);
  const service = await Promise.race([startService(container), interrupted]);
  if (service === undefined) {
    // Interrupted first. A store that never opens would keep the process; no client was served yet.
    return io.exit(0);
  }
  let adminPort: AdminPort | undefined;
  try {
    await warnOfWeaknesses(running);
    adminPort = await openAdminPort?.();
    await ensureKeyIfReachable(running, service);
    signal.throwIfAborted();
    await logReadiness(running, service, adminPort);
  } catch (error) {
    // An interruption stops the service as usual, below.
    if (!signal.aborted) {
      await stopAll(service, adminPort, 0);
      throw error;
    }
  }
  await interrupted;
  const isInTime = await stopAll(service, adminPort);
  logger.info(isInTime ? 'stopped' : 'stopped; some requests were cut off');
  return isInTime ? 0 : 1;
}

/** Metrics can be read until the service has stopped. Resolves to whether it stopped in time. */
async function stopAll(
  service: Service,
  adminPort: AdminPort | undefined,
  drainDelay?: number,
): Promise<boolean> {
  try {
    return await service.stop(drainDelay);
  } finally {
    await adminPort?.stop();
  }
}

async function logInterruption({ signal, logger }: Running): Promise<undefined> {
  await once(signal, 'abort');
  logger.info(`stopping on ${(signal.reason as InterruptedError).signal}`);
}

/** Measures the service if `ADMIN_PORT` is set. Resolves to what opens that port. */
async function measureForAdminPort(container: Container) {
  const { adminPort } = container.get(TOKENS.settings);
  if (adminPort === undefined) return undefined;
  const { measure } = await import('../service/metrics.js');
  return measure(container, adminPort);
}

async function warnOfWeaknesses({ container, logger }: Running): Promise<void> {
  const { staticKeys } = container.get(TOKENS.settings);
  const short = staticKeys.filter((key) => key.length < 16).length;
  if (short > 0)
    logger.warn(`static API keys of fewer than 16 characters can be guessed: ${short} set`);
  const pets = await container.getAsync(TOKENS.petRepository);
  if (!pets.addOnce) logger.warn('the store keeps no idempotency keys: requests with one get 400');
}

async function logReadiness(
  { io, container, logger }: Running,
  { url, docsUrl: docs }: Service,
  adminPort: AdminPort | undefined,
): Promise<void> {
  logger.info(changedSettings(io.env));
  const { location: store } = await container.getAsync(TOKENS.store);
  const places = [`ready at ${url}`, `docs at ${docs}`, `animals in ${store}`];
  if (adminPort) places.push(`metrics at ${adminPort.url}`);
  const line = { url, docs, metrics: adminPort?.url, store };
  const message = places.join(', ');
  if (await isReady(await container.getAsync(TOKENS.readiness))) logger.info(line, message);
  else logger.warn(line, `not yet ${message}`);
}

/** As `ensureKey`. While the store is unreachable, the service runs, is not ready, and lets nobody in. */
async function ensureKeyIfReachable(running: Running, service: Service): Promise<void> {
  try {
    await ensureKey(running, service);
  } catch (error) {
    if (running.signal.aborted || !isUnavailable(error)) throw error;
    running.logger.warn('the store is unreachable: its API keys are unknown');
  }
}

/**
 * Ensures that there is a key, once the service listens: a taken port issues none. Without any, issues one, but
 * only if no other machine can reach the service, and never into the journal of systemd: elsewhere everyone who reads the
 * output would get in.
 * @throws {UsageError} there is no key and none is issued; the message says what to do.
 */
async function ensureKey(running: Running, service: Service): Promise<void> {
  if (await hasKey(running)) return;
  const { io, container, logger, signal } = running;
  const { host, storeUrl } = container.get(TOKENS.settings);
  const managed = await container.getAsync(TOKENS.managedApiKeys);
  const inJournal = isJournal(io);
  if (managed === undefined || !isLoopback(host) || inJournal) {
    const why = inJournal ? ', and a first one would stay in the journal' : '';
    const canIssue = managed !== undefined && storeUrl !== 'memory:';
    const issuing = canIssue
      ? 'issue one with the command keys issue and the same STORE_URL, or '
      : '';
    throw new UsageError(`There is no API key${why}: ${issuing}set API_KEYS.`);
  }
  const issued = await managed.issueFirst('first start', { signal });
  if (issued === undefined) return; // another service has issued it
  await printKey(io, firstKeyNotice(issued.key, service), issued.record.id, managed);
  logger.info({ event: 'api_key_issued', keyId: issued.record.id }, 'issued a first API key');
}

/** Whether there is a key, also one that is not valid any more. Warns if none is. */
async function hasKey({ container, logger, signal }: Running): Promise<boolean> {
  // An authenticator of others has credentials of its own.
  const authenticator = await container.getAsync(TOKENS.authenticator);
  if (!(authenticator instanceof ApiKeyAuthenticator)) return true;
  if (container.get(TOKENS.settings).staticKeys.length > 0) return true;
  const managed = await container.getAsync(TOKENS.managedApiKeys);
  const keys = await managed?.list({ signal });
  if (keys === undefined || keys.length === 0) return false;
  if (keys.every(({ state }) => state !== 'active'))
    logger.warn('no API key is valid: all are revoked or expired, issue one with keys issue');
  return true;
}

/** Whether standard output goes to the journal of systemd, which names it by device and inode. */
function isJournal({ env, stdout }: HostProcess): boolean {
  if (!env['JOURNAL_STREAM'] || !('fd' in stdout)) return false;
  const { dev, ino } = fstatSync(stdout.fd);
  return env['JOURNAL_STREAM'] === `${dev}:${ino}`;
}

/** What a first start prints: the key, once, and what to do next, with a command that works when pasted. */
const firstKeyNotice = (key: string, { url, docsUrl }: Service): string => `\
Your API key, shown only this once: ${key}
Paste this line to add an animal:
  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":7}'
To see it, open ${docsUrl} with this key. Ctrl-C stops the service.
`;

import { ContainerModule, type Container } from 'inversify';
import { once } from 'node:events';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import { readApiKeyId } from '../../adapters/api-keys/api-key.js';
import type { ManagedApiKeys } from '../../application/manage-api-keys.js';
import { ISSUE_COMMAND, interruptible, type InterruptedError, type Io } from './command-line.js';
import { TOKENS, configure } from '../service/container.js';
import { createLogger, deprecatedCallLogTo, httpLogTo, isUnavailable } from '../service/logger.js';
import { startService, type Service } from '../service/start-service.js';
import { isLoopback, misspelledSettings, type Settings } from '../service/settings.js';
import { add, replace } from '../service/wiring.js';

/** What the service logs. */
const logging = (io: Io): ContainerModule =>
  new ContainerModule((options) => {
    const { logger } = TOKENS;
    add(options, logger, [TOKENS.settings], (read) => createLogger(read, io.stderr));
    replace(options, TOKENS.httpLog, [logger], httpLogTo);
    replace(options, TOKENS.onDeprecatedCall, [logger, TOKENS.clock], deprecatedCallLogTo);
    replace(options, TOKENS.openOptions, [logger], (log) => ({
      onNotice: (line) => log.warn(`store: ${line}`),
    }));
  });

/** Runs the service until SIGINT or SIGTERM. Resolves to the exit code: 0, or 1 if the stop cut something off. */
export async function serve(io: Io, modules: readonly ContainerModule[] = []): Promise<number> {
  const container = await configure(io.env, [logging(io), ...modules]);
  const logger = await container.getAsync(TOKENS.logger);
  for (const line of misspelledSettings(io.env)) logger.warn(line);
  const { adminPort } = container.get(TOKENS.settings);
  return interruptible(io, async (signal) => {
    const interrupted = once(signal, 'abort').then(() => undefined);
    signal.addEventListener('abort', () => {
      logger.info(`stopping on ${(signal.reason as InterruptedError).signal}`);
    });
    const metrics =
      adminPort === undefined
        ? undefined
        : await (await import('../service/metrics.js')).serveMetrics(container, adminPort);
    try {
      const service = await Promise.race([startService(container), interrupted]);
      // A store that never opens would keep the process. No client was served yet.
      if (service === undefined) return io.exit(0);
      try {
        // Listen first, so that a taken port issues no key.
        await Promise.race([announce(container, service, io, metrics?.url), interrupted]);
      } catch (error) {
        await service.stop(0);
        throw error;
      }
      await interrupted;
      const inTime = await service.stop();
      logger.info(inTime ? 'stopped' : 'stopped; some requests were cut off');
      return inTime ? 0 : 1;
    } finally {
      await metrics?.stop();
    }
  });
}

/** Prints a first key and logs that the service is ready. */
async function announce(
  container: Container,
  { url, docsUrl }: Service,
  { stdout }: Io,
  metricsUrl: string | undefined,
): Promise<void> {
  const settings = container.get(TOKENS.settings);
  const logger = await container.getAsync(TOKENS.logger);
  const { location } = await container.getAsync(TOKENS.store);
  const short = settings.staticKeys.filter((key) => key.length < 16).length;
  if (short > 0) logger.warn(`static API keys of fewer than 16 characters can be guessed: ${short} set`);
  let hint = '';
  try {
    // An authenticator of others has credentials of its own.
    if ((await container.getAsync(TOKENS.authenticator)) instanceof ApiKeyAuthenticator) {
      const managed = await container.getAsync(TOKENS.managedApiKeys);
      const key = await firstKey(settings, managed, (message) => logger.warn(message));
      if (key !== undefined) {
        logger.info({ event: 'api_key_issued', keyId: readApiKeyId(key) }, 'issued a first API key');
        stdout.write(firstKeyNotice(key, url));
      } else if (managed && settings.storeUrl !== 'memory:') hint = `, new API key: ${ISSUE_COMMAND}`;
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    // Not ready until the store is back; until then nobody gets in.
    logger.warn('the store is away: its API keys are unknown');
  }
  const ready = `ready at ${url}, docs at ${docsUrl}, animals in ${location}${metricsUrl === undefined ? '' : `, metrics at ${metricsUrl}`}${hint}`;
  logger.info({ url, docs: docsUrl, metrics: metricsUrl, store: location }, ready);
}

/**
 * Ensures that there is a key. Without any it issues one, but only if no other machine can reach the service:
 * elsewhere everyone who reads the output would get in. Resolves to the new key.
 * @param managed `undefined` if the store keeps no keys
 * @throws {Error} there is no key and none is issued; the message says what to do.
 */
async function firstKey(
  { staticKeys, host, storeUrl }: Settings,
  managed: ManagedApiKeys | undefined,
  warn: (message: string) => void,
): Promise<string | undefined> {
  if (staticKeys.length > 0) return undefined;
  const keys = (await managed?.list()) ?? [];
  if (keys.length > 0 && keys.every(({ state }) => state !== 'active'))
    warn('every API key is expired or revoked');
  if (keys.length > 0) return undefined;
  if (managed && isLoopback(host)) return (await managed.issue({ name: 'first start' })).key;
  const issuing =
    managed && storeUrl !== 'memory:'
      ? `issue one with \`${ISSUE_COMMAND}\` and the same STORE_URL, or `
      : '';
  throw new Error(`There is no API key: ${issuing}set API_KEYS.`);
}

/** What a first start prints: the key, once, and commands that work when pasted. */
const firstKeyNotice = (key: string, url: string): string => `\
There was no API key, so the service issued one. It is shown only this once:

  ${key}

Add an animal, and list all:

  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":1}'

  curl ${url}/pets -H 'Authorization: Bearer ${key}'

`;

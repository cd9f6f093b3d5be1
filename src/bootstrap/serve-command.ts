import { ContainerModule, type Container } from 'inversify';
import { once } from 'node:events';
import { ApiKeyAuthenticator } from '../adapters/api-keys/api-key-authenticator.js';
import type { ManagedApiKeys } from '../adapters/api-keys/managed-api-keys.js';
import { ISSUE_COMMAND, interruptible, type InterruptedError, type Io } from './command-line.js';
import { TOKENS, configure, managedKeys } from './container.js';
import { createLogger, deprecatedCallLogTo, httpLogTo, isUnavailable, reasonOf } from './logger.js';
import { startService, type Service } from './service.js';
import { isLoopback, type Settings } from './settings.js';
import { add, replace } from './wiring.js';

/** What the service logs. `notices` collects what the store says. */
const logging = (io: Io, notices: string[]): ContainerModule =>
  new ContainerModule((options) => {
    const { settings, logger, clock } = TOKENS;
    add(options, logger, [settings], (read) => createLogger(read, io));
    replace(options, TOKENS.httpLog, [logger], httpLogTo);
    replace(options, TOKENS.onDeprecatedCall, [logger, clock], deprecatedCallLogTo);
    replace(options, TOKENS.openOptions, [logger], (log) => ({
      onNotice(line) {
        notices.push(line);
        log.warn(`store: ${line}`);
      },
    }));
  });

/** Runs the service until SIGINT or SIGTERM. Resolves to the exit code: 0, or 1 if the stop cut something off. */
export async function serve(io: Io, modules: readonly ContainerModule[] = []): Promise<number> {
  const notices: string[] = [];
  const container = await configure(io.env, [logging(io, notices), ...modules]);
  const logger = await container.getAsync(TOKENS.logger);
  const work = async (signal: AbortSignal): Promise<number> => {
    const interrupted = once(signal, 'abort').then(() => undefined);
    signal.addEventListener('abort', () => {
      logger.info(`stopping on ${(signal.reason as InterruptedError).signal}`);
    });
    const service = await Promise.race([startService(container), interrupted]);
    // A store that never opens would keep the process. No client was served yet.
    if (service === undefined) return io.exit(0);
    try {
      // It listens already: a port that is taken must not cost a key that nobody saw.
      await Promise.race([announce(container, service, io, notices), interrupted]);
    } catch (error) {
      await service.stop(0);
      throw error;
    }
    await interrupted;
    const inTime = await service.stop();
    logger.info(inTime ? 'stopped' : 'stopped; some requests were cut off');
    return inTime ? 0 : 1;
  };
  return interruptible(io, work, (name) => logger.warn(`ended at once by a second ${name}`));
}

/** Prints a first key and logs that the service is ready. */
async function announce(
  container: Container,
  { url, docsUrl }: Service,
  { stdout }: Io,
  notices: readonly string[],
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
      const managed = await managedKeys(container);
      const key = await firstKey(settings, managed, (message) => logger.warn(message));
      if (key !== undefined) stdout.write(firstKeyNotice(key, { url, docsUrl }));
      else if (managed && settings.storeUrl !== 'memory:') hint = `, new API key: ${ISSUE_COMMAND}`;
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    // Not ready until the store is back; until then nobody gets in.
    const isKnown = error.cause instanceof Error && notices.join().includes(error.cause.message);
    logger.warn(isKnown ? {} : { reason: reasonOf(error) }, 'the store is away: its API keys are unknown');
  }
  const ready = `ready at ${url}, docs at ${docsUrl}, animals in ${location}${hint}`;
  logger.info({ url, docs: docsUrl, store: location }, ready);
}

/**
 * Ensures that there is a key. Without any it issues one, but only if no other machine can reach the service:
 * elsewhere everyone who reads the output would get in. Resolves to the new key.
 * @param managed `undefined` if the store keeps no keys
 * @throws {Error} there is no key and none is issued; the message says what to do.
 */
export async function firstKey(
  { staticKeys, host, storeUrl }: Settings,
  managed: ManagedApiKeys | undefined,
  warn: (message: string) => void,
): Promise<string | undefined> {
  if (staticKeys.length > 0) return undefined;
  if (managed === undefined) throw new Error('There is no API key, and this store keeps none: set API_KEYS.');
  const keys = await managed.list();
  if (keys.length > 0 && keys.every(({ state }) => state !== 'active'))
    warn('every API key is expired or revoked');
  if (keys.length > 0) return undefined;
  if (isLoopback(host)) return (await managed.issue({ name: 'first start' })).key;
  if (storeUrl === 'memory:')
    throw new Error('There is no API key, and commands cannot reach a store in memory: set API_KEYS.');
  throw new Error(`There is no API key: issue one with \`${ISSUE_COMMAND}\`, or set API_KEYS.`);
}

/** What a first start prints: the key, once, and commands that work when pasted. */
export const firstKeyNotice = (key: string, { url, docsUrl }: Pick<Service, 'url' | 'docsUrl'>): string => `\
There was no API key, so the service issued one. It is shown only this once:

  ${key}

Add an animal, and list all:

  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":1}'

  curl ${url}/pets -H 'Authorization: Bearer ${key}'

Or try it in a browser: ${docsUrl}

`;

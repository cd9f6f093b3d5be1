import { ContainerModule } from 'inversify';
import type { Logger } from 'pino';
import { ApiKeyAuthenticator } from '../adapters/api-keys/api-key-authenticator.js';
import { isShortStaticKey } from '../adapters/api-keys/api-key.js';
import { isAnimalStoreError } from '../domain/errors.js';
import { createContainer } from './container.js';
import { firstKey, firstKeyNotice } from './first-start.js';
import { loadAdapters } from './load-adapters.js';
import { managedKeys } from './managed-keys.js';
import { createLogger, deprecatedCallLogTo, httpLogTo } from './logger.js';
import { provideValue } from './provide.js';
import { startService } from './service.js';
import type { Settings } from './settings.js';
import { TOKENS } from './tokens.js';

/** Runs the service until it is told to stop. Resolves to the exit code: 0, or 1 if something was cut off. */
export async function serve(settings: Settings, process: NodeJS.Process): Promise<number> {
  const adapters = await loadAdapters(settings.adapters);
  const logger = await createLogger(settings, process.stderr.isTTY);
  const logging = new ContainerModule(({ rebind }) => {
    provideValue({ bind: rebind }, TOKENS.httpLog, httpLogTo(logger));
    provideValue({ bind: rebind }, TOKENS.onDeprecatedCall, deprecatedCallLogTo(logger));
    provideValue({ bind: rebind }, TOKENS.storeNotices, (line) => logger.warn(`store: ${line}`));
  });
  const container = await createContainer(settings, [logging, ...adapters]);
  const stopSignal = firstStopSignal(process, logger);

  // It listens before it looks for a key: a port that is taken must not cost one that nobody saw.
  const service = await Promise.race([startService(container), stopSignal]);
  if (service === undefined) process.exit(0); // told to stop before it was ready: nothing was promised to anyone
  const { location } = await container.getAsync(TOKENS.store);
  try {
    // An authenticator of others has its own ways in.
    if ((await container.getAsync(TOKENS.authenticator)) instanceof ApiKeyAuthenticator) {
      const key = await firstKey(settings, await managedKeys(container), (message) => logger.warn(message));
      if (key !== undefined) process.stdout.write(firstKeyNotice(key, service));
    }
  } catch (error) {
    if (!isAnimalStoreError(error) || error.code !== 'service_unavailable') {
      await service.stop(0);
      throw error;
    }
    // It says "not ready" until the store is back; nobody gets in meanwhile.
    logger.warn({ err: error }, 'the store is away: whether it has API keys is not known');
  }
  const short = settings.staticKeys.filter(isShortStaticKey).length;
  if (short > 0) {
    const keys = short === 1 ? '1 static API key has' : `${short} static API keys have`;
    logger.warn(`${keys} fewer than 16 characters and may be guessed`);
  }
  const { url, docsUrl } = service;
  logger.info(
    { url, docs: docsUrl, store: location },
    `ready at ${url}, docs at ${docsUrl}, animals in ${location}`,
  );

  await stopSignal;
  const inTime = await service.stop();
  logger.info(inTime ? 'stopped' : 'stopped; some requests were cut off');
  return inTime ? 0 : 1;
}

/** A terminal's Ctrl-C reaches the program twice within a millisecond when it was started by npm. */
const SAME_SIGNAL = 1000;

/** Resolves at the first signal to stop. Another one, a second or more later, ends the process at once. */
function firstStopSignal(process: NodeJS.Process, logger: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      logger.info(`stopping on ${signal}`);
      resolve();
    } else if (performance.now() - firstAt >= SAME_SIGNAL) {
      logger.warn(`ended at once by a second ${signal}`);
      logger.flush();
      process.exit(1);
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return promise;
}

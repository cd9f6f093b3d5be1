import { ContainerModule, type Container } from 'inversify';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { createContainer } from '../service/container.js';
import { isUnavailable, reasonOf } from '../service/errors.js';
import { createLogger, flushed, logDestination } from '../service/logger.js';
import type { MetricsServer } from '../service/metrics.js';
import { readEnvironment, type Environment, type Settings } from '../service/settings.js';
import { startService, type Service } from '../service/start-service.js';
import { TOKENS } from '../service/tokens.js';
import { print, type CommandContext, type HostProcess } from './command-context.js';
import { ensureKey } from './first-key.js';

/**
 * Runs the service until SIGINT or SIGTERM.
 * @throws {Error} it could not start, or some requests were cut off when it stopped
 */
export async function serve(context: CommandContext, environment: Environment): Promise<void> {
  const { settings, shown } = readEnvironment(environment);
  const modules = [logging(context.io, settings), ...context.modules];
  const container = await createContainer(settings, modules);
  const logger = container.get(TOKENS.logger);
  logger.info({ settings: shown }, 'settings that differ from their defaults');
  try {
    await runService(context, container);
  } finally {
    await flushed(logger);
  }
}

async function runService(context: CommandContext, container: Container): Promise<void> {
  const { signal } = context;
  const { adminPort } = container.get(TOKENS.settings);
  const logger = container.get(TOKENS.logger);
  // Most services have no ADMIN_PORT, and then load no prom-client.
  const serveMetrics =
    adminPort === undefined
      ? undefined
      : (await import('../service/metrics.js')).measure(container);

  const interrupted = interruption(signal, logger);
  const service = await Promise.race([startService(container), interrupted]);
  // Before it listened there is nothing to stop, and the store may never open.
  if (service === 'interrupted') return;
  let metricsServer: MetricsServer | undefined;
  try {
    metricsServer = await serveMetrics?.();
    await checkAndAnnounce(context, container, service, metricsServer?.url);
  } catch (error) {
    // After a signal, the error is most likely the abort.
    if (!signal.aborted) {
      await service.stop(0);
      metricsServer?.close();
      throw error;
    }
  }
  await interrupted;
  const isInTime = await service.stop();
  metricsServer?.close();
  logger.info('stopped');
  if (!isInTime)
    throw new Error('The stop failed: the store did not close, or some requests were cut off.');
}

function logging({ stderr }: HostProcess, settings: Settings): ContainerModule {
  // A caller of `run` may give another stream.
  const stream = stderr.fd === 2 ? logDestination() : stderr;
  return new ContainerModule(({ bind }) => {
    bind(TOKENS.logger).toConstantValue(createLogger(settings, stream));
  });
}

/** Resolves, and logs why, when the signal is aborted. */
async function interruption(signal: AbortSignal, logger: Logger): Promise<'interrupted'> {
  if (!signal.aborted) await once(signal, 'abort');
  logger.info(`stopping: ${reasonOf(signal.reason)}`);
  return 'interrupted';
}

/**
 * Checks the store and the API keys, and says where the service is. While the store is unreachable, only warns.
 * @throws {UsageError} there is no API key and none may be issued
 */
async function checkAndAnnounce(
  context: CommandContext,
  container: Container,
  service: Service,
  metricsUrl: string | undefined,
): Promise<void> {
  const { io, signal } = context;
  const { url, docsUrl } = service;
  const logger = container.get(TOKENS.logger);
  const { staticKeys } = container.get(TOKENS.settings);
  const short = staticKeys.filter((key) => key.length < 16).length;
  if (short > 0)
    logger.warn(`static API keys of fewer than 16 characters can be guessed: ${short} set`);

  const store = await container.getAsync(TOKENS.store);
  const addresses = { url, docs: docsUrl, metrics: metricsUrl, store: store.location };
  try {
    await store.check({ signal }); // first: an unreachable store fails here soonest
    if ((await store.transfer?.lastId({ signal })) === 0n)
      logger.info(`the store is new: no animal was ever added to ${store.location}`);
    await ensureKey(context, container, service);
  } catch (error) {
    if (signal.aborted || !isUnavailable(error)) throw error;
    return logger.warn({ ...addresses, reason: reasonOf(error) }, `not yet ready at ${url}`);
  }
  if (io.stdout.isTTY)
    return print(io, `Ready at ${url}\n  docs  ${docsUrl}\n  store ${store.location}\n`);
  logger.info(addresses, `ready at ${url}, docs at ${docsUrl}, animals in ${store.location}`);
}

import { ContainerModule } from 'inversify';
import cluster from 'node:cluster';
import { interruptible, type Io } from './command-line.js';
import { interruption, logReady, logStopped, prepare } from './ready.js';
import { TOKENS, configure } from '../service/container.js';
import { createLogger, deprecatedCallLogTo, httpLogTo } from '../service/logger.js';
import { startService } from '../service/start-service.js';
import { misspelledSettings } from '../service/settings.js';
import { add, replace } from '../service/wiring.js';
import { WORKER } from '../service/worker-pool.js';

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

/**
 * Runs the service until SIGINT or SIGTERM, in this process or in `WORKERS`. Resolves to the exit code: 0, or 1 if the
 * stop cut something off.
 */
export async function serve(io: Io, modules: readonly ContainerModule[] = []): Promise<number> {
  if (cluster.isWorker && io.env[WORKER]) {
    const { serveAsWorker } = await import('./serve-as-worker.js');
    return serveAsWorker(io, (limiting) => configure(io.env, [logging(io), limiting, ...modules]));
  }
  const container = await configure(io.env, [logging(io), ...modules]);
  const logger = await container.getAsync(TOKENS.logger);
  for (const line of misspelledSettings(io.env)) logger.warn(line);
  const settings = container.get(TOKENS.settings);
  const { adminPort } = settings;
  if (settings.workers > 1 && cluster.isPrimary)
    return (await import('./serve-by-workers.js')).serveByWorkers(io, settings, logger);
  return interruptible(io, async (signal) => {
    const interrupted = interruption(signal, logger);
    const metrics =
      adminPort === undefined
        ? undefined
        : await (await import('../service/metrics.js')).serveMetrics(container, adminPort);
    try {
      const service = await Promise.race([startService(container), interrupted]);
      // A store that never opens would keep the process. No client was served yet.
      if (service === undefined) return io.exit(0);
      const ready = await Promise.race([prepare(container, service, io), interrupted]);
      if (ready) logReady(logger, ready, metrics?.url);
      await interrupted;
      return logStopped(logger, await service.stop());
    } finally {
      await metrics?.stop();
    }
  });
}

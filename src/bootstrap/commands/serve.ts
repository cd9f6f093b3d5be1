import { ContainerModule } from 'inversify';
import { once } from 'node:events';
import { interruptible, type InterruptedError, type HostProcess } from './command-line.js';
import { ensureKey, logReady } from './ready.js';
import { TOKENS, configure } from '../service/container.js';
import { createLogger, httpLogTo } from '../service/logger.js';
import { startService } from '../service/start-service.js';
import { add, replace } from '../service/wiring.js';

/** What the service logs. */
const logging = (io: HostProcess): ContainerModule =>
  new ContainerModule((options) => {
    const { logger } = TOKENS;
    add(options, logger, [TOKENS.settings], (read) => createLogger(read, io.stderr));
    replace(options, TOKENS.httpLog, [logger, TOKENS.clock], httpLogTo);
    replace(options, TOKENS.openOptions, [logger], (log) => ({
      onNotice: (line) => log.warn(`store: ${line}`),
    }));
  });

/** Runs the service until SIGINT or SIGTERM. Resolves to the exit code: 0, or 1 if the stop cut something off. */
export async function serve(io: HostProcess, modules: readonly ContainerModule[] = []): Promise<number> {
  const container = await configure(io.env, [logging(io), ...modules]);
  const logger = await container.getAsync(TOKENS.logger);
  const { adminPort } = container.get(TOKENS.settings);
  return interruptible(io, async (signal) => {
    const interrupted = (async () => {
      await once(signal, 'abort');
      logger.info(`stopping on ${(signal.reason as InterruptedError).signal}`);
    })();
    const metrics =
      adminPort === undefined
        ? undefined
        : await (await import('../service/metrics.js')).serveMetrics(container, adminPort);
    try {
      const service = await Promise.race([startService(container), interrupted]);
      // A store that never opens would keep the process. No client was served yet.
      if (!service) return io.exit(0);
      const ready = await ensureKey(container, service, io, signal);
      if (ready) logReady(logger, ready, metrics?.url);
      await interrupted;
      const inTime = await service.stop();
      logger.info(inTime ? 'stopped' : 'stopped; some requests were cut off');
      return inTime ? 0 : 1;
    } finally {
      await metrics?.stop();
    }
  });
}

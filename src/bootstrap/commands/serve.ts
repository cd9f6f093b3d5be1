import { ContainerModule } from 'inversify';
import { once } from 'node:events';
import { interruptible, type InterruptedError, type HostProcess } from './command-line.js';
import { ensureKey } from './first-key.js';
import { TOKENS, configure } from '../service/container.js';
import { createLogger, httpLogTo, isUnavailable } from '../service/logger.js';
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
  const { adminPort, staticKeys } = container.get(TOKENS.settings);
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
      const { url, docsUrl: docs } = service;
      const short = staticKeys.filter((key) => key.length < 16).length;
      if (short > 0) logger.warn(`static API keys of fewer than 16 characters can be guessed: ${short} set`);
      await ensureKey(container, url, io, signal).catch(async (error: unknown) => {
        if (signal.aborted) return;
        // Not ready until the store is back; until then nobody gets in.
        if (isUnavailable(error)) return logger.warn('the store is away: its API keys are unknown');
        await service.stop(0);
        throw error;
      });
      if (!signal.aborted) {
        const { location: store } = await container.getAsync(TOKENS.store);
        const ready = [`ready at ${url}`, `docs at ${docs}`, `animals in ${store}`];
        if (metrics) ready.push(`metrics at ${metrics.url}`);
        logger.info({ url, docs, metrics: metrics?.url, store }, ready.join(', '));
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

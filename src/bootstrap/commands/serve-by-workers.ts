import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import { interruptible, type Io } from './command-line.js';
import { interruption, logReady, logStopped, type Ready } from './ready.js';
import { reasonOf } from '../service/logger.js';
import { StartError, WorkerPool } from '../service/worker-pool.js';
import type { Settings } from '../service/settings.js';

/** Runs the service in worker processes until SIGINT or SIGTERM; SIGHUP replaces them. Resolves to the exit code. */
export async function serveByWorkers(io: Io, settings: Settings, logger: Logger): Promise<number> {
  const { adminPort } = settings;
  const pool = new WorkerPool(settings, io, logger);
  return interruptible(io, async (signal) => {
    const interrupted = interruption(signal, logger);
    const metrics =
      adminPort === undefined
        ? undefined
        : await (await import('../service/metrics.js')).serveSum(pool, settings.host, adminPort);
    const started = pool.start();
    let replaced: Promise<unknown> = Promise.allSettled([started]);
    const onHangUp = (): void => {
      // A terminal that closes sends it too, and ends the service.
      if (io.stderr.isTTY && !isatty(io.stderr.fd)) return void process.kill(process.pid, 'SIGTERM');
      replaced = replaced.then(() => pool.replaceAll());
    };
    io.on('SIGHUP', onHangUp);
    try {
      const ready = await Promise.race([started, interrupted]);
      // If a signal interrupts the start, the workers that are ready have requests to finish.
      if (ready !== undefined) {
        logReady(logger, ready as Ready, metrics?.url);
        await Promise.race([interrupted, pool.failed]);
      }
      return logStopped(logger, await pool.stop());
    } catch (error) {
      const exitCode = error instanceof StartError ? error.exitCode : null;
      if (exitCode === null) logger.fatal(reasonOf(error));
      await pool.stop();
      return exitCode ?? 1;
    } finally {
      io.off('SIGHUP', onHangUp);
      await metrics?.stop();
    }
  });
}

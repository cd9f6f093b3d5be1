import { ContainerModule, type Container } from 'inversify';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { interruptible, type Io } from './command-line.js';
import { prepare } from './ready.js';
import type { Quota } from '../../adapters/http/rate-limiter.js';
import { Channel } from '../service/channel.js';
import { TOKENS } from '../service/container.js';
import { startService } from '../service/start-service.js';
import { decorate, replace } from '../service/wiring.js';

/** Runs the service in a worker until SIGINT or SIGTERM, or until another worker takes its place. */
export async function serveAsWorker(
  io: Io,
  configure: (limiting: ContainerModule) => Promise<Container>,
): Promise<number> {
  // The primary counts the requests of all workers.
  const limiting = new ContainerModule((options) =>
    replace(options, TOKENS.rateLimiter, [TOKENS.settings], ({ rateLimit: limit }) => {
      return limit && { limit, take: async (keyId) => (await primary.ask('take', keyId)) as Quota };
    }),
  );
  const container = await configure(limiting);
  const isCounted = container.get(TOKENS.settings).adminPort !== undefined;
  const registry = isCounted ? (await import('../service/metrics.js')).count(container) : undefined;
  const { promise: replaced, resolve: leave } = Promise.withResolvers<void>();
  const primary = new Channel(process, { leave, metrics: () => registry?.getMetricsAsJSON() });
  // Only the first worker creates the file of a store. If it is missing later, it was moved away.
  if (cluster.worker?.id !== 1 && container.get(TOKENS.settings).storeUrl.startsWith('sqlite:'))
    decorate(container, TOKENS.openOptions, (options) => ({ ...options, mustExist: true }));
  io.on('SIGHUP', () => {}); // the primary's
  return interruptible(io, async (signal) => {
    const interrupted = once(signal, 'abort');
    const service = await startService(container);
    // The first worker of all issues the first key.
    const ready = cluster.worker?.id === 1 ? await prepare(container, service, io) : undefined;
    await primary.ask('ready', ready);
    const isReplaced = await Promise.race([interrupted.then(() => false), replaced.then(() => true)]);
    return (await service.stop(isReplaced ? 0 : undefined, isReplaced)) ? 0 : 1;
  });
}

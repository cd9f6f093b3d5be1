import type { ContainerModule } from 'inversify';
import { startService } from '../../src/bootstrap/service.js';
import { serviceSubjects } from '../contract/http/http-subjects.js';
import type { OpenHttp } from '../contract/http/http-subject.js';
import { keysOf, wire } from './wired-service.js';

/**
 * The service as it is wired, on a free port, in this process: over Koa, if the adapters bring no other
 * transport.
 */
export const koaServices = (newStore: () => string, adapters: readonly ContainerModule[] = []): OpenHttp =>
  serviceSubjects(async (situation) => {
    const { container, fault, used } = await wire(situation, newStore(), adapters);
    const service = await startService(container);
    return {
      url: service.url,
      keys: await keysOf(container),
      used,
      async stop() {
        const inTime = await service.stop(0);
        if (!inTime && fault !== 'occupied') throw new Error('the service did not stop in time');
      },
    };
  });

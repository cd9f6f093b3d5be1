import { createFetchHandler } from '../../src/adapters/http/fetch/fetch-handler.js';
import { TOKENS } from '../../src/bootstrap/tokens.js';
import { fetchSubject } from '../contract/http/http-subjects.js';
import type { OpenHttp } from '../contract/http/http-subject.js';
import { keysOf, wire } from './wired-service.js';

/** The service as it is wired, but for the transport: requests are given to the fetch handler. */
export const fetchServices =
  (newStore: () => string): OpenHttp =>
  async (situation) => {
    const { container, used } = await wire(situation, newStore());
    const http = await container.getAsync(TOKENS.httpInterface);
    return fetchSubject({
      handle: createFetchHandler(http),
      situation,
      basePath: http.settings.basePath,
      keys: await keysOf(container),
      used,
      close: async () => (await container.getAsync(TOKENS.store)).close(),
    });
  };

import { ContainerModule } from 'inversify';
import { HttpInterface } from '../../adapters/http/http-interface.js';
import { silentLog } from '../../adapters/http/http-log.js';
import { readDocsFiles } from '../../adapters/http/node/docs-files.js';
import { Readiness } from '../../adapters/http/health.js';
import { provide, provideValue } from '../provide.js';
import { TOKENS } from '../tokens.js';

/** What the service answers to HTTP, whatever carries it. */
export const httpInterface = new ContainerModule((options) => {
  provideValue(options, TOKENS.httpLog, silentLog);
  provide(
    options,
    TOKENS.readiness,
    [TOKENS.petRepository],
    (pets) => new Readiness((call) => pets.check(call)),
  );
  provide(
    options,
    TOKENS.httpInterface,
    [
      TOKENS.animalStore,
      TOKENS.authenticator,
      TOKENS.readiness,
      TOKENS.settings,
      TOKENS.httpLog,
      TOKENS.onDeprecatedCall,
    ],
    async (animalStore, authenticator, readiness, { http: settings }, log, onDeprecatedCall) =>
      new HttpInterface({
        animalStore,
        authenticator,
        readiness,
        settings,
        log,
        docs: await readDocsFiles(),
        onDeprecatedCall,
      }),
  );
});

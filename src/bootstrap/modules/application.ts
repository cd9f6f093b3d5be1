import { ContainerModule } from 'inversify';
import { createAnimalStore } from '../../application/create-animal-store.js';
import { systemClock } from '../../application/ports/clock.js';
import { every, provide, provideValue } from '../provide.js';
import { openStore } from '../open-store.js';
import { TOKENS } from '../tokens.js';

/** The use cases on the store that the settings name. */
export const application = new ContainerModule((options) => {
  provideValue(options, TOKENS.clock, systemClock);
  provideValue(options, TOKENS.storeNotices, () => {});
  provide(
    options,
    TOKENS.store,
    [TOKENS.settings, every(TOKENS.storeFactory), TOKENS.storeNotices],
    (settings, factories, tell) => openStore(settings, factories, { onNotice: tell }),
  );
  provide(options, TOKENS.petRepository, [TOKENS.store], ({ pets }) => pets);
  provide(options, TOKENS.apiKeyRepository, [TOKENS.store], ({ apiKeys }) => apiKeys);
  provideValue(options, TOKENS.onDeprecatedCall, () => {});
  provide(options, TOKENS.animalStore, [TOKENS.petRepository, TOKENS.clock], (pets, clock) =>
    createAnimalStore({ pets, clock }),
  );
});

import { ContainerModule } from 'inversify';
import { openStore } from '../open-store.js';
import { every, provide } from '../provide.js';
import type { OpenOptions } from '../../application/ports/store.js';
import { TOKENS } from '../tokens.js';

/** Opens the store otherwise than the service does, for a command: only where there is one, say. */
export const openingStore = (options: OpenOptions | undefined): ContainerModule =>
  new ContainerModule(({ rebind }) => {
    provide(
      { bind: rebind },
      TOKENS.store,
      [TOKENS.settings, every(TOKENS.storeFactory)],
      (settings, factories) => openStore(settings, factories, options),
    );
  });

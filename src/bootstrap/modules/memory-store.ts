import { ContainerModule } from 'inversify';
import { provideValue } from '../provide.js';
import { SettingsError } from '../settings.js';
import { TOKENS } from '../tokens.js';

/** `STORE_URL=memory:` */
export const memoryStore = new ContainerModule((options) => {
  provideValue(options, TOKENS.storeFactory, {
    scheme: 'memory',
    async open(url) {
      if (url !== 'memory:') throw new SettingsError(['STORE_URL must be memory: alone, for it has no name']);
      const { openMemoryStore } = await import('../../adapters/memory/open-memory-store.js');
      return openMemoryStore();
    },
  });
});

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
      const { MemoryPetRepository } = await import('../../adapters/memory/memory-pet-repository.js');
      const { MemoryApiKeyRepository } = await import('../../adapters/memory/memory-api-key-repository.js');
      const { MemoryDeprecatedCallRepository } =
        await import('../../adapters/memory/memory-deprecated-call-repository.js');
      const pets = new MemoryPetRepository();
      const apiKeys = new MemoryApiKeyRepository();
      const deprecatedCalls = new MemoryDeprecatedCallRepository();
      const close = async (): Promise<void> => {
        await pets.close();
        await apiKeys.close();
        await deprecatedCalls.close();
      };
      return { pets, apiKeys, deprecatedCalls, location: 'memory, gone when the service stops', close };
    },
  });
});

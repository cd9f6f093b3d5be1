import { ContainerModule } from 'inversify';
import { TOKENS } from '../tokens.js';
import { provideValue } from '../provide.js';

/** `STORE_URL=memory:` */
export const memoryStore = new ContainerModule((options) => {
  provideValue(options, TOKENS.storeFactory, {
    scheme: 'memory',
    async open(url) {
      if (url !== 'memory:') throw new Error('a memory store has no name: STORE_URL must be memory:');
      const { MemoryPetRepository } = await import('../../adapters/memory/memory-pet-repository.js');
      const { MemoryApiKeyRepository } = await import('../../adapters/memory/memory-api-key-repository.js');
      const pets = new MemoryPetRepository();
      const apiKeys = new MemoryApiKeyRepository();
      const close = async (): Promise<void> => {
        await pets.close();
        await apiKeys.close();
      };
      return { pets, apiKeys, location: 'memory, gone when the service stops', close };
    },
  });
});

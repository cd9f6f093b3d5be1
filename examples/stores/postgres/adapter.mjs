import { provideValue, TOKENS } from 'animal-store/bootstrap';
import { ContainerModule } from 'inversify';
import { PostgresPetRepository } from './postgres-pet-repository.mjs';

/** `ADAPTERS=./adapter.mjs STORE_URL=postgres://user@host/database` */
export const adapter = new ContainerModule((options) => {
  provideValue(options, TOKENS.storeFactory, {
    scheme: ['postgres', 'postgresql'],
    async open(url) {
      const { hostname, pathname } = new URL(url);
      const pets = new PostgresPetRepository(url);
      return { pets, location: `PostgreSQL at ${hostname}${pathname}`, close: () => pets.close() };
    },
  });
});

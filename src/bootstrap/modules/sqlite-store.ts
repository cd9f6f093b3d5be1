import { ContainerModule } from 'inversify';
import { TOKENS } from '../tokens.js';
import { provideValue } from '../provide.js';

/** `STORE_URL=sqlite:PATH`: all behind the first colon is a path, taken literally. */
export const sqliteStore = new ContainerModule((options) => {
  provideValue(options, TOKENS.storeFactory, {
    scheme: 'sqlite',
    async open(url) {
      const path = url.slice('sqlite:'.length);
      if (path === '') throw new Error('STORE_URL names no file: sqlite:data/animal-store.db would be one');
      const { openSqliteStore } = await import('../../adapters/sqlite/open-sqlite-store.js');
      const store = await openSqliteStore(path);
      return { pets: store.pets, apiKeys: store.apiKeys, location: store.file, close: () => store.close() };
    },
  });
});

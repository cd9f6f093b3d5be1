import { ContainerModule } from 'inversify';
import { provideValue } from '../provide.js';
import { SettingsError } from '../settings.js';
import { TOKENS } from '../tokens.js';

/** `STORE_URL=sqlite:PATH`: all behind the first colon is a path, taken literally. */
export const sqliteStore = new ContainerModule((options) => {
  provideValue(options, TOKENS.storeFactory, {
    scheme: 'sqlite',
    async open(url, { mustExist } = {}) {
      const path = url.slice('sqlite:'.length);
      if (path === '')
        throw new SettingsError(['STORE_URL names no file, as sqlite:data/animal-store.db does']);
      if (path === ':memory:') throw new SettingsError(['STORE_URL for a store in memory is memory:']);
      const { openSqliteStore } = await import('../../adapters/sqlite/open-sqlite-store.js');
      return openSqliteStore(path, { mustExist });
    },
  });
});

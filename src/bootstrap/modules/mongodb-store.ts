import { ContainerModule } from 'inversify';
import { SettingsError } from '../settings.js';
import { TOKENS } from '../tokens.js';
import { provideValue } from '../provide.js';

/** `STORE_URL=mongodb://...` and `mongodb+srv://...`: the whole is a MongoDB connection string. */
export const mongodbStore = new ContainerModule((options) => {
  provideValue(options, TOKENS.storeFactory, {
    scheme: ['mongodb', 'mongodb+srv'],
    async open(url, { mustExist, onNotice } = {}) {
      const { MongoUrlError, openMongoStore } = await import('../../adapters/mongodb/index.js');
      try {
        return await openMongoStore(url, { mustExist, onNotice });
      } catch (error) {
        throw error instanceof MongoUrlError ? new SettingsError([error.message]) : error;
      }
    },
  });
});

import { ContainerModule } from 'inversify';
import { TOKENS } from '../tokens.js';
import { provideValue } from '../provide.js';

/** `STORE_URL=mongodb://...` and `mongodb+srv://...`: the whole is a MongoDB connection string. */
export const mongodbStore = new ContainerModule((options) => {
  provideValue(options, TOKENS.storeFactory, {
    scheme: ['mongodb', 'mongodb+srv'],
    async open(url) {
      const { openMongoStore } = await import('../../adapters/mongodb/open-mongo-store.js');
      return openMongoStore(url);
    },
  });
});

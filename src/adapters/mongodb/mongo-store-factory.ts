import type { StoreFactory } from '../../application/ports/store.js';

/** Opens stores at `mongodb:` and `mongodb+srv:` URLs. Loads the driver when it opens the first one. */
export const mongoStoreFactory: StoreFactory = {
  scheme: ['mongodb', 'mongodb+srv'],
  open: async (url, options) =>
    (await import('./open-mongo-store.js')).openMongoStore(url, options),
};

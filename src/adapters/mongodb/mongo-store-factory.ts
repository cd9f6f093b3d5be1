import type { StoreFactory } from '../../application/ports/store.js';

/** Opens stores at `mongodb:` and `mongodb+srv:` URLs. Loads the driver when it checks or opens the first one. */
export const mongoStoreFactory: StoreFactory = {
  scheme: ['mongodb', 'mongodb+srv'],
  async check(url) {
    const { mongoUrlFault } = await import('./mongo-url.js');
    return mongoUrlFault(url);
  },
  async open(url, options) {
    const { openMongoStore } = await import('./open-mongo-store.js');
    return openMongoStore(url, options);
  },
};

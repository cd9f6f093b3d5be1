import { LevelPetRepository } from './level-pet-repository.mjs';

/** `ADAPTERS=./adapter.mjs STORE_URL=level:a-folder` */
export const adapter = ({ add, TOKENS }) => {
  add(TOKENS.storeFactory, {
    scheme: 'level',
    async open(url, { mode = 'create' } = {}) {
      const folder = url.slice('level:'.length);
      const pets = await LevelPetRepository.open(folder, { mode }).catch((error) => {
        throw new Error(`${folder} cannot be opened: ${(error.cause ?? error).message}`, {
          cause: error,
        });
      });
      return {
        pets,
        location: folder,
        check: (call) => pets.check(call),
        close: () => pets.close(),
      };
    },
  });
};

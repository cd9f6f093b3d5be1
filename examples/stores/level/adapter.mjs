import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { LevelPetRepository } from './level-pet-repository.mjs';

/** Opens the store in a folder. Rejects with one line if the folder cannot be used. */
export async function openLevelStore(folder, options) {
  const pets = await LevelPetRepository.open(folder, options).catch((error) => {
    const why = (error.cause ?? error).message;
    throw new Error(`${folder} cannot be opened: ${why}`, { cause: error });
  });
  return {
    pets,
    location: folder,
    check: (call) => pets.check(call),
    close: () => pets.close(),
  };
}

/** `ADAPTERS=./adapter.mjs STORE_URL=level:a-folder` */
export const adapter = new ContainerModule(({ bind }) => {
  bind(TOKENS.storeFactory).toConstantValue({
    scheme: 'level',
    open: (url, options) => openLevelStore(url.slice('level:'.length), options),
  });
});

// A store for check-store: that in memory. With BROKEN it trims names.
import { openMemoryStore } from 'animal-store/memory';

export async function openStore() {
  const { pets } = openMemoryStore();
  if (process.env.BROKEN) {
    const add = pets.add.bind(pets);
    pets.add = (pet, options) => add({ ...pet, name: pet.name.trim() }, options);
  }
  return { pets, dispose: () => pets.close() };
}

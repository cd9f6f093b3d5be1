import { createAnimalStore, stringify } from 'animal-store';
import { MemoryPetRepository } from 'animal-store/memory';

const store = createAnimalStore({ pets: new MemoryPetRepository() });
const { pet } = await store.createPet({ name: 'Bella', categoryId: 2n ** 63n - 1n });
console.log(stringify(await store.getPet(pet.id))); // exact: JSON.stringify refuses bigints
console.log(stringify((await store.listPets({ status: 'available' })).pets));

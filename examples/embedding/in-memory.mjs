import { createAnimalStore, stringifyJson } from 'animal-store';
import { openMemoryStore } from 'animal-store/memory';

const { pets } = openMemoryStore();
const animals = createAnimalStore({ pets });
const { pet } = await animals.createPet({ name: 'Bella', categoryId: 2n ** 63n - 1n });
console.log(stringifyJson(await animals.getPet(pet.id))); // exact; JSON.stringify refuses bigints
console.log(stringifyJson((await animals.listPets({ status: 'available' })).pets));

import type { AnimalStore } from './animal-store.js';
import { createPet } from './create-pet.js';
import { getPet } from './get-pet.js';
import { listPets } from './list-pets.js';
import { systemClock, type Clock } from './ports/clock.js';
import type { PetRepository } from './ports/pet-repository.js';

/** The driven side of an animal store. */
export interface AnimalStoreDependencies {
  /** Where animals are kept: an adapter of this package, or one of your own. */
  readonly pets: PetRepository;
  /** The machine's clock when left out. */
  readonly clock?: Clock | undefined;
}

/** The animal store on any repository. It opens nothing: whoever opened the repository closes it. */
export const createAnimalStore = ({ pets, clock = systemClock }: AnimalStoreDependencies): AnimalStore =>
  Object.freeze({
    listPets: listPets(pets),
    createPet: createPet(pets, clock),
    getPet: getPet(pets),
  });

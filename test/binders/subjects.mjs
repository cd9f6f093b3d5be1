/*
 * What every test runner binds: a sound store, one that is wrong in several ways, and the HTTP interface over a
 * socket. `npm run binders` holds what each runner reports to what runContract finds.
 */
import { createKoaApp } from 'animal-store/koa';
import { MemoryPetRepository } from 'animal-store/memory';
import { httpContract, listenerSubjects, petRepositoryContract } from 'animal-store/contract';

const LIMITS = { animals: 500, timeLimit: 5000 };

async function openSound() {
  const pets = new MemoryPetRepository();
  return { pets, dispose: () => pets.close() };
}

/** Trims names, never answers for one id, declares itself durable and cannot be opened again. */
async function openBroken() {
  const memory = new MemoryPetRepository();
  const pets = {
    capabilities: { durable: true, shared: false },
    add: (pet, options) => memory.add({ ...pet, name: pet.name.trim() }, options),
    findById: (id, call) => (id === -1n ? new Promise(() => {}) : memory.findById(id, call)),
    list: (range, call) => memory.list(range, call),
    check: (call) => memory.check(call),
    close: () => memory.close(),
  };
  return { pets, dispose: () => memory.close() };
}

/** Title, contract, open, options. */
export const BOUND = [
  ['a sound store', petRepositoryContract, openSound, LIMITS],
  ['a broken store', petRepositoryContract, openBroken, { ...LIMITS, timeLimit: 500 }],
  ['Koa', httpContract, listenerSubjects((http) => createKoaApp(http).callback()), {}],
];

/*
 * What every test runner binds: a sound store, one that is broken in several ways, and a part of the HTTP contract.
 * `npm run binders` compares each runner's report with the results of runContract.
 */
import { createKoaApp } from 'animal-store/koa';
import { openMemoryStore } from 'animal-store/memory';
import { httpContract, listenerSubjects, petRepositoryContract } from 'animal-store/contract';

const LIMITS = { animals: 500, timeLimit: 5000 };

async function openSound() {
  const store = openMemoryStore();
  return { pets: store.pets, dispose: () => store.close() };
}

/** Trims names, never resolves for one id, declares itself durable and cannot be opened again. */
async function openBroken() {
  const { pets: memory } = openMemoryStore();
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

const only = (_, topic) => topic === 'every response' || topic === 'getting an animal';

/** Title, contract, open, options. */
export const BOUND = [
  ['a sound store', petRepositoryContract, openSound, LIMITS],
  ['a broken store', petRepositoryContract, openBroken, { ...LIMITS, timeLimit: 500 }],
  ['Koa', httpContract, listenerSubjects((http) => createKoaApp(http).callback()), { only }],
];

// Reports lists that take longer than a second: an adapter that wraps any store.
//   ADAPTERS=./slow-lists.mjs npx animal-store serve
import { ContainerModule, TOKENS } from 'animal-store/bootstrap';

/** Wraps a repository. Names every method: `{ ...pets, list }` would lose those that a class defines. */
const reporting = (pets) => ({
  add: (animal, call) => pets.add(animal, call),
  addOnce: (animal, claim, now, call) => pets.addOnce(animal, claim, now, call),
  findById: (id, call) => pets.findById(id, call),
  async list(query, call) {
    const began = performance.now();
    try {
      return await pets.list(query, call);
    } finally {
      const milliseconds = Math.round(performance.now() - began);
      if (milliseconds > 1000) console.error(`A list took ${milliseconds} ms`);
    }
  },
});

export const adapter = new ContainerModule(({ onActivation }) => {
  onActivation(TOKENS.store, (_context, store) => ({
    pets: reporting(store.pets),
    changes: store.changes,
    apiKeys: store.apiKeys,
    transfer: store.transfer,
    location: store.location,
    check: (call) => store.check(call),
    close: () => store.close(),
  }));
});

// Reports lists that take longer than a second, whichever the store: a module that wraps it, loaded by a setting.
// With animal-store and inversify installed:
//   ADAPTERS=./slow-lists.mjs animal-store serve
import { TOKENS, decorate } from 'animal-store/bootstrap';
import { ContainerModule } from 'inversify';

export const adapter = new ContainerModule((options) => {
  decorate(options, TOKENS.petRepository, (pets) => ({
    add: (animal, call) => pets.add(animal, call),
    findById: (id, call) => pets.findById(id, call),
    async list(range, call) {
      const began = performance.now();
      const page = await pets.list(range, call);
      const milliseconds = Math.round(performance.now() - began);
      if (milliseconds > 1000) console.error(`A list took ${milliseconds} ms`);
      return page;
    },
  }));
});

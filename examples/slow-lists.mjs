// Reports lists that take longer than a second, whichever the store: an adapter that wraps it, loaded by a setting:
//   ADAPTERS=./slow-lists.mjs animal-store serve

export const adapter = ({ decorate, TOKENS }) => {
  decorate(TOKENS.petRepository, (pets) => ({
    add: (animal, call) => pets.add(animal, call),
    // Absent in stores that keep no idempotency keys.
    addOnce: pets.addOnce && ((...given) => pets.addOnce(...given)),
    findById: (id, call) => pets.findById(id, call),
    async list(range, call) {
      const began = performance.now();
      const page = await pets.list(range, call);
      const milliseconds = Math.round(performance.now() - began);
      if (milliseconds > 1000) console.error(`A list took ${milliseconds} ms`);
      return page;
    },
  }));
};

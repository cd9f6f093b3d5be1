import { broken, everything, type PetRepositoryBite } from './broken.js';

export const reading: readonly PetRepositoryBite[] = [
  broken(
    'goes no further than a thousand animals',
    'meets each of thousands of animals exactly once, a hundred a page, while others add',
    (pets) => ({
      async list(range, call) {
        const [first] = await pets.list({ limit: 1 });
        const page = await pets.list(range, call);
        return page.filter(({ id }) => first !== undefined && id < first.id + 1000n);
      },
    }),
  ),
  broken('lists the newest first', 'lists in ascending order of the ids', (pets) => ({
    list: async (range, call) => (await pets.list(range, call)).toReversed(),
  })),
  broken('lists in the order of the ids as texts', 'lists in ascending order of the ids', (pets) => ({
    async list({ limit, ...range }, call) {
      const all = await pets.list({ ...range, ...everything }, call);
      return all.toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1)).slice(0, limit);
    },
  })),
  broken('lists one more than the limit', 'lists the first 1 of twelve animals for a limit of 1', (pets) => ({
    list: (range, call) => pets.list({ ...range, limit: range.limit + 1 }, call),
  })),
  broken('lists no more than a hundred', 'lists 101 animals for a limit of 101', (pets) => ({
    list: (range, call) => pets.list({ ...range, limit: Math.min(100, range.limit) }, call),
  })),
  broken('ignores the filter', 'lists nothing of a status that no animal has', (pets) => ({
    list: ({ after, limit }, call) => pets.list({ after, limit }, call),
  })),
  broken(
    'filters after it limited',
    'lists only animals that are sold when asked for them, and as many as the limit says',
    (pets) => ({
      async list({ status, ...range }, call) {
        const page = await pets.list(range, call);
        return page.filter((pet) => status === undefined || pet.status === status);
      },
    }),
  ),
  broken(
    'begins at the id given instead of after it',
    'begins after the id given, whether an animal has it or not',
    (pets) => ({
      list: ({ after, ...range }, call) =>
        pets.list({ ...range, after: after === undefined ? after : after - 1n }, call),
    }),
  ),
  broken(
    'sends the id to begin after through 32 bits',
    'begins after the id given, whether an animal has it or not',
    (pets) => ({
      list: ({ after, ...range }, call) =>
        pets.list({ ...range, after: after === undefined ? after : BigInt.asIntN(32, after) }, call),
    }),
  ),
  broken(
    'looks ids up by their lower 32 bits',
    'finds each animal by its own id, and none by an id that was not given',
    (pets) => ({ findById: (id, call) => pets.findById(BigInt.asIntN(32, id), call) }),
  ),
  broken(
    'counts negative ids from the end',
    'finds no animal with the id -1, and says so without an error',
    (pets) => ({
      async findById(id, call) {
        return id < 0n ? (await pets.list(everything, call)).at(Number(id)) : pets.findById(id, call);
      },
    }),
  ),
  broken(
    'rejects when it finds nothing',
    'finds no animal with the id 9223372036854775807, and says so without an error',
    (pets) => ({
      async findById(id, call) {
        const pet = await pets.findById(id, call);
        if (pet === undefined) throw new RangeError('not found');
        return pet;
      },
    }),
  ),
  broken(
    'drops the beginning of a page while others write',
    'meets each of some hundreds of animals exactly once, page by page, while others add: all',
    (pets) => {
      let writers = 0;
      return {
        async add(pet, options) {
          writers += 1;
          await Promise.resolve();
          return pets.add(pet, options).finally(() => {
            writers -= 1;
          });
        },
        async list(range, call) {
          const page = await pets.list(range, call);
          return page.slice(Math.min(1, writers));
        },
      };
    },
  ),
];

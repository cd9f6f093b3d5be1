import { broken, type PetRepositoryBite } from './broken.js';

export const ending: readonly PetRepositoryBite[] = [
  broken('goes on after close', 'rejects with service_unavailable after close: add', () => ({
    close: async () => {},
  })),
  broken('passes its check after close', 'rejects with service_unavailable after close: check', () => ({
    check: async () => {},
  })),
  broken(
    'lets an error of its technology out',
    'rejects with service_unavailable after close: list',
    (pets) => ({
      list: (range, call) =>
        pets.list(range, call).catch((cause: unknown) => {
          throw new TypeError('connection is closed', { cause });
        }),
    }),
  ),
  broken('closes only once', 'closes twice, and twice at once', (pets) => {
    let closed = false;
    return {
      async close() {
        if (closed) throw new Error('closed already');
        closed = true;
        await pets.close();
      },
    };
  }),
  broken(
    'ignores an aborted signal when it lists',
    'rejects with the reason of a signal that is aborted already, and keeps nothing: list',
    (pets) => ({ list: (range) => pets.list(range) }),
  ),
  broken(
    'keeps the animal of an aborted add',
    'rejects with the reason of a signal that is aborted already, and keeps nothing: add',
    (pets) => ({
      async add(pet, { signal, ...options } = {}) {
        const added = await pets.add(pet, options);
        signal?.throwIfAborted();
        return added;
      },
    }),
  ),
  broken(
    'rejects with an error of its own when it is aborted',
    'rejects with the reason of a signal that is aborted already, and keeps nothing: findById',
    (pets) => ({
      async findById(id, call) {
        if (call?.signal?.aborted) throw new DOMException('aborted', 'AbortError');
        return pets.findById(id);
      },
    }),
  ),
  broken(
    'lets an error of its own out of a read that is aborted on its way',
    'answers a read that is aborted on its way, or rejects it with the reason',
    (pets) => ({
      async list(range, call) {
        await Promise.resolve();
        const { signal, ...rest } = call ?? {};
        if (signal?.aborted) throw new DOMException('aborted', 'AbortError');
        return pets.list(range, rest);
      },
    }),
  ),
  broken(
    'lets one aborted add end the others too',
    'answers an add that is aborted on its way, or rejects it with the reason, and does the others no harm',
    (pets) => {
      let aborted: AbortSignal | undefined;
      return {
        async add(pet, options) {
          aborted ??= options?.signal;
          await Promise.resolve();
          aborted?.throwIfAborted();
          return pets.add(pet, options);
        },
      };
    },
  ),
];

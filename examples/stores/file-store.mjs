// Keeps animals and claims in a file. It never removes expired claims. It takes no lock, so a service overwrites what
// `import` or `copy` writes at the same time: let `openFileStore` take one. To use it in the service, bind a
// `storeFactory` as level/adapter.mjs does.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  IdempotencyKeyReusedError,
  UnavailableError,
  isAnimalStoreError,
  parseJson,
  petWithId,
  stringifyJson,
} from 'animal-store';

export async function openFileStore(path, { mode = 'create' } = {}) {
  const isReading = mode === 'read';
  const access = isReading ? constants.O_RDONLY : constants.O_RDWR;
  const file = await open(path, access | (mode === 'create' ? constants.O_CREAT : 0));
  const folder = await open(dirname(path));
  await folder.sync(); // the name of a new file survives a power cut
  await folder.close();
  const text = await file.readFile('utf8');
  const state = { animals: new Map(), claims: new Map(), lastId: 0n, length: 0 };
  let lastWrite = Promise.resolve();
  let closing;

  const remember = (line) => {
    const { id, animal, claim } = parseJson(line); // integers are bigints again
    const pet = petWithId(id, animal);
    state.animals.set(id, pet);
    if (claim) state.claims.set(claimId(claim), { ...claim, id });
    state.lastId = id;
    state.length += Buffer.byteLength(line) + 1;
    return pet;
  };
  const lines = text.split('\n').slice(0, -1); // the last may be incomplete: it was never acknowledged
  for (const line of lines) remember(line);

  /** Rejects only with errors of the animal store and the reason of the signal. */
  const run = async (doing, { signal } = {}, work) => {
    signal?.throwIfAborted();
    if (closing) throw new UnavailableError(`${doing} after close`);
    try {
      return await work();
    } catch (cause) {
      if (isAnimalStoreError(cause) || cause === signal?.reason) throw cause;
      throw new UnavailableError(doing, { cause });
    }
  };

  /** Writes one after another, so that the second of two equal claims finds the first. */
  const write = (call, work) =>
    run('adding an animal', call, () => {
      if (isReading) throw new Error('the store is only read');
      const turn = lastWrite.then(() => {
        call?.signal?.throwIfAborted(); // it has waited for its turn
        return work();
      });
      lastWrite = turn.catch(() => {});
      return turn;
    });

  const append = async (animal, claim) => {
    state.lastId += 1n;
    const line = stringifyJson({ id: state.lastId, animal, claim }); // animal and claim in one step
    await file.truncate(state.length); // the rest of a failed write
    const bytes = Buffer.from(`${line}\n`);
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, state.length);
    if (bytesWritten < bytes.length) throw new Error('Only a part was written');
    await file.datasync();
    return remember(line);
  };

  const addOnce = async (animal, claim, now) => {
    const earlier = state.claims.get(claimId(claim));
    if (!earlier || earlier.keepUntil <= now)
      return { pet: await append(animal, claim), replayed: false };
    if (earlier.fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
    return { pet: petWithId(earlier.id, animal), replayed: true };
  };

  const listed = ({ after = 0n, limit, status }) =>
    [...state.animals.values()]
      .filter((pet) => pet.id > after && (!status || pet.status === status))
      .slice(0, limit);

  return {
    location: path,
    pets: {
      add: (animal, call) => write(call, () => append(animal)),
      addOnce: (animal, claim, now, call) => write(call, () => addOnce(animal, claim, now)),
      findById: (id, call) => run('reading an animal', call, () => state.animals.get(id)),
      list: (range, call) => run('listing animals', call, () => listed(range)),
    },
    check: (call) => run('checking the store', call, async () => void (await file.stat())),
    close: () => {
      closing ??= lastWrite.then(() => file.close());
      return closing;
    },
  };
}

const claimId = ({ scope, key }) => JSON.stringify([scope, key]);

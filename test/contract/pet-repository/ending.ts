import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import assert from 'node:assert/strict';
import type { Clauses } from '../contract.js';
import { samplePet } from '../samples.js';
import { operationClauses, type Operations } from '../store-operations.js';
import type { CompleteSubject, StoreRun } from '../store-subject.js';

export const PET_OPERATIONS: Operations<Exclude<keyof PetRepository, 'addOnce'>> = {
  add: ({ pets }, _id, call) => pets.add(samplePet(), call),
  findById: ({ pets }, id, call) => pets.findById(id, call),
  list: ({ pets }, _id, call) => pets.list({ limit: 100 }, call),
};

/** A signal, and the listeners that are on it. They are counted here: contracts import nothing of Node.js but assertions. */
function countedSignal(): {
  readonly signal: AbortSignal;
  readonly listeners: ReadonlySet<unknown>;
} {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  signal.addEventListener = (...args: Parameters<EventTarget['addEventListener']>) => {
    listeners.add(args[1]);
    EventTarget.prototype.addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<EventTarget['removeEventListener']>) => {
    listeners.delete(args[1]);
    EventTarget.prototype.removeEventListener.apply(signal, args);
  };
  return { signal, listeners };
}

export const ENDING: Clauses<StoreRun> = {
  ...operationClauses(PET_OPERATIONS),
  async 'leaves no listener on the signal of a call that is over'(subject) {
    const { signal, listeners } = countedSignal();

    for (const call of Object.values(PET_OPERATIONS))
      await call(subject as CompleteSubject, 1n, { signal });
    await new Promise((resolve) => setTimeout(resolve));

    assert.equal(listeners.size, 0, `${listeners.size} listeners are left after 3 calls`);
  },
  async 'resolves a read that is aborted in progress, or rejects it with the reason'({ pets }) {
    const pet = await pets.add(samplePet());
    for (let turns = 0; turns < 10; turns += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      const calls = [pets.findById(pet.id, { signal }), pets.list({ limit: 1 }, { signal })];
      const settled = Promise.allSettled<unknown>(calls);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      controller.abort(new Error('given up'));
      const values = [pet, [pet]];
      for (const [index, result] of (await settled).entries()) {
        if (result.status === 'fulfilled') assert.deepEqual(result.value, values[index]);
        else assert.equal(result.reason, signal.reason);
      }
    }
  },
};

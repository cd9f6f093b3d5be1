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

export const ENDING: Clauses<StoreRun> = {
  ...operationClauses(PET_OPERATIONS),
  async 'leaves no listener on the signal of a call that is over'(subject) {
    const { signal } = new AbortController();
    const listeners: unknown[] = [];
    signal.addEventListener = (
      ...[type, listener, options]: Parameters<EventTarget['addEventListener']>
    ) => {
      listeners.push(listener);
      EventTarget.prototype.addEventListener.call(signal, type, listener, options);
    };
    signal.removeEventListener = (
      ...[type, listener]: Parameters<EventTarget['removeEventListener']>
    ) => {
      if (listeners.includes(listener)) listeners.splice(listeners.indexOf(listener), 1);
      EventTarget.prototype.removeEventListener.call(signal, type, listener);
    };
    for (const call of Object.values(PET_OPERATIONS))
      await call(subject as CompleteSubject, 1n, { signal });
    await new Promise((resolve) => setTimeout(resolve));
    assert.equal(listeners.length, 0, `${listeners.length} listeners are left after 3 calls`);
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

import type { CallOptions } from '../../../src/application/animal-store.js';
import { ADDS_AT_ONCE } from '../../../src/application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../../src/domain/errors.js';
import type { Pet } from '../../../src/domain/pet.js';
import assert from 'node:assert/strict';
import type { Clauses } from '../contract.js';
import { checkOnce, outcomesOf, rejectsWithCode } from '../rejection.js';
import {
  DISTINCT_PAIRS,
  FULL_PET,
  claimed,
  claimedAt,
  instant,
  samplePet,
  times,
} from '../samples.js';
import { operationClauses, type Operations } from '../store-operations.js';
import { addOnce, byId, listAll, twoHandles, type StoreRun } from '../store-subject.js';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

const OPERATIONS: Operations<'addOnce'> = {
  addOnce: ({ pets }, _id, call) => addOnce(pets, samplePet(), claimed({ key: 'new' }), call),
};

export const CLAIMING: Clauses<StoreRun> = {
  ...operationClauses(OPERATIONS),
  async 'takes 64 adds with claims at once, and stores each under an id of its own'({ pets }) {
    const names = times(ADDS_AT_ONCE, (number) => `Pet ${number}`);
    const adding = names.map((name) => addOnce(pets, samplePet({ name }), claimed({ key: name })));
    const added = await Promise.all(adding);
    assert.deepEqual(
      added.map(({ pet: { name }, replayed }) => [name, replayed]),
      names.map((name) => [name, false]),
    );
    assert.deepEqual(await listAll(pets), added.map(({ pet }) => pet).sort(byId));
  },
  async 'stores one animal for a claim and replays it as it was created'({ pets }) {
    const created = await addOnce(pets, FULL_PET, claimed());
    assert.deepEqual(created, { pet: { id: created.pet.id, ...FULL_PET }, replayed: false });
    for (const at of [0, 1, HOUR]) {
      assert.deepEqual(await addOnce(pets, FULL_PET, claimedAt(at)), {
        pet: created.pet,
        replayed: true,
      });
    }
    assert.deepEqual(await listAll(pets), [created.pet]);
  },
  async 'refuses a claim with another fingerprint, stores nothing, and still replays the first'({
    pets,
  }) {
    const fingerprint = 'f'.repeat(64);
    const { pet } = await addOnce(pets, samplePet(), claimed({ fingerprint }));
    for (const other of [
      'another fingerprint',
      `${fingerprint.slice(1)}0`,
      fingerprint.toUpperCase(),
    ]) {
      const reused = addOnce(pets, samplePet({ name: 'Rex' }), claimed({ fingerprint: other }));
      await rejectsWithCode(reused, 'idempotency_key_reused');
    }

    assert.deepEqual(await listAll(pets), [pet]);
    const replay = await addOnce(pets, samplePet(), claimed({ fingerprint }));
    assert.deepEqual(replay, { pet, replayed: true });
  },
  async 'separates scopes and keys that are equal when joined, folded, trimmed, cut or normalised'({
    pets,
  }) {
    for (const [scope, key] of DISTINCT_PAIRS) {
      const { replayed } = await addOnce(pets, samplePet(), claimed({ scope, key }));
      assert.ok(!replayed, `${JSON.stringify([scope, key])} was mistaken for another claim`);
    }

    assert.equal((await listAll(pets)).length, DISTINCT_PAIRS.length, 'animals for as many claims');
    for (const [scope, key] of DISTINCT_PAIRS) {
      const { replayed } = await addOnce(pets, samplePet(), claimed({ scope, key }));
      assert.ok(replayed, `${JSON.stringify([scope, key])} was forgotten`);
    }
  },
  async 'stores one animal for twenty simultaneous equal claims, and reports it as new at most once'(
    subject,
  ) {
    const handles = await twoHandles(subject);

    const adding = times(10, () =>
      handles.map(({ pets }) => addOnce(pets, samplePet(), claimed())),
    );

    const pet = await checkOnce(adding.flat(), () => listAll(subject.pets));
    assert.deepEqual(await addOnce(subject.pets, samplePet(), claimed()), { pet, replayed: true });
  },
  async 'stores one animal for twenty simultaneous claims of one key with different fingerprints'({
    pets,
  }) {
    const adding = times(20, (number) => {
      const name = `Pet ${number}`;
      return addOnce(pets, samplePet({ name }), claimed({ fingerprint: name }));
    });
    const { values, errors } = await outcomesOf(adding);

    assert.equal(values.length, 1, `${values.length} of twenty calls succeeded`);
    const stored = await listAll(pets);
    const expected = stored.map((pet) => ({ pet, replayed: false }));
    assert.deepEqual(values, expected, 'what the call resolved to');
    for (const error of errors) {
      assert.ok(isAnimalStoreError(error), String(error));
      assert.match(error.code, /^idempotency_(?:conflict|key_reused)$/);
    }
  },
  async 'honours a claim until one millisecond before its keepUntil, which a replay does not prolong'({
    pets,
  }) {
    const { pet } = await addOnce(pets, samplePet(), claimed());

    const before = await addOnce(pets, samplePet(), claimedAt(DAY - 1));
    const at = await addOnce(pets, samplePet(), claimedAt(DAY));

    assert.deepEqual(before, { pet, replayed: true }, 'a millisecond before its end');
    assert.ok(!at.replayed, 'it was replayed at its end');
  },
  async 'forgets a claim at its keepUntil: a call with the same or another fingerprint creates'({
    pets,
  }) {
    for (const fingerprint of ['a fingerprint', 'another fingerprint']) {
      const first = await addOnce(pets, samplePet(), claimed({ key: fingerprint }));
      const later = claimedAt(DAY, { key: fingerprint, fingerprint });

      const second = await addOnce(pets, samplePet(), later);

      assert.ok(!second.replayed, 'it was replayed at its keepUntil');
      assert.deepEqual((await listAll(pets)).slice(-2), [first.pet, second.pet]);
      const third = await addOnce(pets, samplePet(), later);
      assert.deepEqual(third, { pet: second.pet, replayed: true });
    }
  },
  async 'stores one animal for twenty simultaneous claims of a key that has expired'(subject) {
    const handles = await twoHandles(subject);
    const { pet: first } = await addOnce(subject.pets, samplePet(), claimed());
    const adding = times(10, () =>
      handles.map(({ pets }) => addOnce(pets, samplePet(), claimedAt(DAY))),
    );
    const others = async () => (await listAll(subject.pets)).filter(({ id }) => id !== first.id);
    await checkOnce(adding.flat(), others);
  },
  async 'honours a claim until its keepUntil by `now`, whatever the clock of the machine says'({
    pets,
  }) {
    // Expired by the clock of the machine, but for less than an hour: stores may remove it after that.
    const made = -DAY - HOUR / 2;
    const { pet } = await addOnce(pets, samplePet(), claimedAt(made));
    for (const key of times(5, (number) => `other ${number}`))
      await addOnce(pets, samplePet(), claimedAt(made, { key }));
    assert.deepEqual(await addOnce(pets, samplePet(), claimedAt(made)), { pet, replayed: true });
  },
  async 'keeps a claim that was made again until the later keepUntil'({ pets }) {
    await addOnce(pets, samplePet(), claimed());
    const { pet } = await addOnce(pets, samplePet(), claimedAt(DAY));

    const before = await addOnce(pets, samplePet(), claimedAt(2 * DAY - 1));
    const at = await addOnce(pets, samplePet(), claimedAt(2 * DAY));

    assert.deepEqual(before, { pet, replayed: true }, 'a millisecond before its end');
    assert.ok(!at.replayed, 'it was replayed at its end');
  },
  async 'lets each of many claims expire at its own time, whatever the order in which they were made'({
    pets,
  }) {
    // Kept for 1 h, 24 h, 2 h, 23 h, ...: a store that sweeps in the order of making finds them mixed.
    const lifetimes = times(
      24,
      (number) => (number % 2 === 1 ? (number + 1) / 2 : 25 - number / 2) * HOUR,
    );
    const addAt = (at: number, index: number, lifetime: number) => {
      const keepUntil = instant(at + lifetime);
      return addOnce(pets, samplePet(), claimedAt(at, { key: `key ${index}`, keepUntil }));
    };
    for (const [index, lifetime] of lifetimes.entries()) await addAt(0, index, lifetime);

    const noon = 12 * HOUR;
    for (const [index, lifetime] of lifetimes.entries()) {
      const { replayed } = await addAt(noon, index, lifetime);
      assert.equal(replayed, lifetime > noon, `kept for ${lifetime} ms`);
    }
  },
  async 'keeps a claim that was made again while expired claims around it were still to be removed'({
    pets,
  }) {
    // Each expires a millisecond after the one before: a store that removes a few at a time, in any order, is late
    // for the first, the last or the one in the middle.
    const keys = times(128, (number) => `key ${number}`);
    const adding = keys.map((key, index) => {
      const keepUntil = instant(HOUR + index);
      return addOnce(pets, samplePet(), claimed({ key, keepUntil }));
    });
    await Promise.all(adding);
    const again = new Map<string, Pet>();
    for (const key of ['key 1', 'key 64', 'key 128']) {
      const { pet, replayed } = await addOnce(pets, samplePet(), claimedAt(2 * HOUR, { key }));
      assert.ok(!replayed, `${key} was replayed though it has expired`);
      again.set(key, pet);
    }
    // Each of these may remove a few.
    for (const key of keys)
      await addOnce(pets, samplePet(), claimedAt(3 * HOUR, { key: `later ${key}` }));

    for (const [key, pet] of again) {
      const replay = await addOnce(pets, samplePet(), claimedAt(4 * HOUR, { key }));
      assert.deepEqual(replay, { pet, replayed: true }, `${key} was made again, and was forgotten`);
    }
  },
  async 'settles an add that is aborted in progress, stored or not, leaves other adds alone, and keeps its claim usable'({
    pets,
  }) {
    const controller = new AbortController();
    const { signal } = controller;
    const add = (number: number, call: CallOptions) =>
      addOnce(pets, samplePet({ name: `Pet ${number}` }), claimed({ key: `key ${number}` }), call);

    const adding = times(20, (number) => add(number, number % 2 === 0 ? { signal } : {}));
    controller.abort(new Error('given up'));

    for (const [index, result] of (await Promise.allSettled(adding)).entries()) {
      // A signal of its own: stores must not take it for the aborted one.
      const again = await add(index + 1, { signal: new AbortController().signal });
      if (result.status === 'fulfilled') {
        assert.deepEqual(again, { pet: result.value.pet, replayed: true });
        continue;
      }
      assert.equal(index % 2, 1, `${String(result.reason)} reached a call that was not aborted`);
      assert.equal(result.reason, signal.reason);
      assert.equal(again.pet.name, `Pet ${index + 1}`);
    }
    assert.equal((await listAll(pets)).length, 20, 'animals for twenty claims');
  },
};

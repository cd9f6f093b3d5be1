import { isAnimalStoreError } from '../../../src/domain/errors.js';
import type { Pet } from '../../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { checkOnce, rejectsWithCode } from '../rejection.js';
import {
  DISTINCT_PAIRS,
  FULL_PET,
  claimed,
  claimedAt,
  instant,
  sampleClaim,
  samplePet,
  times,
} from '../samples.js';
import { listAll, promises, twoHandles } from '../store-subject.js';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

export const CLAIMING = promises({
  async 'stores one animal for a claim and replays it as it was created'({ pets }) {
    const created = await pets.add(FULL_PET, claimed());
    assert.deepEqual(created, { pet: { id: created.pet.id, ...FULL_PET }, replayed: false });
    for (const at of [0, 1, HOUR]) {
      assert.deepEqual(await pets.add(FULL_PET, claimedAt(at)), {
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
    const { pet } = await pets.add(samplePet(), claimed({ fingerprint }));
    for (const other of [
      'another fingerprint',
      `${fingerprint.slice(1)}0`,
      fingerprint.toUpperCase(),
    ]) {
      const reused = pets.add(samplePet({ name: 'Rex' }), claimed({ fingerprint: other }));
      await rejectsWithCode(reused, 'idempotency_key_reused');
    }
    assert.deepEqual(await listAll(pets), [pet]);
    assert.deepEqual(await pets.add(samplePet(), claimed({ fingerprint })), {
      pet,
      replayed: true,
    });
  },
  async 'separates scopes and keys that are equal when joined, folded, trimmed, cut or normalised'({
    pets,
  }) {
    for (const [scope, key] of DISTINCT_PAIRS) {
      const { replayed } = await pets.add(samplePet(), claimed({ scope, key }));
      assert.equal(
        replayed,
        false,
        `${JSON.stringify([scope, key])} was mistaken for another claim`,
      );
    }
    assert.equal((await listAll(pets)).length, DISTINCT_PAIRS.length);
    for (const [scope, key] of DISTINCT_PAIRS) {
      const { replayed } = await pets.add(samplePet(), claimed({ scope, key }));
      assert.equal(replayed, true, `${JSON.stringify([scope, key])} was forgotten`);
    }
  },
  async 'stores one animal for twenty simultaneous equal claims, and reports it as new at most once'(
    subject,
  ) {
    const handles = await twoHandles(subject);
    const adding = times(10, () => handles.map(({ pets }) => pets.add(samplePet(), claimed())));
    const pet = await checkOnce(adding.flat(), () => listAll(subject.pets));
    assert.deepEqual(await subject.pets.add(samplePet(), claimed()), { pet, replayed: true });
  },
  async 'stores one animal for twenty simultaneous claims of one key with different fingerprints'({
    pets,
  }) {
    const results = await Promise.allSettled(
      times(20, (number) =>
        pets.add(
          samplePet({ name: `Pet ${number}` }),
          claimed({ fingerprint: `fingerprint ${number}` }),
        ),
      ),
    );
    const created = results.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    assert.equal(created.length, 1);
    assert.deepEqual(
      created,
      (await listAll(pets)).map((pet) => ({ pet, replayed: false })),
    );
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      assert.ok(isAnimalStoreError(result.reason), String(result.reason));
      assert.match(result.reason.code, /^idempotency_(?:conflict|key_reused)$/);
    }
  },
  async 'honours a claim until one millisecond before its keepUntil, which a replay does not prolong'({
    pets,
  }) {
    const { pet } = await pets.add(samplePet(), claimed());
    assert.deepEqual(await pets.add(samplePet(), claimedAt(DAY - 1)), { pet, replayed: true });
    assert.equal((await pets.add(samplePet(), claimedAt(DAY))).replayed, false);
  },
  async 'forgets a claim at its keepUntil: a call with the same or another fingerprint creates'({
    pets,
  }) {
    for (const fingerprint of ['a fingerprint', 'another fingerprint']) {
      const first = await pets.add(samplePet(), claimed({ key: fingerprint }));
      const later = claimedAt(DAY, { key: fingerprint, fingerprint });
      const second = await pets.add(samplePet(), later);
      assert.equal(second.replayed, false);
      assert.deepEqual((await listAll(pets)).slice(-2), [first.pet, second.pet]);
      assert.equal((await pets.add(samplePet(), later)).replayed, true);
    }
  },
  async 'stores one animal for twenty simultaneous claims of a key that has lapsed'(subject) {
    const handles = await twoHandles(subject);
    const { pet: first } = await subject.pets.add(samplePet(), claimed());
    const adding = times(10, () =>
      handles.map(({ pets }) => pets.add(samplePet(), claimedAt(DAY))),
    );
    const others = async () => (await listAll(subject.pets)).filter(({ id }) => id !== first.id);
    await checkOnce(adding.flat(), others);
  },
  async 'honours a claim until its keepUntil by `now`, whatever the clock of the machine says'({
    pets,
  }) {
    // Lapsed by the clock of the machine, but for less than an hour: stores may remove it after that.
    const made = -DAY - HOUR / 2;
    const { pet } = await pets.add(samplePet(), claimedAt(made));
    for (const key of times(5, (number) => `other ${number}`))
      await pets.add(samplePet(), claimedAt(made, { key }));
    assert.deepEqual(await pets.add(samplePet(), claimedAt(made)), { pet, replayed: true });
  },
  async 'uses the clock of the machine when `now` is omitted'({ pets }) {
    const live = sampleClaim({ key: 'live', keepUntil: new Date(Date.now() + HOUR) });
    const lapsed = sampleClaim({ key: 'lapsed', keepUntil: new Date(Date.now() - 1) });
    for (const claim of [live, lapsed]) await pets.add(samplePet(), { claim });
    assert.equal((await pets.add(samplePet(), { claim: live })).replayed, true);
    assert.equal((await pets.add(samplePet(), { claim: lapsed })).replayed, false);
  },
  async 'keeps a claim that was made again until the later keepUntil'({ pets }) {
    await pets.add(samplePet(), claimed());
    const { pet } = await pets.add(samplePet(), claimedAt(DAY));
    assert.deepEqual(await pets.add(samplePet(), claimedAt(2 * DAY - 1)), { pet, replayed: true });
    assert.equal((await pets.add(samplePet(), claimedAt(2 * DAY))).replayed, false);
  },
  async 'lets each of many claims lapse at its own time, whatever the order in which they were made'({
    pets,
  }) {
    // Kept for 1 h, 24 h, 2 h, 23 h, ...: a store that sweeps in the order of making finds them mixed.
    const lifetimes = times(
      24,
      (number) => (number % 2 === 1 ? (number + 1) / 2 : 25 - number / 2) * HOUR,
    );
    const addAt = (at: number, index: number, lifetime: number) =>
      pets.add(
        samplePet(),
        claimedAt(at, { key: `key ${index}`, keepUntil: instant(at + lifetime) }),
      );
    for (const [index, lifetime] of lifetimes.entries()) await addAt(0, index, lifetime);

    const noon = 12 * HOUR;
    for (const [index, lifetime] of lifetimes.entries()) {
      const { replayed } = await addAt(noon, index, lifetime);
      assert.equal(replayed, lifetime > noon, `kept for ${lifetime} ms`);
    }
  },
  async 'keeps a claim that was made again while lapsed claims around it were still to be removed'({
    pets,
  }) {
    // Each lapses a millisecond after the one before: a store that removes a few at a time, in any order, is late
    // for the first, the last or the one in the middle.
    const keys = times(128, (number) => `key ${number}`);
    await Promise.all(
      keys.map((key, index) =>
        pets.add(samplePet(), claimed({ key, keepUntil: instant(HOUR + index) })),
      ),
    );
    const again = new Map<string, Pet>();
    for (const key of ['key 1', 'key 64', 'key 128']) {
      const { pet, replayed } = await pets.add(samplePet(), claimedAt(2 * HOUR, { key }));
      assert.equal(replayed, false, `${key} has lapsed`);
      again.set(key, pet);
    }
    // Each of these may remove a few.
    for (const key of keys)
      await pets.add(samplePet(), claimedAt(3 * HOUR, { key: `later ${key}` }));
    for (const [key, pet] of again) {
      const replay = await pets.add(samplePet(), claimedAt(4 * HOUR, { key }));
      assert.deepEqual(replay, { pet, replayed: true }, `${key} was made again, and was forgotten`);
    }
  },
});

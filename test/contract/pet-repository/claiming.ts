import type { Claim, PetRepository } from '../../../src/application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../../src/domain/errors.js';
import type { Pet } from '../../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { checkCode, outcomesOf, checkRejectsWithCode } from '../rejection.js';
import {
  DAY,
  DISTINCT_PAIRS,
  FULL_PET,
  HOUR,
  START,
  claimed,
  claimedAt,
  samplePet,
  times,
} from '../samples.js';
import type { StoreSubject } from '../store-cases.js';
import { listAll } from '../stored-animals.js';
import type { Cases } from '../suite.js';

const addDistinct = (pets: PetRepository) =>
  Promise.all(
    DISTINCT_PAIRS.map(([scope, key]) => pets.addOnce(samplePet(), ...claimed({ scope, key }))),
  );

/** Adding an animal once for a claim. */
export function claimingCases(cases: Cases<StoreSubject>): void {
  const test = cases('pets');

  test('stores one animal for a claim and replays it as it was created, but not for another fingerprint', async ({
    pets,
  }) => {
    const { pet, replayed } = await pets.addOnce(FULL_PET, ...claimed());
    assert.deepEqual({ pet, replayed }, { pet: { id: pet.id, ...FULL_PET }, replayed: false });
    for (const fingerprint of ['', 'another', 'A fingerprint', 'a fingerprint ']) {
      const reused = pets.addOnce(samplePet(), ...claimed({ fingerprint }));
      await checkRejectsWithCode(reused, 'idempotency_key_reused', fingerprint);
      const replay = await pets.addOnce(FULL_PET, ...claimedAt(HOUR));
      assert.deepEqual(replay, { pet, replayed: true });
      assert.ok(Object.isFrozen(replay.pet), 'the animal of a replay is not frozen');
    }
    assert.deepEqual(await listAll(pets), [pet]);
  });

  test('separates scopes and keys that are equal when joined, folded, trimmed or cut, also after reopening', async ({
    pets,
    reopen,
  }) => {
    const added = await addDistinct(pets);
    const again = await reopen();
    for (const [index, replay] of (await addDistinct(again.pets)).entries()) {
      const about = JSON.stringify(DISTINCT_PAIRS[index]);
      assert.equal(added[index]?.replayed, false, `${about} was taken for another claim`);
      assert.deepEqual(replay, { pet: added[index]?.pet, replayed: true }, about);
    }
    assert.equal((await listAll(again.pets)).length, added.length, 'animals for as many claims');
  });

  test('stores one animal for twenty simultaneous equal claims, and one more after they expire', async (subject) => {
    const { pets, another } = subject;
    const handles = [pets, (await another()).pets];
    const known: Pet[] = [];
    for (const claim of [claimed(), claimedAt(DAY)]) {
      const adding = times(10, () => handles.map((each) => each.addOnce(samplePet(), ...claim)));
      const { values, errors } = await outcomesOf(adding.flat());

      // Not the last one: two processes may assign ids from separate ranges.
      const isNew = ({ id }: Pet): boolean => !known.some((earlier) => earlier.id === id);
      const [pet, ...others] = (await listAll(pets)).filter(isNew);
      assert.ok(pet, 'no new animal is stored');
      assert.deepEqual(others, [], 'more animals than one');
      for (const value of values) assert.deepEqual(value.pet, pet, 'what a call resolved to');
      const creators = values.filter(({ replayed }) => !replayed).length;
      assert.ok(creators < 2, `${creators} callers created the animal`);
      for (const error of errors) checkCode(error, 'idempotency_conflict');
      assert.deepEqual(await pets.addOnce(samplePet(), ...claim), { pet, replayed: true });
      known.push(pet);
    }
  });

  test('stores one animal for twenty simultaneous claims with different fingerprints', async ({
    pets,
  }) => {
    const adding = times(20, (number) => {
      const name = `Pet ${number}`;
      return pets.addOnce(samplePet({ name }), ...claimed({ fingerprint: name }));
    });
    const { values, errors } = await outcomesOf(adding);

    assert.equal(values.length, 1, `${values.length} of twenty calls succeeded`);
    const expected = (await listAll(pets)).map((pet) => ({ pet, replayed: false }));
    assert.deepEqual(values, expected, 'what the call resolved to');
    for (const error of errors) {
      assert.ok(isAnimalStoreError(error), String(error));
      assert.match(error.code, /^idempotency_(?:conflict|key_reused)$/);
    }
  });

  test('keeps a claim until keepUntil, compared with `now`: replays do not extend it', async ({
    pets,
  }) => {
    const now = Date.now() - START;
    await checkExpiry(pets, now, DAY);
    await checkExpiry(pets, now, HOUR, { fingerprint: 'another' });
    // Expired half an hour ago by the machine's clock, which does not count.
    await checkExpiry(pets, now - DAY - HOUR / 2, DAY);
  });

  test('ends only the add that is aborted, and accepts a retry with its claim', async ({
    pets,
  }) => {
    const controller = new AbortController();
    const adding = times(20, async (number) => {
      const name = `Pet ${number}`;
      const add = (signal: AbortSignal | undefined) =>
        pets.addOnce(samplePet({ name }), ...claimed({ key: name }), { signal });
      const signal = number % 2 === 0 ? controller.signal : undefined;
      const [result] = await Promise.allSettled([add(signal)]);
      // A signal of its own: stores must not take it for the aborted one.
      const again = await untilNoConflict(() => add(new AbortController().signal));
      assert.equal(again.pet.name, name);
      if (result.status === 'fulfilled') {
        assert.deepEqual(again, { pet: result.value.pet, replayed: true });
        return;
      }
      assert.ok(signal, `${String(result.reason)} reached a call that was not aborted`);
      assert.equal(result.reason, signal.reason);
    });
    controller.abort(new Error('given up'));

    await Promise.all(adding);
    assert.equal((await listAll(pets)).length, 20, 'animals for twenty claims');
  });
}

/** Repeats a call while an earlier one for its claim, which may have been aborted, is still in progress. */
async function untilNoConflict<Result>(call: () => Promise<Result>): Promise<Result> {
  for (; ; await delay(10))
    try {
      return await call();
    } catch (error) {
      checkCode(error, 'idempotency_conflict');
    }
}

/** Makes a claim three times, each time when the one before has expired. Replays each just before that. */
async function checkExpiry(
  pets: PetRepository,
  start: number,
  lifetime: number,
  secondClaim: Partial<Claim> = {},
): Promise<void> {
  const key = JSON.stringify([start, lifetime]);
  const created: Pet[] = [];
  for (const [turn, fields] of [{}, secondClaim, {}].entries()) {
    const add = (at: number) =>
      pets.addOnce(samplePet(), ...claimedAt(at, { key, ...fields }, lifetime));
    const at = start + turn * lifetime;
    const { pet, replayed } = await add(at);
    assert.ok(!replayed, 'replayed after it expired');
    const replay = await add(at + lifetime - 1);
    assert.deepEqual(replay, { pet, replayed: true }, 'just before it expires');
    created.push(pet);
  }
  assert.deepEqual((await listAll(pets)).slice(-3), created, 'what is stored');
}

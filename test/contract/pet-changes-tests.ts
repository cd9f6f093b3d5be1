import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import type { StatusConflictError } from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import { petWithId, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import type { PetStatus } from '../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { checkCode, outcomesOf, rejectionOf, checkRejectsWithCode } from './rejection.js';
import { DAY, FULL_PET, claimed, claimedAt, samplePet, samplePets, times } from './samples.js';
import { checkAborts } from './store-operations.js';
import { storeCases } from './store-cases.js';
import type { PortSuite } from './store-suite.js';
import { addAll, checkReads, listAll } from './stored-animals.js';

/** No condition on the status. */
const ANY = undefined;

/** Each differs from `FULL_PET` and from the one before. Some names mean something in the language of a database. */
const CHANGES: ReadonlyArray<Partial<UnsavedPet>> = [
  { name: '$status' },
  { categoryId: INT64_MIN },
  { status: 'sold' },
  { name: "Robert'); DROP TABLE pets; --", categoryId: INT64_MAX },
  { name: ' \u{1f415}\u0301 ', categoryId: 0n, status: 'available' },
];

const withChange = (pet: Pet, change: Partial<UnsavedPet>): Pet =>
  petWithId(pet.id, { ...pet, ...change });

/** Checks that an error says that the animal has another status. */
function checkConflict(error: unknown, status: PetStatus): void {
  const conflict = checkCode(error, 'status_conflict') as StatusConflictError;
  assert.equal(conflict.status, status, 'the status that the error names');
}

/** The clauses of `PetChanges`. `open` resolves to a store, or to `{ pets, changes }`. */
export function petChangesTests(suite: PortSuite): void {
  const test = storeCases(suite)('pets', 'changes');

  suite.describe('PetChanges', () => {
    test('changes the given fields of one animal alone, for every handle, also after reopening', async (subject) => {
      const other = await subject.another();
      const stored = await addAll(subject.pets, samplePets(3, FULL_PET));
      let [, expected] = stored;
      assert.ok(expected);
      for (const change of CHANGES) {
        expected = withChange(expected, change);
        for (const time of ['first', 'second']) {
          const changed = await subject.changes.change(expected.id, change, ANY);
          assert.deepEqual(changed, expected, `the ${time} change`);
          assert.ok(Object.isFrozen(changed), 'the changed animal is not frozen');
        }
        await checkReads(subject.pets, stored.with(1, expected));
        await checkReads(other.pets, stored.with(1, expected));
      }
      const again = await subject.reopen();
      await checkReads(again.pets, stored.with(1, expected));
    });

    test('with `from`, changes and removes only an animal with that status; the error names the actual one', async ({
      pets,
      changes,
    }) => {
      const pet = await pets.add(samplePet({ status: 'pending' }));
      const sell = (from: PetStatus) => changes.change(pet.id, { status: 'sold' }, from);
      for (const from of ['available', 'sold'] as const) {
        checkConflict(await rejectionOf(sell(from)), 'pending');
        checkConflict(await rejectionOf(changes.remove(pet.id, from)), 'pending');
      }
      await checkReads(pets, [pet]);

      assert.equal((await sell('pending'))?.status, 'sold');
      assert.equal(await changes.remove(pet.id, 'sold'), true, 'whether it was removed');
    });

    test('removes an animal once, for every handle, and never reuses its id, also after reopening', async (subject) => {
      const other = await subject.another();
      const stored = await addAll(subject.pets, samplePets(3));
      const removed = stored.slice(1);
      const [kept = 0n, , last = 0n] = stored.map(({ id }) => id);
      for (const { id } of removed) assert.equal(await subject.changes.remove(id, ANY), true);
      const absent = [...removed.map(({ id }) => id), 0n, -last, last + 1n, kept + 2n ** 32n];
      for (const { changes } of [subject, other])
        for (const id of [...absent, INT64_MAX, INT64_MIN]) {
          assert.equal(await changes.remove(id, ANY), false, `removed ${id}`);
          assert.equal(await changes.change(id, { status: 'sold' }, ANY), undefined, `${id}`);
        }
      await checkReads(subject.pets, stored.slice(0, 1), removed);
      await checkReads(other.pets, stored.slice(0, 1), removed);
      const first = await subject.pets.add(samplePet());
      await subject.changes.remove(first.id, ANY);

      const again = await subject.reopen();

      const second = await again.pets.add(samplePet());
      assert.ok(last < first.id && first.id < second.id, `${first.id}, ${second.id} after ${last}`);
      await checkReads(again.pets, stored.toSpliced(1, 2, second), [...removed, first]);
    });

    test('rejects aborted calls with the reason, changes nothing, and leaves no listener', (subject) =>
      checkAborts(subject, 'changes'));

    test('replays a create after the animal was changed or removed, also after reopening', async (subject) => {
      const { pets, changes } = subject;
      const { pet } = await pets.addOnce(FULL_PET, ...claimed());
      const checkReplay = async (handle: PetRepository, ...stored: Pet[]): Promise<void> => {
        const replay = await handle.addOnce(FULL_PET, ...claimed());
        assert.deepEqual(replay, { pet, replayed: true });
        assert.deepEqual(await listAll(handle), stored);
      };
      await changes.change(pet.id, { status: 'sold' }, ANY);
      await checkReplay(pets, withChange(pet, { status: 'sold' }));
      const retries = times(10, () => pets.addOnce(FULL_PET, ...claimed()));
      const [replays] = await Promise.all([Promise.all(retries), changes.remove(pet.id, ANY)]);
      for (const replay of replays) assert.deepEqual(replay, { pet, replayed: true });
      await checkReplay(pets);
      const { pets: again } = await subject.reopen();
      await checkReplay(again);
      const reused = again.addOnce(samplePet(), ...claimed({ fingerprint: 'another' }));
      await checkRejectsWithCode(reused, 'idempotency_key_reused');

      const later = await again.addOnce(FULL_PET, ...claimedAt(DAY));
      assert.equal(later.replayed, false, 'whether it is a replay once the claim has expired');
      assert.deepEqual(await listAll(again), [later.pet]);
    });

    test('lets exactly one of forty simultaneous changes from one status succeed', async (subject) => {
      const pet = await subject.pets.add(samplePet());
      const handles = [subject, await subject.another()];
      const selling = times(20, () =>
        handles.map(({ changes }) => changes.change(pet.id, { status: 'sold' }, 'available')),
      );

      const { values, errors } = await outcomesOf(selling.flat());

      assert.deepEqual(values, [{ ...pet, status: 'sold' }], 'what the calls resolved to');
      for (const error of errors) checkConflict(error, 'sold');
    });

    test('keeps simultaneous changes of different fields, and removes an animal once beside them', async (subject) => {
      const { pets, changes } = subject;
      const other = await subject.another();
      const stored = await addAll(pets, samplePets(20));
      const removed = stored.slice(0, 10);

      const changing = stored.flatMap(({ id }) => [
        changes.change(id, { name: 'Renamed' }, ANY),
        other.changes.change(id, { categoryId: -7n }, ANY),
        changes.change(id, { status: 'sold' }, ANY),
      ]);
      const removing = removed.flatMap(({ id }) => [
        changes.remove(id, ANY),
        other.changes.remove(id, ANY),
      ]);
      const [removals] = await Promise.all([Promise.all(removing), ...changing]);

      assert.equal(removals.filter(Boolean).length, 10, 'callers who removed an animal');
      const change = { name: 'Renamed', categoryId: -7n, status: 'sold' } as const;
      const kept = stored.slice(10).map((pet) => withChange(pet, change));
      await checkReads(pets, kept, removed);
    });
  });
}

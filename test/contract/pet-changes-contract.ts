import type { PetChanges } from '../../src/application/ports/pet-changes.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import type { StatusConflictError } from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import { petWithId, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, type Clauses, type Contract } from './contract.js';
import { checkCode, outcomesOf, rejectionOf, rejectsWithCode } from './rejection.js';
import {
  FULL_PET,
  claimed,
  claimedAt,
  sampleClaim,
  samplePet,
  samplePets,
  times,
} from './samples.js';
import { lacksOf, portCases, type Operations } from './store-operations.js';
import {
  addAll,
  anotherHandle,
  besideReads,
  addClaimed,
  addOnce,
  listAll,
  reopened,
  required,
  twoHandles,
  PARTS,
  type PortRun,
  type StoreSubject,
} from './store-subject.js';

/** The condition that every animal meets. */
const ANY_STATUS = PET_STATUSES;

const PORT = 'the port changes of a handle';

/** Checks that an error says that the animal has another status. */
function checkConflict(error: unknown, status: PetStatus): void {
  const conflict = checkCode(error, 'status_conflict') as StatusConflictError;
  assert.equal(conflict.status, status, `the error names the status ${String(conflict.status)}`);
}

const rejectsWithConflict = async (call: Promise<unknown>, status: PetStatus): Promise<void> =>
  checkConflict(await rejectionOf(call), status);

/** Checks every way of reading. */
async function checkReads(
  pets: PetRepository,
  stored: readonly Pet[],
  removed: readonly Pet[] = [],
): Promise<void> {
  assert.deepEqual(await listAll(pets), stored);
  for (const status of PET_STATUSES) {
    const listed = await pets.list({ limit: 1000, status });
    const expected = stored.filter((pet) => pet.status === status);
    assert.deepEqual(listed, expected, `the list of what is ${status}`);
  }
  for (const pet of stored) assert.deepEqual(await pets.findById(pet.id), pet);
  for (const { id } of removed)
    assert.equal(await pets.findById(id), undefined, `the animal ${id} was removed`);
}

/** Each differs from `FULL_PET` and from the one before. Some names mean something in the language of a database. */
const CHANGES: ReadonlyArray<Partial<UnsavedPet>> = [
  { name: '$status' },
  { categoryId: INT64_MIN },
  { status: 'sold' },
  { name: "Robert'); DROP TABLE pets; --", categoryId: INT64_MAX },
  { name: ' \u{1f415}\u0301 ', categoryId: 0n, status: 'available' },
];

const withChange = (pet: Pet, change: Partial<UnsavedPet>): Pet =>
  petWithId(pet.id, Object.assign({ ...pet }, change));

const CHANGING: Clauses<PortRun> = {
  async 'changes the given fields of one animal, and nothing else'({ changes, pets }) {
    const stored = await addAll(pets, samplePets(3, FULL_PET));
    let expected = required(stored[1], 'the second animal');
    for (const change of CHANGES) {
      expected = withChange(expected, change);

      const changed = await changes.change(expected.id, change, ANY_STATUS);

      assert.deepEqual(changed, expected, `after ${Object.keys(change).join(', ')}`);
      await checkReads(pets, stored.with(1, expected));
    }
  },
  async 'changes and removes an animal only while every field is as it was read'({
    changes,
    pets,
  }) {
    for (const change of CHANGES) {
      const pet = await pets.add(FULL_PET);
      const changed = required(await changes.change(pet.id, change, pet), 'the changed animal');

      const again = changes.change(pet.id, { categoryId: 5n }, pet);
      await rejectsWithCode(again, 'precondition_failed');
      await rejectsWithCode(changes.remove(pet.id, pet), 'precondition_failed');

      assert.deepEqual(await pets.findById(pet.id), changed);
      assert.equal(await changes.remove(pet.id, changed), true);
      assert.equal(await changes.change(pet.id, change, changed), undefined);
    }
    await checkReads(pets, []);
  },
  async 'changes any status to any, also to the same'({ changes, pets }) {
    for (const from of PET_STATUSES)
      for (const to of PET_STATUSES) {
        const pet = await pets.add(samplePet({ status: from }));
        const changed = { ...pet, status: to };
        for (const time of ['first', 'second'])
          assert.deepEqual(await changes.change(pet.id, { status: to }, ANY_STATUS), changed, time);
        assert.deepEqual(await pets.findById(pet.id), changed);
      }
  },
  async 'changes only from one of the statuses, and else names the one it is'({ changes, pets }) {
    const pet = await pets.add(samplePet({ status: 'pending' }));
    const sell = (...from: PetStatus[]) => changes.change(pet.id, { status: 'sold' }, from);

    await rejectsWithConflict(sell('available'), 'pending');
    await rejectsWithConflict(sell('available', 'sold'), 'pending');
    await rejectsWithConflict(sell(), 'pending');
    await rejectsWithConflict(changes.remove(pet.id, ['available', 'sold']), 'pending');
    await checkReads(pets, [pet]);

    assert.equal((await sell('available', 'pending'))?.status, 'sold');
    assert.equal(await changes.remove(pet.id, ['sold']), true, 'whether it was removed');
  },
  async 'shows a change to the next read, even one that saw the animal just before'({
    changes,
    pets,
  }) {
    const pet = await pets.add(samplePet());
    for (const status of ['pending', 'sold', 'available'] as const) {
      await changes.change(pet.id, { status }, ANY_STATUS);
      await checkReads(pets, [{ ...pet, status }]);
    }
  },
  async 'returns frozen animals'({ changes, pets }) {
    const pet = await pets.add(samplePet());
    const changed = await changes.change(pet.id, { status: 'sold' }, ANY_STATUS);
    assert.ok(Object.isFrozen(changed), 'the changed animal is not frozen');
  },
};

const REMOVING: Clauses<PortRun> = {
  async 'removes one animal, once'({ changes, pets }) {
    const stored = await addAll(pets, [samplePet(), samplePet(), samplePet({ status: 'sold' })]);
    const removed = required(stored[1], 'the second animal');

    assert.equal(await changes.remove(removed.id, ANY_STATUS), true, 'the first removal');
    await checkReads(pets, stored.toSpliced(1, 1), [removed]);

    assert.equal(await changes.remove(removed.id, ANY_STATUS), false, 'the second removal');
    assert.equal(await changes.change(removed.id, { status: 'sold' }, ANY_STATUS), undefined);
    await checkReads(pets, stored.toSpliced(1, 1), [removed]);
  },
  async 'finds no animal under an id that was never assigned'({ changes, pets }) {
    const pet = await pets.add(samplePet());
    for (const id of [0n, -1n, -pet.id, pet.id + 1n, pet.id + 2n ** 32n, INT64_MAX, INT64_MIN]) {
      assert.equal(await changes.change(id, { status: 'sold' }, ANY_STATUS), undefined, String(id));
      assert.equal(await changes.remove(id, ANY_STATUS), false, String(id));
    }
    await checkReads(pets, [pet]);
  },
  async 'never assigns the id of a removed animal again'({ changes, pets }) {
    let last = 0n;
    for (let round = 0; round < 3; round += 1) {
      const pet = await pets.add(samplePet());
      assert.ok(pet.id > last, `${pet.id} was assigned after ${last}`);
      last = pet.id;
      assert.equal(await changes.remove(pet.id, ANY_STATUS), true);
    }
  },
};

const REPLAYING: Clauses<PortRun> = {
  async 'replays a create as it was, whatever became of the animal'({ changes, pets }) {
    const { pet } = await addOnce(pets, FULL_PET, claimed());
    for (const change of CHANGES) {
      const changed = required(
        await changes.change(pet.id, change, ANY_STATUS),
        'the changed animal',
      );
      assert.deepEqual(await addOnce(pets, FULL_PET, claimed()), { pet, replayed: true });
      await checkReads(pets, [changed]);
    }
    await changes.remove(pet.id, ANY_STATUS);
    for (const retry of ['first', 'second', 'third'])
      assert.deepEqual(await addOnce(pets, FULL_PET, claimed()), { pet, replayed: true }, retry);
    await checkReads(pets, [], [pet]);
    const reused = addOnce(pets, samplePet(), claimed({ fingerprint: 'another fingerprint' }));
    await rejectsWithCode(reused, 'idempotency_key_reused');
  },
  async 'keeps a removed animal away from retries at the same time'({ changes, pets }) {
    for (const key of times(10, (number) => `key ${number}`)) {
      const { pet } = await addOnce(pets, FULL_PET, claimed({ key }));
      const retries = times(10, () => addOnce(pets, FULL_PET, claimed({ key })));
      assert.equal(await changes.remove(pet.id, ANY_STATUS), true);
      for (const retry of await Promise.all(retries))
        assert.deepEqual(retry, { pet, replayed: true });
      assert.deepEqual(await listAll(pets), []);
    }
  },
  async 'adds another animal once the claim of a removed one has expired'({ changes, pets }) {
    const { pet } = await addOnce(pets, FULL_PET, claimed());
    await changes.remove(pet.id, ANY_STATUS);

    const again = await addOnce(pets, FULL_PET, claimedAt(24 * 60 * 60 * 1000));

    assert.equal(again.replayed, false, 'whether it is a replay');
    assert.ok(again.pet.id > pet.id, `the id ${again.pet.id} was assigned after ${pet.id}`);
    await checkReads(pets, [again.pet], [pet]);
  },
};

/** For stores that can be copied. */
const COPYING: Clauses<PortRun> = {
  async 'hands the claims of changed and removed animals to a copy'({ changes, pets, transfer }) {
    const { pet: changed } = await addOnce(pets, FULL_PET, claimed({ key: 'changed' }));
    const { pet: removed } = await addOnce(pets, FULL_PET, claimed({ key: 'removed' }));
    await changes.change(changed.id, { status: 'sold' }, ANY_STATUS);
    await changes.remove(removed.id, ANY_STATUS);

    const claims = await transfer.readClaims({ limit: 10, now: Date.now() });

    const ids = new Map(claims.map(({ key, petId }) => [key, petId]));
    assert.equal(ids.get('changed'), changed.id, 'the id in the claim of the changed animal');
    assert.equal(ids.get('removed'), removed.id, 'the id in the claim of the removed animal');

    await checkReads(pets, [{ ...changed, status: 'sold' }], [removed]);
  },
  async 'replays a copied claim whose animal was removed before'({ pets, transfer }) {
    const petId = 1000n;
    await transfer.reserveIds(petId);
    await transfer.writeClaims([{ ...sampleClaim({ key: 'copy' }), petId }]);

    const replay = await addOnce(pets, FULL_PET, claimed({ key: 'copy' }));

    assert.deepEqual(replay, { pet: { ...FULL_PET, id: petId }, replayed: true });
    await checkReads(pets, []);
  },
};

/** The changes of two handles, or twice of one. */
async function bothChanges(subject: StoreSubject): Promise<readonly [PetChanges, PetChanges]> {
  const [one, other] = await twoHandles(subject);
  return [required(one.changes, PORT), required(other.changes, PORT)];
}

/** What forty simultaneous calls come to, through two handles in turn. */
async function race<Result>(
  subject: StoreSubject,
  call: (changes: PetChanges, number: number) => Promise<Result>,
) {
  const [one, other] = await bothChanges(subject);
  const racing = times(40, (number) => call(number % 2 === 1 ? one : other, number));
  return outcomesOf(racing);
}

/** What a traversal finds, in pages of seven. */
async function pageByPage(pets: PetRepository, status: PetStatus | undefined): Promise<Pet[]> {
  const listed: Pet[] = [];
  let page = await pets.list({ limit: 7, status });
  while (page.length > 0) {
    listed.push(...page);
    assert.ok(listed.length < 1000, 'the traversal makes no progress');
    page = await pets.list({ after: page.at(-1)?.id, limit: 7, status });
  }
  return listed;
}

/** A call that is awaited late: a case that fails before must not leave its rejection unhandled. */
function started<Result>(call: Promise<Result>): Promise<Result> {
  call.catch(() => {});
  return call;
}

const RACING: Clauses<PortRun> = {
  async 'lets exactly one of forty simultaneous changes from one status succeed'(subject) {
    for (let round = 0; round < 3; round += 1) {
      const pet = await subject.pets.add(samplePet());

      const { values, errors } = await race(subject, (changes) =>
        changes.change(pet.id, { status: 'sold' }, ['available']),
      );

      assert.deepEqual(values, [{ ...pet, status: 'sold' }], 'what the calls resolved to');
      for (const error of errors) checkConflict(error, 'sold');
    }
  },
  async 'lets exactly one of forty simultaneous changes of an animal as it was read succeed'(
    subject,
  ) {
    const pet = await subject.pets.add(FULL_PET);

    const { values, errors } = await race(subject, (changes, number) =>
      changes.change(pet.id, { name: `Pet ${number}` }, pet),
    );

    assert.equal(values.length, 1, `${values.length} callers changed the animal that they read`);
    for (const error of errors) checkCode(error, 'precondition_failed');
    assert.deepEqual(await subject.pets.findById(pet.id), values[0]);
  },
  async 'keeps simultaneous changes of different fields'(subject) {
    const [one, other] = await bothChanges(subject);
    const stored = await addAll(subject.pets, samplePets(20));

    const changing = stored.flatMap(({ id }) => [
      one.change(id, { name: 'Renamed' }, ANY_STATUS),
      other.change(id, { categoryId: -7n }, ANY_STATUS),
      one.change(id, { status: 'sold' }, ANY_STATUS),
    ]);
    await Promise.all(changing);

    const change: Partial<UnsavedPet> = { name: 'Renamed', categoryId: -7n, status: 'sold' };
    const expected = stored.map((pet) => withChange(pet, change));
    await checkReads(subject.pets, expected);
  },
  async 'lets exactly one of forty simultaneous removals find the animal'(subject) {
    const pet = await subject.pets.add(samplePet());

    const { values, errors } = await race(subject, (changes) => changes.remove(pet.id, ANY_STATUS));

    assert.deepEqual(errors, []);
    const removals = values.filter(Boolean).length;
    assert.equal(removals, 1, `${removals} callers removed the animal`);
  },
  async 'ends a change beside a removal as if one came first'(subject) {
    const [one, other] = await bothChanges(subject);
    const stored = await addAll(subject.pets, samplePets(20));

    const ends = stored.map(async (pet) => {
      const changing = started(one.change(pet.id, { status: 'sold' }, ANY_STATUS));
      assert.equal(await other.remove(pet.id, ANY_STATUS), true, 'whether it was removed');
      const changed = await changing;
      if (changed) assert.deepEqual(changed, { ...pet, status: 'sold' });
    });
    await Promise.all(ends);

    await checkReads(subject.pets, [], stored);
  },
  async 'applies each of many simultaneous changes of one animal once'(subject) {
    const both = await bothChanges(subject);
    const pet = await subject.pets.add(samplePet());
    const next = { available: 'pending', pending: 'sold', sold: 'available' } as const;
    const counts = { available: 0, pending: 0, sold: 0 };
    const step = async (changes: PetChanges, from: PetStatus): Promise<void> => {
      try {
        await changes.change(pet.id, { status: next[from] }, [from]);
        counts[from] += 1;
      } catch (error) {
        checkCode(error, 'status_conflict');
      }
    };

    const steps = times(10, () =>
      both.flatMap((changes) => PET_STATUSES.map((from) => step(changes, from))),
    );
    await Promise.all(steps.flat());

    // Each success moves the animal one step around the three statuses, beginning at the first: no count is below the
    // next one, and the first is at most one above the last.
    const successes = PET_STATUSES.map((from) => counts[from]);
    const total = successes.reduce((sum, count) => sum + count);
    const around = PET_STATUSES.map((_, index) => Math.floor((total + 2 - index) / 3));
    const text = `${successes.join(', ')} times from ${PET_STATUSES.join(', ')}`;
    assert.deepEqual(successes, around, text);
    const expected = PET_STATUSES[total % 3];
    const found = await subject.pets.findById(pet.id);
    assert.equal(found?.status, expected, `its status after changes ${text}`);
  },
  async 'takes 64 changes at once, beside adds'({ changes, pets }) {
    const stored = await addAll(pets, samplePets(64));
    const removed = stored.slice(0, 32);
    const kept = stored.slice(32);

    const removing = removed.map(({ id }) => started(changes.remove(id, ANY_STATUS)));
    const selling = kept.map(({ id }) =>
      started(changes.change(id, { status: 'sold' }, ANY_STATUS)),
    );
    const added = await addAll(pets, samplePets(8));
    await Promise.all(removing);
    const sold = await Promise.all(selling);

    const expected = kept.map((pet) => withChange(pet, { status: 'sold' }));
    assert.deepEqual(sold, expected);
    await checkReads(pets, [...expected, ...added], removed);
  },
  async 'lists each animal that stays exactly once, page by page, while others change or go'({
    changes,
    pets,
  }) {
    const stored = await addAll(
      pets,
      times(60, (number) => samplePet({ status: number % 2 === 0 ? 'sold' : 'available' })),
    );
    const staying = stored.filter((_, index) => index % 3 === 0);
    const others = stored.filter((_, index) => index % 3 !== 0);
    const changing = others.map(({ id, status }, index) =>
      started<unknown>(
        index % 2 === 0
          ? changes.remove(id, ANY_STATUS)
          : changes.change(id, { status: status === 'sold' ? 'pending' : 'sold' }, ANY_STATUS),
      ),
    );

    for (const status of [undefined, 'sold', 'available'] as const) {
      const listed = await pageByPage(pets, status);

      const wanted = staying.filter((pet) => status === undefined || pet.status === status);
      const seen = listed.filter(({ id }) => wanted.some((pet) => pet.id === id));
      assert.deepEqual(seen, wanted, `the animals that stay, of the status ${status ?? 'any'}`);
    }
    await Promise.all(changing);
  },
};

export const CHANGE_OPERATIONS: Operations<keyof PetChanges> = {
  change: ({ changes }, id, call) => changes.change(id, { status: 'sold' }, ANY_STATUS, call),
  remove: ({ changes }, id, call) => changes.remove(id, ANY_STATUS, call),
};

/** What a further handle knows of changes that were made through the first. */
const keepsChanges =
  (further: typeof reopened): PortRun =>
  async (subject) => {
    const first = await subject.pets.add(FULL_PET);
    const second = await subject.pets.add(FULL_PET);
    const third = await addClaimed(subject.pets, FULL_PET);
    const change: Partial<UnsavedPet> = { name: '$name', categoryId: INT64_MAX, status: 'sold' };
    await subject.changes.change(first.id, change, ANY_STATUS);
    await subject.changes.remove(second.id, ANY_STATUS);
    await subject.changes.remove(third.id, ANY_STATUS);

    const later = await further(subject);

    await checkReads(later.pets, [withChange(first, change)], [second, third]);
    const replay = await addOnce(later.pets, FULL_PET, claimed());
    assert.deepEqual(replay, { pet: third, replayed: true });
    const { id } = await later.pets.add(samplePet());
    assert.ok(![first.id, second.id, third.id].includes(id), `${id} was assigned again`);
    const isRemovedAgain = await required(later.changes, PORT).remove(third.id, ANY_STATUS);
    assert.equal(isRemovedAgain, false, 'whether a removed animal was removed again');
  };

const DURABILITY: Clauses<PortRun> = {
  'has every change after closing and opening again, with its claim, and assigns no removed id':
    keepsChanges(reopened),
};

const SHARING: Clauses<PortRun> = {
  'has every change in another handle, with its claim, and assigns no removed id':
    keepsChanges(anotherHandle),
  async 'shows each change and removal at once to another handle that reads all the time'(subject) {
    const { pets: other } = await anotherHandle(subject);
    const pets = await addAll(subject.pets, samplePets(10));
    await besideReads(
      () => other.list({ limit: 1 }),
      async (number) => {
        const { id } = required(pets[number % 10], 'the animal');
        if (number < 10) await subject.changes.change(id, { status: 'sold' }, ANY_STATUS);
        else await subject.changes.remove(id, ANY_STATUS);
        assert.equal((await other.findById(id))?.status, number < 10 ? 'sold' : undefined);
      },
    );
  },
};

const cases = portCases('changes', CHANGE_OPERATIONS, [
  ...casesOf({ ...CHANGING, ...REMOVING, ...RACING }),
  ...casesOf(REPLAYING, PARTS.claims),
  ...casesOf(COPYING, PARTS.transfer),
  ...casesOf(DURABILITY, PARTS.durable),
  ...casesOf(SHARING, PARTS.shared),
]);

/** Every store whose animals can be changed and removed. */
export const petChangesContract: Contract<StoreSubject> = {
  port: 'PetChanges',
  lacks: lacksOf('changes', CHANGE_OPERATIONS),
  cases,
};

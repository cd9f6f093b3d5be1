import type { PetChanges } from '../../src/application/ports/pet-changes.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import { isAnimalStoreError, type StatusConflictError } from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import { petWithId, type Pet, type PetChange } from '../../src/domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, type Clauses, type Contract, type NameOf } from './contract.js';
import { rejectsWithCode } from './rejection.js';
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
  type StoreSubject,
} from './store-subject.js';

type Run = (changes: PetChanges, subject: StoreSubject) => Promise<void>;

const ANY = PET_STATUSES;

/** Checks that a call rejects because of the animal's status. */
async function conflicts(call: Promise<unknown>, status: PetStatus): Promise<void> {
  const error = (await rejectsWithCode(call, 'status_conflict')) as StatusConflictError;
  assert.equal(error.status, status, `the error names the status ${String(error.status)}`);
}

/** Checks every way of reading. */
async function reads(
  pets: PetRepository,
  stored: readonly Pet[],
  gone: readonly Pet[] = [],
): Promise<void> {
  assert.deepEqual(await listAll(pets), stored);
  for (const status of PET_STATUSES) {
    const expected = stored.filter((pet) => pet.status === status);
    assert.deepEqual(
      await pets.list({ limit: 1000, status }),
      expected,
      `with the status ${status}`,
    );
  }
  for (const pet of stored) assert.deepEqual(await pets.findById(pet.id), pet);
  for (const { id } of gone)
    assert.equal(await pets.findById(id), undefined, `the animal ${id} was removed`);
}

/** Each differs from `FULL_PET` and from the one before. Some names mean something in the language of a database. */
const CHANGES: readonly PetChange[] = [
  { name: '$status' },
  { categoryId: INT64_MIN },
  { status: 'sold' },
  { name: "Robert'); DROP TABLE pets; --", categoryId: INT64_MAX },
  { name: ' \u{1f415}\u0301 ', categoryId: 0n, status: 'available' },
];

const CHANGING = {
  async 'changes the given fields of one animal, and nothing else'(changes, { pets }) {
    const [first, second, third] = await addAll(pets, samplePets(3, FULL_PET));
    let expected = required(second);
    for (const change of CHANGES) {
      expected = petWithId(expected.id, Object.assign({ ...expected }, change));
      const changed = await changes.change(expected.id, change, ANY);
      assert.deepEqual(changed, expected, `after ${Object.keys(change).join(', ')}`);
      await reads(pets, [first, expected, third].map(required));
    }
  },
  async 'changes and removes an animal only while every field is as it was read'(
    changes,
    { pets },
  ) {
    for (const change of CHANGES) {
      const pet = await pets.add(FULL_PET);
      const changed = required(await changes.change(pet.id, change, pet));
      const again = changes.change(pet.id, { categoryId: 5n }, pet);
      await rejectsWithCode(again, 'precondition_failed');
      await rejectsWithCode(changes.remove(pet.id, pet), 'precondition_failed');
      assert.deepEqual(await pets.findById(pet.id), changed);
      assert.equal(await changes.remove(pet.id, changed), true);
      assert.equal(await changes.change(pet.id, change, changed), undefined);
    }
    await reads(pets, []);
  },
  async 'changes any status to any, also to the same'(changes, { pets }) {
    for (const from of PET_STATUSES)
      for (const to of PET_STATUSES) {
        const pet = await pets.add(samplePet({ status: from }));
        const changed = { ...pet, status: to };
        for (const time of ['first', 'second'])
          assert.deepEqual(await changes.change(pet.id, { status: to }, ANY), changed, time);
        assert.deepEqual(await pets.findById(pet.id), changed);
      }
  },
  async 'changes only from one of the statuses, and else names the one it is'(changes, { pets }) {
    const pet = await pets.add(samplePet({ status: 'pending' }));
    await conflicts(changes.change(pet.id, { status: 'sold' }, ['available']), 'pending');
    await conflicts(
      changes.change(pet.id, { status: 'pending' }, ['available', 'sold']),
      'pending',
    );
    await conflicts(changes.change(pet.id, { status: 'sold' }, []), 'pending');
    await conflicts(changes.remove(pet.id, ['available', 'sold']), 'pending');
    await reads(pets, [pet]);
    const changed = await changes.change(pet.id, { status: 'sold' }, ['available', 'pending']);
    assert.equal(changed?.status, 'sold');
    assert.equal(await changes.remove(pet.id, ['sold']), true);
  },
  async 'shows a change to the next read, even one that saw the animal just before'(
    changes,
    { pets },
  ) {
    const pet = await pets.add(samplePet());
    for (const status of ['pending', 'sold', 'available'] as const) {
      await changes.change(pet.id, { status }, ANY);
      await reads(pets, [{ ...pet, status }]);
    }
  },
  async 'returns frozen animals'(changes, { pets }) {
    const pet = await pets.add(samplePet());
    const changed = await changes.change(pet.id, { status: 'sold' }, ANY);
    assert.ok(Object.isFrozen(changed), 'the changed animal is not frozen');
  },
} satisfies Clauses<Run>;

const REMOVING = {
  async 'removes one animal, once'(changes, { pets }) {
    const [first, second, third] = await addAll(
      pets,
      times(3, (number) => samplePet({ status: number === 3 ? 'sold' : 'available' })),
    );
    assert.equal(await changes.remove(required(second).id, ANY), true);
    await reads(pets, [first, third].map(required), [required(second)]);
    assert.equal(await changes.remove(required(second).id, ANY), false);
    assert.equal(await changes.change(required(second).id, { status: 'sold' }, ANY), undefined);
    await reads(pets, [first, third].map(required), [required(second)]);
  },
  async 'finds no animal under an id that was never assigned'(changes, { pets }) {
    const pet = await pets.add(samplePet());
    for (const id of [0n, -1n, -pet.id, pet.id + 1n, pet.id + 2n ** 32n, INT64_MAX, INT64_MIN]) {
      assert.equal(await changes.change(id, { status: 'sold' }, ANY), undefined, String(id));
      assert.equal(await changes.remove(id, ANY), false, String(id));
    }
    await reads(pets, [pet]);
  },
  async 'never assigns the id of a removed animal again'(changes, { pets }) {
    let last = 0n;
    for (let round = 0; round < 3; round += 1) {
      const pet = await pets.add(samplePet());
      assert.ok(pet.id > last, `${pet.id} was assigned after ${last}`);
      last = pet.id;
      assert.equal(await changes.remove(pet.id, ANY), true);
    }
  },
} satisfies Clauses<Run>;

const REPLAYING = {
  async 'replays a create as it was, whatever became of the animal'(changes, { pets }) {
    const { pet } = await addOnce(pets, FULL_PET, claimed());
    for (const change of CHANGES) {
      const changed = required(await changes.change(pet.id, change, ANY));
      assert.deepEqual(await addOnce(pets, FULL_PET, claimed()), { pet, replayed: true });
      await reads(pets, [changed]);
    }
    await changes.remove(pet.id, ANY);
    for (const retry of ['first', 'second', 'third'])
      assert.deepEqual(await addOnce(pets, FULL_PET, claimed()), { pet, replayed: true }, retry);
    await reads(pets, [], [pet]);
    const reused = addOnce(pets, samplePet(), claimed({ fingerprint: 'another fingerprint' }));
    await rejectsWithCode(reused, 'idempotency_key_reused');
  },
  async 'keeps a removed animal away from retries at the same time'(changes, { pets }) {
    for (const key of times(10, (number) => `key ${number}`)) {
      const { pet } = await addOnce(pets, FULL_PET, claimed({ key }));
      const retries = times(10, () => addOnce(pets, FULL_PET, claimed({ key })));
      assert.equal(await changes.remove(pet.id, ANY), true);
      for (const retry of await Promise.all(retries))
        assert.deepEqual(retry, { pet, replayed: true });
      assert.deepEqual(await listAll(pets), []);
    }
  },
  async 'adds another animal once the claim of a removed one has expired'(changes, { pets }) {
    const { pet } = await addOnce(pets, FULL_PET, claimed());
    await changes.remove(pet.id, ANY);
    const again = await addOnce(pets, FULL_PET, claimedAt(24 * 60 * 60 * 1000));
    assert.equal(again.replayed, false);
    assert.ok(again.pet.id > pet.id, `the id ${again.pet.id} was assigned after ${pet.id}`);
    await reads(pets, [again.pet], [pet]);
  },
} satisfies Clauses<Run>;

/** For stores that can be copied. */
const COPYING = {
  async 'hands the claims of changed and removed animals to a copy'(changes, { pets, transfer }) {
    const copying = required(transfer);
    const { pet: changed } = await addOnce(pets, FULL_PET, claimed({ key: 'changed' }));
    const { pet: removed } = await addOnce(pets, FULL_PET, claimed({ key: 'removed' }));
    await changes.change(changed.id, { status: 'sold' }, ANY);
    await changes.remove(removed.id, ANY);
    const claims = await copying.readClaims({ limit: 10, now: Date.now() });
    const idOf = (wanted: string) => claims.find(({ key }) => key === wanted)?.petId;
    assert.deepEqual([idOf('changed'), idOf('removed')], [changed.id, removed.id]);
    // In the copy the animal of a claim may be gone.
    const petId = removed.id + 1000n;
    await copying.reserveIds(petId);
    await copying.writeClaims([{ ...sampleClaim({ key: 'copy' }), petId }]);
    const replay = await addOnce(pets, FULL_PET, claimed({ key: 'copy' }));
    assert.deepEqual(replay, { pet: { ...FULL_PET, id: petId }, replayed: true });
    await reads(pets, [{ ...changed, status: 'sold' }], [removed]);
  },
} satisfies Clauses<Run>;

/** The changes of two handles, or twice of one. */
const bothChanges = async (subject: StoreSubject): Promise<readonly PetChanges[]> =>
  (await twoHandles(subject)).map(({ changes }) => required(changes));

/** A call that is awaited late: a case that fails before must not leave its rejection unhandled. */
function started<Result>(call: Promise<Result>): Promise<Result> {
  call.catch(() => {});
  return call;
}

const RACING = {
  async 'lets exactly one of forty simultaneous changes from one status succeed'(
    _changes,
    subject,
  ) {
    const both = await bothChanges(subject);
    for (let round = 0; round < 3; round += 1) {
      const pet = await subject.pets.add(samplePet());
      const racers = times(20, () =>
        both.map((each) => each.change(pet.id, { status: 'sold' }, ['available'])),
      );
      const results = await Promise.allSettled(racers.flat());
      for (const result of results) {
        if (result.status === 'rejected') await conflicts(Promise.reject(result.reason), 'sold');
        else assert.deepEqual(result.value, { ...pet, status: 'sold' });
      }
      const successes = results.filter(({ status }) => status === 'fulfilled').length;
      assert.equal(successes, 1, `${successes} callers changed the animal from available to sold`);
    }
  },
  async 'lets exactly one of forty simultaneous changes of an animal as it was read succeed'(
    _changes,
    subject,
  ) {
    const both = await bothChanges(subject);
    const pet = await subject.pets.add(FULL_PET);
    const racers = times(20, (number) =>
      both.map((each, handle) => each.change(pet.id, { name: `${handle} ${number}` }, pet)),
    );
    const results = await Promise.allSettled(racers.flat());
    const changed = results.flatMap((result) =>
      result.status === 'fulfilled' ? result.value : [],
    );
    assert.equal(changed.length, 1, `${changed.length} callers changed the animal that they read`);
    for (const result of results)
      if (result.status === 'rejected')
        await rejectsWithCode(Promise.reject(result.reason), 'precondition_failed');
    assert.deepEqual(await subject.pets.findById(pet.id), changed[0]);
  },
  async 'keeps simultaneous changes of different fields'(_changes, subject) {
    const [one, other] = await bothChanges(subject);
    const stored = await addAll(subject.pets, samplePets(20));
    await Promise.all(
      stored.flatMap(({ id }) => [
        required(one).change(id, { name: 'Renamed' }, ANY),
        required(other).change(id, { categoryId: -7n }, ANY),
        required(one).change(id, { status: 'sold' }, ANY),
      ]),
    );
    const change: PetChange = { name: 'Renamed', categoryId: -7n, status: 'sold' };
    await reads(
      subject.pets,
      stored.map((pet) => petWithId(pet.id, Object.assign({ ...pet }, change))),
    );
  },
  async 'lets exactly one of forty simultaneous removals find the animal'(_changes, subject) {
    const both = await bothChanges(subject);
    const pet = await subject.pets.add(samplePet());
    const results = await Promise.all(
      times(20, () => both.map((each) => each.remove(pet.id, ANY))).flat(),
    );
    const removals = results.filter(Boolean).length;
    assert.equal(removals, 1, `${removals} callers removed the animal`);
  },
  async 'ends a change beside a removal as if one came first'(_changes, subject) {
    const [one, other] = await bothChanges(subject);
    const stored = await addAll(subject.pets, samplePets(20));
    const ends = stored.map(async (pet) => {
      const changed = started(required(one).change(pet.id, { status: 'sold' }, ANY));
      assert.equal(await required(other).remove(pet.id, ANY), true);
      const result = await changed;
      if (result) assert.deepEqual(result, { ...pet, status: 'sold' });
    });
    await Promise.all(ends);
    await reads(subject.pets, [], stored);
  },
  async 'applies each of many simultaneous changes of one animal once'(_changes, subject) {
    const both = await bothChanges(subject);
    const pet = await subject.pets.add(samplePet());
    // Each success moves the animal one step around, so successes of the three kinds differ by one at most.
    const steps = PET_STATUSES.map(
      (from, index) => [from, required(PET_STATUSES[(index + 1) % 3])] as const,
    );
    const counts = new Map(PET_STATUSES.map((status) => [status, 0]));
    const racers = times(10, () =>
      both.flatMap((each) =>
        steps.map(async ([from, to]) => {
          try {
            await each.change(pet.id, { status: to }, [from]);
            counts.set(from, (counts.get(from) ?? 0) + 1);
          } catch (error) {
            if (!isAnimalStoreError(error) || error.code !== 'status_conflict') throw error;
          }
        }),
      ),
    );
    await Promise.all(racers.flat());
    const [available = 0, pending = 0, sold = 0] = PET_STATUSES.map((status) => counts.get(status));
    const text = `${available} times from available, ${pending} from pending, ${sold} from sold`;
    assert.ok(available >= pending && pending >= sold && available - sold <= 1, text);
    const expected = required(PET_STATUSES[(available + pending + sold) % 3]);
    assert.equal((await subject.pets.findById(pet.id))?.status, expected, text);
  },
  async 'takes 64 changes at once, beside adds'(changes, { pets }) {
    const stored = await addAll(pets, samplePets(64));
    const changing = stored.map(({ id }, index) =>
      started<unknown>(
        index % 2 === 0 ? changes.remove(id, ANY) : changes.change(id, { status: 'sold' }, ANY),
      ),
    );
    const added = await addAll(pets, samplePets(8));
    await Promise.all(changing);
    const kept = stored.filter((_, index) => index % 2 === 1);
    const sold = kept.map((pet): Pet => Object.assign({ ...pet }, { status: 'sold' as const }));
    await reads(pets, [...sold, ...added]);
  },
  async 'lists each animal that stays exactly once, page by page, while others change or go'(
    changes,
    { pets },
  ) {
    const stored = await addAll(
      pets,
      times(60, (number) => samplePet({ status: number % 2 === 0 ? 'sold' : 'available' })),
    );
    const staying = stored.filter((_, index) => index % 3 === 0);
    const others = stored.filter((_, index) => index % 3 !== 0);
    const changing = others.map(({ id, status }, index) =>
      started<unknown>(
        index % 2 === 0
          ? changes.remove(id, ANY)
          : changes.change(id, { status: status === 'sold' ? 'pending' : 'sold' }, ANY),
      ),
    );
    for (const status of [undefined, 'sold', 'available'] as const) {
      const listed: Pet[] = [];
      for (let page: readonly Pet[] = [], after = 0n; after === 0n || page.length > 0;) {
        page = await pets.list({ after, limit: 7, status });
        listed.push(...page);
        after = page.at(-1)?.id ?? INT64_MAX;
      }
      const wanted = staying.filter((pet) => status === undefined || pet.status === status);
      const seen = listed.filter(({ id }) => wanted.some((pet) => pet.id === id));
      assert.deepEqual(seen, wanted);
    }
    await Promise.all(changing);
  },
} satisfies Clauses<Run>;

export const CHANGE_OPERATIONS = {
  change: ({ changes }, id, call) => required(changes).change(id, { status: 'sold' }, ANY, call),
  remove: ({ changes }, id, call) => required(changes).remove(id, ANY, call),
} satisfies Operations;

/** What a further handle knows of changes that were made through the first. */
const keepsChanges =
  (further: typeof reopened): Run =>
  async (changes, subject) => {
    const first = await subject.pets.add(FULL_PET);
    const second = await subject.pets.add(FULL_PET);
    const third = await addClaimed(subject.pets, FULL_PET);
    const change: PetChange = { name: '$name', categoryId: INT64_MAX, status: 'sold' };
    await changes.change(first.id, change, ANY);
    await changes.remove(second.id, ANY);
    await changes.remove(third.id, ANY);
    const later = await further(subject);
    await reads(later.pets, [{ ...first, ...change }], [second, third]);
    assert.deepEqual(await addOnce(later.pets, FULL_PET, claimed()), {
      pet: third,
      replayed: true,
    });
    const pet = await later.pets.add(samplePet());
    assert.ok(
      ![first, second, third].some(({ id }) => id === pet.id),
      `${pet.id} was assigned again`,
    );
    assert.equal(await required(later.changes).remove(third.id, ANY), false);
  };

const DURABILITY = {
  'has every change after closing and opening again, with its claim, and assigns no removed id':
    keepsChanges(reopened),
} satisfies Clauses<Run>;

const SHARING = {
  'has every change in another handle, with its claim, and assigns no removed id':
    keepsChanges(anotherHandle),
  async 'shows each change and removal at once to another handle that reads all the time'(
    changes,
    subject,
  ) {
    const { pets: other } = await anotherHandle(subject);
    const pets = await addAll(subject.pets, samplePets(10));
    await besideReads(
      () => other.list({ limit: 1 }),
      async (number) => {
        const { id } = required(pets[number % 10]);
        if (number < 10) await changes.change(id, { status: 'sold' }, ANY);
        else await changes.remove(id, ANY);
        assert.equal((await other.findById(id))?.status, number < 10 ? 'sold' : undefined);
      },
    );
  },
} satisfies Clauses<Run>;

const cases = portCases('changes', CHANGE_OPERATIONS, [
  ...casesOf({ ...CHANGING, ...REMOVING, ...RACING }),
  ...casesOf(REPLAYING, PARTS.claims),
  ...casesOf(COPYING, PARTS.transfer),
  ...casesOf(DURABILITY, PARTS.durable),
  ...casesOf(SHARING, PARTS.shared),
]);

export type PetChangesCase = NameOf<typeof cases>;

/** Every store whose animals can be changed and removed. */
export const petChangesContract: Contract<StoreSubject> = {
  port: 'PetChanges',
  lacks: lacksOf('changes', CHANGE_OPERATIONS),
  cases,
};

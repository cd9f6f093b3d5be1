import type {
  CatalogueTransfer,
  PetClaim,
} from '../../src/application/ports/catalogue-transfer.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import { MAX_GIVEN_ID, petWithId, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { casesOf, type Clauses, type Contract } from './contract.js';
import { rejectsWithCode } from './rejection.js';
import {
  FIELD_VALUES,
  FULL_PET,
  claimed,
  claimedAt,
  instant,
  sampleClaim,
  samplePet,
  times,
} from './samples.js';
import { lacksOf, portCases, type Operations } from './store-operations.js';
import {
  addOnce,
  anotherHandle,
  listAll,
  reopened,
  required,
  type OpenStore,
  PARTS,
  type PortRun,
  type StoreSubject,
} from './store-subject.js';

/** Ids at which a number, a double or an int32 goes wrong first, and the greatest. */
const GREAT_IDS = [2n ** 31n, 2n ** 32n + 1n, 2n ** 53n + 1n, MAX_GIVEN_ID];

const unsavedPet = (id: bigint): UnsavedPet => ({
  ...FULL_PET,
  name: `Pet ${id}`,
  categoryId: -id,
});

const examplePet = (id: bigint, fields?: Partial<UnsavedPet>): Pet =>
  petWithId(id, { ...unsavedPet(id), ...fields });

const petsWithIds = (...ids: readonly bigint[]): Pet[] => ids.map((id) => examplePet(id));

/** Animals with all values that a store may change, in ascending order of id. */
const trickyPets = (): Pet[] => [
  ...Object.values(FIELD_VALUES.categoryId).map((categoryId, index) =>
    examplePet(BigInt(index + 1), { categoryId, status: 'sold' }),
  ),
  ...Object.values(FIELD_VALUES.name).map((name, index) =>
    examplePet(BigInt(index + 101), { name }),
  ),
  ...petsWithIds(...GREAT_IDS),
];

/** Reserves the ids, then writes the animals. */
async function write(transfer: CatalogueTransfer, pets: readonly Pet[]): Promise<void> {
  await transfer.reserveIds(pets.reduce((last, { id }) => (id > last ? id : last), 0n));
  await transfer.writePets(pets);
}

const petClaim = (
  petId: bigint,
  fields?: Parameters<typeof sampleClaim>[0],
): Required<PetClaim> => ({
  ...sampleClaim(fields),
  petId,
});

const allClaims = (transfer: CatalogueTransfer, now = instant(0)): Promise<readonly PetClaim[]> =>
  transfer.readClaims({ limit: 1000, now });

/** Texts that a store may cut, fold, escape or order in another way than it compares them. */
const TEXTS = ['a', 'A', 'a ', 'é', 'e\u0301', '🐶', '\uffff', '"', '\\', 'x'.repeat(255)];

const byPair = (claims: readonly PetClaim[]): ReadonlyMap<string, PetClaim> =>
  new Map(claims.map((claim) => [JSON.stringify([claim.scope, claim.key]), claim]));

const ANIMALS: Clauses<PortRun> = {
  async 'stores written animals under their ids exactly, for every way of reading'({
    transfer,
    pets,
  }) {
    const stored = trickyPets();

    await write(transfer, stored);

    assert.deepEqual(await listAll(pets), stored);
    const sold = stored.filter(({ status }) => status === 'sold');
    assert.deepEqual(await pets.list({ limit: 1000, status: 'sold' }), sold, 'what is sold');
    for (const [index, pet] of stored.entries()) {
      assert.deepEqual(await pets.findById(pet.id), pet);
      const next = stored.slice(index + 1, index + 2);
      assert.deepEqual(await pets.list({ after: pet.id, limit: 1 }), next, `after ${pet.id}`);
    }
  },
  async 'stores every animal of a batch of 1,001, in any order, also below those that are stored'({
    transfer,
    pets,
  }) {
    const ids = times(1001, BigInt);
    await write(transfer, petsWithIds(2000n));

    await transfer.writePets(petsWithIds(...ids.toReversed()));

    const found = await pets.list({ limit: 2000 });
    // The ids first: to show how a thousand animals differ takes seconds.
    assert.equal(found.map(({ id }) => id).join(), [...ids, 2000n].join());
    assert.deepEqual(found, petsWithIds(...ids, 2000n));
    await transfer.writePets([]);
  },
  async 'stores a batch once that is written again, whole, in part or simultaneously'({
    transfer,
    pets,
  }) {
    const batch = petsWithIds(...times(20, BigInt));
    await write(transfer, batch.slice(0, 10));
    await write(transfer, batch.slice(0, 10));
    await transfer.reserveIds(20n);
    const writing = times(2, () => transfer.writePets(batch.slice(5)));
    await Promise.all(writing);

    assert.deepEqual(await listAll(pets), batch);
  },
  async 'leaves an animal whose id is taken as it is, and stores the rest of the batch'({
    transfer,
    pets,
  }) {
    const pet = await pets.add(samplePet({ name: 'Bella' }));
    await transfer.reserveIds(pet.id + 2n);

    await transfer.writePets(petsWithIds(pet.id + 1n, pet.id, pet.id + 2n));

    assert.deepEqual(await listAll(pets), [pet, ...petsWithIds(pet.id + 1n, pet.id + 2n)]);
  },
  async 'stores the first of several animals with the same id in a batch, and the rest of it'({
    transfer,
    pets,
  }) {
    await transfer.reserveIds(2n);
    const first = examplePet(1n, { name: 'first' });
    const later = examplePet(1n, { name: 'later', status: 'sold' });

    await transfer.writePets([first, later, examplePet(2n), later]);

    assert.deepEqual(await listAll(pets), [first, examplePet(2n)]);
  },
  async 'assigns greater ids after those that were reserved'({ transfer, pets }) {
    await pets.add(samplePet()); // a handle may have taken a block of ids
    for (const last of [2n, 41n, 2n ** 32n, 2n ** 53n + 1n, MAX_GIVEN_ID]) {
      await transfer.reserveIds(last);
      const pet = await pets.add(samplePet());
      assert.ok(pet.id > last, `${pet.id} was assigned, though ids up to ${last} were reserved`);
      assert.deepEqual(await pets.findById(pet.id), pet);
    }
  },
  async 'takes nothing back when fewer ids are reserved, or none'({ transfer, pets }) {
    await transfer.reserveIds(50n);

    await Promise.all([7n, 60n, 0n].map((last) => transfer.reserveIds(last)));

    const { lastId } = await transfer.survey();
    assert.ok(lastId >= 60n, `the last id is ${lastId}, and 60 was reserved`);
    const { id } = await pets.add(samplePet());
    assert.ok(id > 60n, `${id} was assigned, though ids up to 60 were reserved`);
  },
  async 'surveys animals, and the greatest id that was assigned or reserved, to the digit'({
    transfer,
    pets,
  }) {
    assert.deepEqual(await transfer.survey(), { pets: 0, lastId: 0n }, 'of an empty store');

    await transfer.reserveIds(50n);
    const reserved = await transfer.survey();
    assert.equal(reserved.pets, 0, 'animals after a reservation');

    const { id } = await pets.add(samplePet());
    const added = await transfer.survey();
    assert.ok(added.pets > 0 && added.lastId >= id, `the survey does not count the animal ${id}`);

    await transfer.reserveIds(2n ** 53n + 1n);
    const { lastId } = await transfer.survey();
    assert.equal(lastId, 2n ** 53n + 1n, 'the last id after a reservation');
  },
};

/** For stores whose animals can be removed. */
const REMOVED: Clauses<PortRun> = {
  async 'stores an animal under the id of one that was removed, and can remove it again'({
    transfer,
    pets,
    changes,
  }) {
    const { pet: withClaim } = await addOnce(pets, samplePet(), claimed());
    const pet = await pets.add(samplePet());
    for (const { id } of [withClaim, pet]) await changes.remove(id, PET_STATUSES);
    const given = petsWithIds(withClaim.id, pet.id, pet.id + 1n);

    await write(transfer, given);

    assert.deepEqual(await listAll(pets), given);
    for (const each of given) assert.deepEqual(await pets.findById(each.id), each);
    for (const { id } of given)
      assert.equal(await changes.remove(id, PET_STATUSES), true, `whether ${id} was removed`);
    assert.deepEqual(await listAll(pets), []);
  },
  async 'ends the claim of a removed animal whose id an animal brings back, and no other claim'({
    transfer,
    pets,
    changes,
  }) {
    const added = new Map<string, Pet>();
    for (const key of ['back', 'removed', 'stored'])
      added.set(key, (await addOnce(pets, samplePet(), claimed({ key }))).pet);
    const idOf = (key: string): bigint => required(added.get(key), key).id;
    for (const key of ['back', 'removed']) await changes.remove(idOf(key), PET_STATUSES);
    const given = petsWithIds(idOf('back'), idOf('stored'), idOf('stored') + 1n);

    // Twice: what is written again ends no claim that was made since.
    await write(transfer, given);
    await transfer.writeClaims([petClaim(idOf('back'), { key: 'later' })]);
    await write(transfer, given);

    const left = (await allClaims(transfer)).map(({ key }) => key);
    assert.deepEqual(left.toSorted(), ['later', 'removed', 'stored'], 'the claims that are left');
    for (const key of ['removed', 'stored']) {
      const retry = await addOnce(pets, samplePet(), claimed({ key }));
      const expected = { pet: added.get(key), replayed: true };
      assert.deepEqual(retry, expected, `the retry of the create of the animal that is ${key}`);
    }
    const claim = claimed({ key: 'back', fingerprint: 'other' });
    const { pet, replayed } = await addOnce(pets, samplePet({ name: 'Other' }), claim);
    assert.ok(!replayed, 'a create with the key of the animal that was removed was a replay');
    assert.ok(pet.id > idOf('stored') + 1n, `it was assigned the id ${pet.id}`);
    assert.deepEqual(await pets.findById(idOf('back')), examplePet(idOf('back')));
  },
};

const CLAIMS: Clauses<PortRun> = {
  async 'reads a claim that an add has made, with every field, until its keepUntil'({
    transfer,
    pets,
  }) {
    assert.deepEqual(await allClaims(transfer), []);

    const { pet } = await addOnce(pets, samplePet(), claimed());

    const end = sampleClaim().keepUntil;
    const expected = [petClaim(pet.id)];
    assert.deepEqual(await allClaims(transfer), expected);
    assert.deepEqual(await allClaims(transfer, end - 1), expected, 'a millisecond before its end');
    assert.deepEqual(await allClaims(transfer, end), [], 'at its end');
  },
  async 'reads every live claim exactly once in batches of the limit, whatever its texts'({
    transfer,
  }) {
    const claims = TEXTS.flatMap((scope) => TEXTS.map((key) => petClaim(1n, { scope, key })));
    await write(transfer, petsWithIds(1n));
    await transfer.writeClaims([
      ...claims,
      petClaim(1n, { key: 'expired', keepUntil: instant(0) }),
    ]);

    const read: PetClaim[] = [];
    let batch: readonly PetClaim[];
    do {
      batch = await transfer.readClaims({ after: read.at(-1), limit: 9, now: instant(0) });
      const left = claims.length - read.length;
      assert.equal(batch.length, Math.min(9, left), `claims of a batch, with ${left} left`);
      read.push(...batch);
    } while (batch.length > 0);

    assert.deepEqual(byPair(read), byPair(claims));
  },
  async 'honours a written claim: replays the animal, and refuses another fingerprint'({
    transfer,
    pets,
  }) {
    await write(transfer, petsWithIds(1n, 2n));
    await transfer.writeClaims([petClaim(2n), petClaim(1n, { key: 'another' })]);

    const replay = await addOnce(pets, unsavedPet(2n), claimed());
    assert.deepEqual(replay, { pet: examplePet(2n), replayed: true });
    const reused = addOnce(pets, samplePet(), claimed({ fingerprint: 'another fingerprint' }));
    await rejectsWithCode(reused, 'idempotency_key_reused');
  },
  async 'lets a written claim expire at its keepUntil'({ transfer, pets }) {
    await write(transfer, petsWithIds(1n));
    await transfer.writeClaims([petClaim(1n, { keepUntil: instant(1000) })]);

    const before = await addOnce(pets, samplePet(), claimedAt(999));
    const at = await addOnce(pets, samplePet(), claimedAt(1000));

    assert.ok(before.replayed, 'it was forgotten a millisecond before its end');
    assert.ok(!at.replayed, 'it was replayed at its end');
  },
  async 'replaces a claim with the same scope and key, and leaves the others'({ transfer }) {
    await write(transfer, petsWithIds(1n, 2n));
    const other = petClaim(1n, { key: 'other' });
    const newer = petClaim(2n, { fingerprint: 'another fingerprint', keepUntil: instant(5) });
    await transfer.writeClaims([petClaim(1n), other]);

    await transfer.writeClaims([newer]);

    assert.deepEqual(byPair(await allClaims(transfer)), byPair([newer, other]));
  },
  async 'is unfinished from the mark until it is taken away, and not before'({ transfer }) {
    await transfer.reserveIds(7n);
    assert.ok(!(await transfer.isUnfinished()), 'it is unfinished without a mark');
    for (const isUnfinished of [false, true, true, false, false]) {
      await transfer.markUnfinished(isUnfinished);
      const found = await transfer.isUnfinished();
      assert.equal(found, isUnfinished, `whether it is unfinished, marked as ${isUnfinished}`);
    }
    assert.deepEqual(await transfer.survey(), { pets: 0, lastId: 7n });
  },
};

export const TRANSFER_OPERATIONS: Operations<keyof CatalogueTransfer> = {
  survey: ({ transfer }, _id, call) => transfer.survey(call),
  isUnfinished: ({ transfer }, _id, call) => transfer.isUnfinished(call),
  markUnfinished: ({ transfer }, _id, call) => transfer.markUnfinished(true, call),
  reserveIds: ({ transfer }, _id, call) => transfer.reserveIds(999n, call),
  writePets: ({ transfer }, id, call) => transfer.writePets(petsWithIds(id + 1n), call),
  readClaims: ({ transfer }, _id, call) => transfer.readClaims({ limit: 1, now: instant(0) }, call),
  writeClaims: ({ transfer }, id, call) =>
    transfer.writeClaims([petClaim(id, { key: 'another' })], call),
};

async function writeOneOfEach(transfer: CatalogueTransfer): Promise<void> {
  await transfer.markUnfinished(true);
  await transfer.reserveIds(99n);
  await transfer.writePets(petsWithIds(1n, 5n));
  await transfer.writeClaims([petClaim(5n)]);
}

async function hasOneOfEach(store: OpenStore): Promise<void> {
  const { pets } = store;
  const transfer = required(store.transfer, 'the port transfer of the handle');
  assert.ok(await transfer.isUnfinished(), 'the mark is lost');
  assert.deepEqual(await listAll(pets), petsWithIds(1n, 5n));
  assert.deepEqual(await allClaims(transfer), [petClaim(5n)]);
  const replay = await addOnce(pets, unsavedPet(5n), claimed());
  assert.deepEqual(replay, { pet: examplePet(5n), replayed: true });
  const pet = await pets.add(samplePet());
  assert.ok(pet.id > 99n, `${pet.id} was assigned, though ids up to 99 were reserved`);
}

const DURABILITY: Clauses<PortRun> = {
  async 'has everything that was written and reserved after closing and opening again'(subject) {
    await writeOneOfEach(subject.transfer);
    await hasOneOfEach(await reopened(subject));
  },
};

const SHARING: Clauses<PortRun> = {
  async 'shows what was written and reserved to the next call of another handle'(subject) {
    const other = await anotherHandle(subject);
    await writeOneOfEach(subject.transfer);
    await hasOneOfEach(other);
  },
};

const cases = portCases('transfer', TRANSFER_OPERATIONS, [
  ...casesOf({ ...ANIMALS, ...CLAIMS }),
  ...casesOf(REMOVED, PARTS.changes),
  ...casesOf(DURABILITY, PARTS.durable),
  ...casesOf(SHARING, PARTS.shared),
]);

/** Every store that can be copied. */
export const catalogueTransferContract: Contract<StoreSubject> = {
  port: 'CatalogueTransfer',
  lacks: lacksOf('transfer', TRANSFER_OPERATIONS),
  cases,
};

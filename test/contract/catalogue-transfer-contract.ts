import type { Call } from '../../src/application/animal-store.js';
import type { CatalogueTransfer, PetClaim } from '../../src/application/ports/catalogue-transfer.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import { MAX_GIVEN_ID, savedPet, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import { assert } from './assert.js';
import { promise, type Contract } from './contract.js';
import { rejectsWhenAborted, rejectsWithCode } from './rejection.js';
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
import {
  notDurable,
  notShared,
  anotherHandle,
  listAll,
  reopened,
  required,
  type StoreCase,
  type StorePorts,
  type StoreSubject,
} from './store-subject.js';

interface TransferCase extends Pick<StoreCase, 'name' | 'unless'> {
  readonly run: (transfer: CatalogueTransfer, subject: StoreSubject) => Promise<void>;
}

/** Ids at which a number, a double or an int32 goes wrong first, and the greatest. */
const GREAT_IDS = [2n ** 31n, 2n ** 32n + 1n, 2n ** 53n + 1n, MAX_GIVEN_ID];

const unsavedPet = (id: bigint): UnsavedPet => ({ ...FULL_PET, name: `Pet ${id}`, categoryId: -id });

const petWithId = (id: bigint, fields?: Partial<UnsavedPet>): Pet =>
  savedPet(id, { ...unsavedPet(id), ...fields });

const petsWithIds = (...ids: readonly bigint[]): Pet[] => ids.map((id) => petWithId(id));

/** Animals with all values that a store may change, in ascending order of id. */
const trickyPets = (): Pet[] => [
  ...Object.values(FIELD_VALUES.categoryId).map((categoryId, index) =>
    petWithId(BigInt(index + 1), { categoryId, status: 'sold' }),
  ),
  ...Object.values(FIELD_VALUES.name).map((name, index) => petWithId(BigInt(index + 101), { name })),
  petWithId(201n, { name: 'of an older version '.repeat(100) }),
  ...petsWithIds(...GREAT_IDS),
];

/** Reserves the ids, then writes the animals. */
async function write(transfer: CatalogueTransfer, pets: readonly Pet[]): Promise<void> {
  await transfer.reserveIds(pets.reduce((last, { id }) => (id > last ? id : last), 0n));
  await transfer.writePets(pets);
}

const petClaim = (petId: bigint, fields?: Parameters<typeof sampleClaim>[0]): Required<PetClaim> => ({
  ...sampleClaim(fields),
  petId,
});

const allClaims = (transfer: CatalogueTransfer, now = instant(0)): Promise<readonly PetClaim[]> =>
  transfer.readClaims({ limit: 1000, now });

/** Texts that a store may cut, fold, escape or order in another way than it compares them. */
const TEXTS = ['a', 'A', 'a ', 'é', 'e\u0301', '🐶', '\uffff', '"', '\\', 'x'.repeat(255)];

const byPair = (claims: readonly PetClaim[]): ReadonlyMap<string, PetClaim> =>
  new Map(claims.map((claim) => [JSON.stringify([claim.scope, claim.key]), claim]));

const petCases: readonly TransferCase[] = [
  promise(
    'stores written animals under their ids exactly, for every way of reading',
    async (transfer, { pets }) => {
      const stored = trickyPets();
      await write(transfer, stored);
      assert.deepEqual(await listAll(pets), stored);
      assert.deepEqual(
        await pets.list({ limit: 1000, status: 'sold' }),
        stored.filter(({ status }) => status === 'sold'),
      );
      for (const [index, pet] of stored.entries()) {
        assert.deepEqual(await pets.findById(pet.id), pet);
        const next = stored.slice(index + 1, index + 2);
        assert.deepEqual(await pets.list({ after: pet.id, limit: 1 }), next, `after ${pet.id}`);
      }
    },
  ),
  promise(
    'stores every animal of a batch of 1,001, whatever the order of its ids, also below those that are stored',
    async (transfer, { pets }) => {
      const ids = times(1001, BigInt);
      await write(transfer, petsWithIds(2000n));
      await transfer.writePets(petsWithIds(...ids.toReversed()));
      const found = await pets.list({ limit: 2000 });
      // The ids first: to show how a thousand animals differ takes seconds.
      assert.equal(found.map(({ id }) => id).join(), [...ids, 2000n].join());
      assert.deepEqual(found, petsWithIds(...ids, 2000n));
      await transfer.writePets([]);
    },
  ),
  promise(
    'stores a batch once that is written again, whole, in part or simultaneously',
    async (transfer, { pets }) => {
      const batch = petsWithIds(...times(20, BigInt));
      await write(transfer, batch.slice(0, 10));
      await write(transfer, batch.slice(0, 10));
      await transfer.reserveIds(20n);
      await Promise.all([transfer.writePets(batch.slice(5)), transfer.writePets(batch.slice(5))]);
      assert.deepEqual(await listAll(pets), batch);
    },
  ),
  promise(
    'leaves an animal whose id is taken as it is, and stores the rest of the batch',
    async (transfer, { pets }) => {
      const { pet } = await pets.add(samplePet({ name: 'Bella' }));
      await transfer.reserveIds(pet.id + 2n);
      await transfer.writePets(petsWithIds(pet.id + 1n, pet.id, pet.id + 2n));
      assert.deepEqual(await listAll(pets), [pet, ...petsWithIds(pet.id + 1n, pet.id + 2n)]);
    },
  ),
  {
    name: 'stores an animal under the id of one that was removed, and can remove it again',
    unless: ({ changes }) => (changes ? undefined : 'the store cannot change animals'),
    async run(transfer, { pets, changes }) {
      const removed = await pets.add(samplePet(), claimed());
      const { pet } = await pets.add(samplePet());
      for (const { id } of [removed.pet, pet]) assert.equal(await changes?.remove(id, PET_STATUSES), true);
      const given = [petWithId(removed.pet.id), petWithId(pet.id)];
      await transfer.writePets(given);
      assert.deepEqual(await listAll(pets), given);
      for (const each of given) assert.deepEqual(await pets.findById(each.id), each);
      assert.equal((await pets.add(samplePet(), claimed())).replayed, true);
      assert.deepEqual(await listAll(pets), given);
      for (const { id } of given) assert.equal(await changes?.remove(id, PET_STATUSES), true);
      assert.deepEqual(await listAll(pets), []);
    },
  },
  promise('stores its own copy of a batch', async (transfer, { pets }) => {
    const given = [{ ...petWithId(1n) }, { ...petWithId(2n) }];
    await transfer.reserveIds(2n);
    const writing = transfer.writePets(given);
    for (const pet of given.splice(0)) Object.assign(pet, { id: 7n, name: 'spoiled' });
    await writing;
    assert.deepEqual(await listAll(pets), petsWithIds(1n, 2n));
  }),
  ...[2n, 41n, 2n ** 32n, 2n ** 53n + 1n, MAX_GIVEN_ID].map((last): TransferCase =>
    promise(`assigns greater ids after those up to ${last} were reserved`, async (transfer, { pets }) => {
      await pets.add(samplePet()); // a handle may have taken a block of ids
      await transfer.reserveIds(last);
      const { pet } = await pets.add(samplePet());
      assert.ok(pet.id > last, `${pet.id} was assigned`);
      assert.deepEqual(await pets.findById(pet.id), pet);
    }),
  ),
  promise('takes nothing back when fewer ids are reserved, or none', async (transfer, { pets }) => {
    await transfer.reserveIds(50n);
    await Promise.all([transfer.reserveIds(7n), transfer.reserveIds(60n), transfer.reserveIds(0n)]);
    assert.ok((await transfer.survey()).lastId >= 60n);
    assert.ok((await pets.add(samplePet())).pet.id > 60n);
  }),
  promise(
    'surveys whether there are animals, and the greatest id that was assigned or reserved, to the digit',
    async (transfer, { pets }) => {
      assert.deepEqual(await transfer.survey(), { pets: 0, lastId: 0n });
      await transfer.reserveIds(50n);
      assert.equal((await transfer.survey()).pets, 0);
      const { pet } = await pets.add(samplePet());
      const survey = await transfer.survey();
      assert.ok(survey.pets > 0 && survey.lastId >= pet.id);
      await transfer.reserveIds(2n ** 53n + 1n);
      assert.equal((await transfer.survey()).lastId, 2n ** 53n + 1n);
    },
  ),
];

const claimCases: readonly TransferCase[] = [
  promise(
    'reads a claim that an add has made, with every field, until its keepUntil',
    async (transfer, { pets }) => {
      assert.deepEqual(await allClaims(transfer), []);
      const { pet } = await pets.add(samplePet(), claimed());
      assert.deepEqual(await allClaims(transfer), [petClaim(pet.id)]);
      const end = sampleClaim().keepUntil.getTime();
      assert.equal(
        (await allClaims(transfer, new Date(end - 1))).length,
        1,
        'live claims at keepUntil - 1 ms',
      );
      assert.deepEqual(await allClaims(transfer, new Date(end)), []);
    },
  ),
  promise(
    'reads every live claim exactly once in batches of the limit, whatever its texts',
    async (transfer) => {
      const claims = TEXTS.flatMap((scope) => TEXTS.map((key) => petClaim(1n, { scope, key })));
      await write(transfer, petsWithIds(1n));
      await transfer.writeClaims([...claims, petClaim(1n, { key: 'lapsed', keepUntil: instant(0) })]);
      const read: PetClaim[] = [];
      for (;;) {
        const batch = await transfer.readClaims({ after: read.at(-1), limit: 9, now: instant(0) });
        const expected = Math.min(9, claims.length - read.length);
        assert.equal(batch.length, expected, `claims in a batch of up to 9 after ${read.length} were read`);
        if (batch.length === 0) break;
        read.push(...batch);
      }
      assert.deepEqual(byPair(read), byPair(claims));
    },
  ),
  promise(
    'honours a written claim: it replays the animal, and refuses another fingerprint',
    async (transfer, { pets }) => {
      await write(transfer, petsWithIds(1n, 2n));
      await transfer.writeClaims([petClaim(2n), petClaim(1n, { key: 'another' })]);
      assert.deepEqual(await pets.add(unsavedPet(2n), claimed()), { pet: petWithId(2n), replayed: true });
      const reused = pets.add(samplePet(), claimed({ fingerprint: 'another fingerprint' }));
      await rejectsWithCode(reused, 'idempotency_key_reused');
    },
  ),
  promise('lets a written claim lapse at its keepUntil', async (transfer, { pets }) => {
    const options = claimedAt(0, { keepUntil: instant(1000) });
    await write(transfer, petsWithIds(1n));
    await transfer.writeClaims([{ ...options.claim, petId: 1n }]);
    assert.equal((await pets.add(samplePet(), claimedAt(999))).replayed, true);
    assert.equal((await pets.add(samplePet(), claimedAt(1000))).replayed, false);
  }),
  promise('replaces a claim with the same scope and key, and leaves the others', async (transfer) => {
    await write(transfer, petsWithIds(1n, 2n));
    const other = petClaim(1n, { key: 'other' });
    const newer = petClaim(2n, { fingerprint: 'another fingerprint', keepUntil: instant(5) });
    await transfer.writeClaims([petClaim(1n), other]);
    await transfer.writeClaims([newer]);
    const read = await allClaims(transfer);
    assert.deepEqual(
      [...read].sort((one) => (one.key === 'other' ? 1 : -1)),
      [newer, other],
    );
  }),
  promise('copies claims both ways, including dates', async (transfer) => {
    await write(transfer, petsWithIds(1n));
    const given = petClaim(1n);
    const writing = transfer.writeClaims([given]);
    given.keepUntil.setTime(0);
    await writing;
    for (const { keepUntil } of await allClaims(transfer)) keepUntil.setTime(0);
    assert.deepEqual(await allClaims(transfer), [petClaim(1n)]);
  }),
];

const markCases: readonly TransferCase[] = [
  promise('is unfinished from the mark until it is taken away, and is none before', async (transfer) => {
    const seen = [await transfer.isUnfinished()];
    for (const isUnfinished of [false, true, true, false, false]) {
      await transfer.markUnfinished(isUnfinished);
      seen.push(await transfer.isUnfinished());
    }
    assert.deepEqual(seen, [false, false, true, true, false, false]);
    assert.deepEqual(await transfer.survey(), { pets: 0, lastId: 0n });
  }),
];

const OPERATIONS: Readonly<Record<string, (transfer: CatalogueTransfer, call?: Call) => Promise<unknown>>> = {
  survey: (transfer, call) => transfer.survey(call),
  isUnfinished: (transfer, call) => transfer.isUnfinished(call),
  markUnfinished: (transfer, call) => transfer.markUnfinished(true, call),
  reserveIds: (transfer, call) => transfer.reserveIds(99n, call),
  writePets: (transfer, call) => transfer.writePets(petsWithIds(2n), call),
  readClaims: (transfer, call) => transfer.readClaims({ limit: 1, now: instant(0) }, call),
  writeClaims: (transfer, call) => transfer.writeClaims([petClaim(1n, { key: 'another' })], call),
};

/** What the store holds, and up to where ids are reserved. */
const contentsOf = async (transfer: CatalogueTransfer, { pets }: StorePorts) => ({
  survey: await transfer.survey(),
  isUnfinished: await transfer.isUnfinished(),
  pets: await listAll(pets),
  claims: await allClaims(transfer),
});

const endingCases: readonly TransferCase[] = Object.entries(OPERATIONS).flatMap(([operation, call]) => [
  promise(
    `rejects with service_unavailable after the store was closed: ${operation}`,
    async (transfer, { pets }) => {
      await pets.close();
      await rejectsWithCode(call(transfer), 'service_unavailable');
    },
  ),
  promise(
    `rejects with the reason of an aborted signal, and changes nothing: ${operation}`,
    async (transfer, subject) => {
      await write(transfer, petsWithIds(1n));
      await transfer.writeClaims([petClaim(1n)]);
      const before = await contentsOf(transfer, subject);
      await rejectsWhenAborted((aborted) => call(transfer, aborted));
      assert.deepEqual(await contentsOf(transfer, subject), before);
    },
  ),
]);

async function fill(transfer: CatalogueTransfer): Promise<void> {
  await transfer.markUnfinished(true);
  await transfer.reserveIds(99n);
  await transfer.writePets(petsWithIds(1n, 5n));
  await transfer.writeClaims([petClaim(5n)]);
}

async function assertFilled({ transfer, pets }: StorePorts): Promise<void> {
  assert.equal(await required(transfer).isUnfinished(), true);
  assert.deepEqual(await listAll(pets), petsWithIds(1n, 5n));
  assert.deepEqual(await allClaims(required(transfer)), [petClaim(5n)]);
  assert.deepEqual(await pets.add(unsavedPet(5n), claimed()), { pet: petWithId(5n), replayed: true });
  const { pet } = await pets.add(samplePet());
  assert.ok(pet.id > 99n, `${pet.id} was assigned, though ids up to 99 were reserved`);
}

const handleCases: readonly TransferCase[] = [
  {
    name: 'has everything that was written and reserved after closing and opening again',
    unless: notDurable,
    async run(transfer, subject) {
      await fill(transfer);
      await assertFilled(await reopened(subject));
    },
  },
  {
    name: 'shows what was written and reserved to the next call of another handle',
    unless: notShared,
    async run(transfer, subject) {
      const other = await anotherHandle(subject);
      await fill(transfer);
      await assertFilled(other);
    },
  },
];

/** What every store promises that can be copied. */
export const catalogueTransferContract: Contract<StoreSubject> = {
  port: 'CatalogueTransfer',
  cases: [...petCases, ...claimCases, ...markCases, ...endingCases, ...handleCases].map(
    ({ name, unless, run }) => ({
      name,
      unless: (subject) => (subject.transfer ? unless?.(subject) : 'the store cannot be copied'),
      run: (subject) => run(required(subject.transfer), subject),
    }),
  ),
};

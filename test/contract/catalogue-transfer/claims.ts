import { assert } from '../assert.js';
import type { PetClaim } from '../../../src/application/ports/catalogue-transfer.js';
import { sampleClaim } from '../pet-repository/claiming.js';
import { rejectsWithCode } from '../rejection.js';
import { samplePet, times } from '../samples.js';
import { petWithId, petsWithIds, readAllClaims, write, type CatalogueTransferCase } from './subject.js';

/** What is kept of the claim that `sampleClaim` makes of the same fields. */
const keptClaim = (petId: bigint, fields?: Parameters<typeof sampleClaim>[0]): PetClaim => {
  const { scope, token, fingerprint, keepUntil } = sampleClaim(fields);
  return { scope, token, fingerprint, petId, keepUntil };
};

const { now: NOW, keepUntil: END } = sampleClaim();

/** Texts that a store may cut, fold, escape or order in another way than it compares them. */
const TOKENS = ['a', 'A', 'a ', 'a\0b', 'é', 'e\u0301', '🐶', '\uffff', '"', '\\', 'x'.repeat(255)];

const byText = ({ scope, token }: PetClaim): string => JSON.stringify([scope, token]);

export const claimCases: readonly CatalogueTransferCase[] = [
  {
    name: 'reads a claim that an add has made',
    async run({ transfer, pets }) {
      const { pet } = await pets.add(samplePet(), { claim: sampleClaim() });
      assert.deepEqual(await readAllClaims(transfer, NOW), [keptClaim(pet.id)]);
    },
  },
  {
    name: 'reads claims until the instant that they are kept until, and no longer',
    async run({ transfer, pets }) {
      await pets.add(samplePet(), { claim: sampleClaim() });
      assert.equal((await readAllClaims(transfer, new Date(END.getTime() - 1))).length, 1);
      assert.deepEqual(await readAllClaims(transfer, END), []);
    },
  },
  {
    name: 'reads every live claim exactly once in batches of the limit, whatever its texts',
    async run({ transfer }) {
      const claims = TOKENS.flatMap((scope) => TOKENS.map((token) => keptClaim(1n, { scope, token })));
      await write(transfer, petsWithIds(1n));
      await transfer.writeClaims([...claims, keptClaim(1n, { token: 'lapsed', keepUntil: NOW })]);
      const read: PetClaim[] = [];
      for (;;) {
        const batch = await transfer.readClaims({ after: read.at(-1), limit: 10, now: NOW });
        assert.equal(batch.length, Math.min(10, claims.length - read.length));
        if (batch.length === 0) break;
        read.push(...batch);
      }
      assert.deepEqual(
        new Map(read.map((claim) => [byText(claim), claim])),
        new Map(claims.map((claim) => [byText(claim), claim])),
      );
    },
  },
  {
    name: 'has a written claim honoured: the animal is replayed, and another fingerprint refused',
    async run({ transfer, pets }) {
      await write(transfer, petsWithIds(1n, 2n));
      await transfer.writeClaims([keptClaim(2n), keptClaim(1n, { token: 'another' })]);
      const replay = await pets.add(samplePet(), { claim: sampleClaim() });
      assert.deepEqual(replay, { pet: petWithId(2n), replayed: true });
      const claim = sampleClaim({ fingerprint: 'another fingerprint' });
      await rejectsWithCode(pets.add(samplePet(), { claim }), 'idempotency_key_reused');
    },
  },
  {
    name: 'has a written claim lapse when its time is over',
    async run({ transfer, pets }) {
      await write(transfer, petsWithIds(1n));
      await transfer.writeClaims([keptClaim(1n)]);
      const later = new Date(END.getTime() + 86_400_000);
      const { replayed } = await pets.add(samplePet(), {
        claim: sampleClaim({ now: END, keepUntil: later }),
      });
      assert.equal(replayed, false);
    },
  },
  {
    name: 'keeps a claim in the place of one with the same scope and token',
    async run({ transfer }) {
      await write(transfer, petsWithIds(1n, 2n));
      const newer = keptClaim(2n, { at: 5, fingerprint: 'another fingerprint' });
      await transfer.writeClaims([keptClaim(1n), keptClaim(1n, { token: 'other' })]);
      await transfer.writeClaims([newer]);
      const read = await readAllClaims(transfer, NOW);
      assert.equal(read.length, 2);
      assert.deepEqual(
        read.find(({ token }) => token === newer.token),
        newer,
      );
    },
  },
  {
    name: 'keeps its own copy of claims, dates included',
    async run({ transfer }) {
      await write(transfer, petsWithIds(1n));
      const given = keptClaim(1n);
      const writing = transfer.writeClaims([given]);
      given.keepUntil.setTime(0);
      await writing;
      for (const { keepUntil } of await readAllClaims(transfer, NOW)) keepUntil.setTime(0);
      assert.deepEqual(await readAllClaims(transfer, NOW), [keptClaim(1n)]);
    },
  },
  {
    name: 'writes claims of many scopes at once',
    async run({ transfer }) {
      await write(transfer, petsWithIds(1n));
      await Promise.all(
        times(5, (batch) =>
          transfer.writeClaims(
            times(20, (number) => keptClaim(1n, { scope: `${batch}`, token: `${number}` })),
          ),
        ),
      );
      assert.equal((await readAllClaims(transfer, NOW)).length, 100);
    },
  },
];

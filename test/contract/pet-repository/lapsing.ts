import { assert } from '../assert.js';
import type { Pet } from '../../../src/domain/pet.js';
import { samplePet, times } from '../samples.js';
import { sampleClaim } from './claiming.js';
import { listAll, type PetRepositoryCase } from './subject.js';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

export const lapsingCases: readonly PetRepositoryCase[] = [
  {
    name: 'honours a claim until one millisecond before its keepUntil',
    async run({ pets }) {
      const { pet } = await pets.add(samplePet(), { claim: sampleClaim() });
      const replay = await pets.add(samplePet(), { claim: sampleClaim({ at: DAY - 1 }) });
      assert.deepEqual(replay, { pet, replayed: true });
    },
  },
  {
    name: 'counts a claim as never made from its keepUntil on, for the same fingerprint',
    async run({ pets }) {
      const first = await pets.add(samplePet(), { claim: sampleClaim() });
      const second = await pets.add(samplePet(), { claim: sampleClaim({ at: DAY }) });
      assert.equal(second.replayed, false);
      assert.deepEqual(await listAll(pets), [first.pet, second.pet]);
    },
  },
  {
    name: 'counts a claim as never made from its keepUntil on, for another fingerprint',
    async run({ pets }) {
      await pets.add(samplePet(), { claim: sampleClaim() });
      const claim = sampleClaim({ at: DAY, fingerprint: 'another fingerprint' });
      assert.equal((await pets.add(samplePet(), { claim })).replayed, false);
      assert.equal((await pets.add(samplePet(), { claim })).replayed, true);
    },
  },
  {
    name: 'keeps a claim that was made again for as long as the later one says',
    async run({ pets }) {
      await pets.add(samplePet(), { claim: sampleClaim() });
      const { pet } = await pets.add(samplePet(), { claim: sampleClaim({ at: DAY }) });
      const before = await pets.add(samplePet(), { claim: sampleClaim({ at: 2 * DAY - 1 }) });
      assert.deepEqual(before, { pet, replayed: true });
      const after = await pets.add(samplePet(), { claim: sampleClaim({ at: 2 * DAY }) });
      assert.equal(after.replayed, false);
    },
  },
  {
    name: 'does not prolong a claim by replaying it',
    async run({ pets }) {
      await pets.add(samplePet(), { claim: sampleClaim() });
      await pets.add(samplePet(), { claim: sampleClaim({ at: DAY - 1 }) });
      const { replayed } = await pets.add(samplePet(), { claim: sampleClaim({ at: DAY }) });
      assert.equal(replayed, false);
    },
  },
  {
    name: 'lets each of many claims lapse at its own time, whatever the order in which they were made',
    async run({ pets }) {
      // Kept for 1 h, 24 h, 2 h, 23 h, ...: a store that clears away in order of making meets them mixed.
      const lifetimes = times(24, (number) => (number % 2 === 1 ? (number + 1) / 2 : 25 - number / 2) * HOUR);
      const claims = lifetimes.map((lifetime, index) => (at: number) => {
        const made = sampleClaim({ at, token: `token ${index}` });
        return { ...made, keepUntil: new Date(made.now.getTime() + lifetime) };
      });
      for (const claim of claims) await pets.add(samplePet(), { claim: claim(0) });

      const noon = 12 * HOUR;
      for (const [index, claim] of claims.entries()) {
        const { replayed } = await pets.add(samplePet(), { claim: claim(noon) });
        assert.equal(replayed, (lifetimes[index] ?? 0) > noon, `kept for ${lifetimes[index]} ms`);
      }
    },
  },
  {
    name: 'keeps a claim that was made again while many that lapsed with it were still to be cleared away',
    async run({ pets }) {
      // Each lapses a millisecond after the one before: whoever clears away a few at a time, in whatever order, comes
      // to the first, the last or the one in the middle late.
      const tokens = times(128, (number) => `token ${number}`);
      for (const [index, token] of tokens.entries()) {
        const { now: keepUntil } = sampleClaim({ at: HOUR + index });
        await pets.add(samplePet(), { claim: sampleClaim({ token, keepUntil }) });
      }

      const again = new Map<string, Pet>();
      for (const token of ['token 1', 'token 64', 'token 128']) {
        const { pet, replayed } = await pets.add(samplePet(), {
          claim: sampleClaim({ at: 2 * HOUR, token }),
        });
        assert.equal(replayed, false, `${token} has lapsed`);
        again.set(token, pet);
      }
      // Each of these may clear away a few.
      for (const number of tokens.keys()) {
        await pets.add(samplePet(), { claim: sampleClaim({ at: 3 * HOUR, token: `later token ${number}` }) });
      }
      for (const [token, pet] of again) {
        const replay = await pets.add(samplePet(), { claim: sampleClaim({ at: 4 * HOUR, token }) });
        assert.deepEqual(replay, { pet, replayed: true }, `${token} was made again, and is forgotten`);
      }
    },
  },
];

import type { Claim } from '../../../src/application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../../src/domain/errors.js';
import { savedPet, type Pet } from '../../../src/domain/pet.js';
import { broken, claimsOther, type PetRepositoryBite } from './broken.js';

export const claiming: readonly PetRepositoryBite[] = [
  broken(
    'forgets claims',
    'creates once for a claim and replays the animal exactly as it was created',
    (pets) => ({ add: (pet, { signal } = {}) => pets.add(pet, { signal }) }),
  ),
  broken(
    'does not tell a replay from a creation',
    'creates once for a claim and replays the animal exactly as it was created',
    (pets) => ({ add: async (pet, options) => ({ ...(await pets.add(pet, options)), replayed: false }) }),
  ),
  broken(
    'replays the animal of the repeated call',
    'goes by the fingerprint of a claim, not by the animal that comes with it',
    (pets) => ({
      async add(pet, options) {
        const added = await pets.add(pet, options);
        return { ...added, pet: savedPet(added.pet.id, pet) };
      },
    }),
  ),
  broken(
    'ignores the fingerprint of a claim',
    'refuses a claim with another fingerprint, keeps nothing of it, and goes on replaying the first',
    claimsOther((claim) => ({ ...claim, fingerprint: '' })),
  ),
  broken(
    'keeps the animal of a claim that it refuses',
    'refuses a claim with another fingerprint, keeps nothing of it, and goes on replaying the first',
    (pets) => ({
      async add(pet, options) {
        try {
          return await pets.add(pet, options);
        } catch (error) {
          if (error instanceof IdempotencyKeyReusedError) await pets.add(pet);
          throw error;
        }
      },
    }),
  ),
  broken(
    'ignores the scope of a claim',
    'keeps the same token of another scope apart',
    claimsOther((claim) => ({ ...claim, scope: '' })),
  ),
  broken(
    'ignores the token of a claim',
    'keeps another token of the same scope apart',
    claimsOther((claim) => ({ ...claim, token: '' })),
  ),
  broken(
    'joins scope and token with a colon',
    'keeps scopes and tokens apart that look alike when joined, folded, trimmed or normalised',
    claimsOther((claim) => ({ ...claim, scope: '', token: `${claim.scope}:${claim.token}` })),
  ),
  broken(
    'folds the case of tokens',
    'keeps scopes and tokens apart that look alike when joined, folded, trimmed or normalised',
    claimsOther((claim) => ({ ...claim, token: claim.token.toLowerCase() })),
  ),
  broken(
    'looks for a claim in one step and makes it in another',
    'keeps one animal for twenty simultaneous equal claims, and tells at most one caller that it is new',
    (pets) => {
      const made = new Map<string, Pet>();
      return {
        async add(pet, { claim } = {}) {
          const earlier = made.get(JSON.stringify(claim));
          if (earlier) return { pet: earlier, replayed: true };
          const added = await pets.add(pet);
          made.set(JSON.stringify(claim), added.pet);
          return added;
        },
      };
    },
  ),
  broken(
    'lets claims lapse a millisecond late',
    'counts a claim as never made from its keepUntil on, for the same fingerprint',
    claimsOther((claim) => ({ ...claim, now: new Date(claim.now.getTime() - 1) })),
  ),
  broken(
    'lets claims lapse a millisecond early',
    'honours a claim until one millisecond before its keepUntil',
    claimsOther((claim) => ({ ...claim, now: new Date(claim.now.getTime() + 1) })),
  ),
  broken('prolongs a claim by replaying it', 'does not prolong a claim by replaying it', (pets) => {
    const made = new Map<string, Claim>();
    return {
      add(pet, options = {}) {
        const { claim } = options;
        if (claim === undefined) return pets.add(pet, options);
        const key = JSON.stringify([claim.scope, claim.token]);
        const { now, keepUntil } = made.get(key) ?? claim;
        const asMade = claim.now < keepUntil ? { ...claim, now } : claim;
        made.set(key, { ...asMade, keepUntil: claim.keepUntil });
        return pets.add(pet, { ...options, claim: asMade });
      },
    };
  }),
  broken(
    'makes no claim again that has lapsed',
    'keeps a claim that was made again for as long as the later one says',
    (pets) => {
      const made = new Map<string, Date>();
      return {
        add(pet, options = {}) {
          const { claim, ...call } = options;
          if (claim === undefined) return pets.add(pet, call);
          const key = JSON.stringify([claim.scope, claim.token]);
          const keepUntil = made.get(key) ?? new Date(claim.keepUntil);
          made.set(key, keepUntil);
          return pets.add(pet, claim.now < keepUntil ? options : call);
        },
      };
    },
  ),
  broken(
    'lets all claims lapse at once',
    'lets each of many claims lapse at its own time, whatever the order in which they were made',
    claimsOther((claim) => ({ ...claim, keepUntil: new Date(claim.now.getTime() + 24 * 60 * 60 * 1000) })),
  ),
  broken(
    'clears lapsed claims away a dozen at a time, and with one the claim that was made again in its place',
    'keeps a claim that was made again while many that lapsed with it were still to be cleared away',
    (pets) => {
      let ends: readonly { readonly key: string; readonly keepUntil: Date }[] = [];
      const cleared = new Map<string, number>();
      return {
        async add(pet, options = {}) {
          const { claim } = options;
          if (claim === undefined) return pets.add(pet, options);
          const { scope, token, now } = claim;
          const keepUntil = new Date(claim.keepUntil);
          const lapsed = ends.filter((end) => end.keepUntil <= now).slice(0, 12);
          ends = ends.filter((end) => !lapsed.includes(end));
          for (const { key } of lapsed) cleared.set(key, (cleared.get(key) ?? 0) + 1);
          const key = JSON.stringify([scope, token]);
          // What was cleared away is as good as of another scope.
          const asKept = cleared.has(key) ? { ...claim, scope: `${scope} ${cleared.get(key)}` } : claim;
          const added = await pets.add(pet, { ...options, claim: asKept });
          if (!added.replayed) ends = [...ends, { key, keepUntil }];
          return added;
        },
      };
    },
  ),
];

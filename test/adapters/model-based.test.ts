import { expect } from 'chai';
import * as fc from 'fast-check';
import { join } from 'node:path';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.js';
import type { AddedPet, Claim, PetRange, PetRepository } from '../../src/application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import { nameFault, savedPet, unsavedPet, type Pet, type UnsavedPet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet.js';
import { temporaryFolder } from './sqlite/temporary-store.js';

type Command =
  | {
      readonly do: 'add';
      readonly pet: UnsavedPet;
      readonly token?: string | undefined;
      readonly life: number;
    }
  | { readonly do: 'find'; readonly nth: number }
  | {
      readonly do: 'list';
      readonly afterNth: number;
      readonly limit: number;
      readonly status?: Pet['status'] | undefined;
    }
  | { readonly do: 'wait'; readonly milliseconds: number }
  | { readonly do: 'reopen' };

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => nameFault(text) === undefined);
const status = fc.constantFrom(...PET_STATUSES);
const pet = fc.oneof(
  fc.record({ name, categoryId: fc.bigInt(INT64_MIN, INT64_MAX), status }).map(unsavedPet),
  fc.constantFrom('Rex', 'Bella').map((name) => unsavedPet({ name, categoryId: 7 })), // meets itself under a token
);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      pet,
      token: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
      life: fc.constantFrom(1, 50, 1000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('find' as const), nth: fc.nat(12) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      afterNth: fc.nat(12),
      limit: fc.integer({ min: 1, max: 8 }),
      status: fc.option(status, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      milliseconds: fc.constantFrom(1, 49, 50, 1000),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'reopen' as const }) },
);

/** What a store is, in a few lines: a Map of animals and one of claims. */
class Model {
  readonly pets = new Map<bigint, Pet>();
  readonly claims = new Map<string, { readonly claim: Claim; readonly pet: Pet }>();

  /** What adding must come to; for a new animal, one with the next id that the store chooses. */
  add(unsaved: UnsavedPet, claim: Claim | undefined, id: bigint): AddedPet | 'reused' {
    const earlier = claim && this.claims.get(claim.token);
    if (claim && earlier && earlier.claim.keepUntil > claim.now) {
      return earlier.claim.fingerprint === claim.fingerprint
        ? { pet: earlier.pet, replayed: true }
        : 'reused';
    }
    const added = savedPet(id, unsaved);
    this.pets.set(id, added);
    if (claim) this.claims.set(claim.token, { claim, pet: added });
    return { pet: added, replayed: false };
  }

  list({ after = 0n, limit, status }: PetRange): Pet[] {
    return [...this.pets.values()]
      .filter((one) => one.id > after && (status ?? one.status) === one.status)
      .slice(0, limit);
  }

  lastId(): bigint {
    return [...this.pets.keys()].at(-1) ?? 0n;
  }

  /** The id of the nth animal; one that none has when there are fewer. */
  idOf(nth: number): bigint {
    return [...this.pets.keys()][nth] ?? this.lastId() + 1n;
  }
}

async function follow(
  commands: readonly Command[],
  open: () => Promise<PetRepository>,
  reopens: boolean,
): Promise<void> {
  const model = new Model();
  let store = await open();
  let now = 1_000_000;
  try {
    for (const command of commands) {
      switch (command.do) {
        case 'add': {
          const { pet: unsaved, token, life } = command;
          const claim =
            token === undefined
              ? undefined
              : {
                  scope: 's',
                  token,
                  fingerprint: `${unsaved.name} ${unsaved.categoryId} ${unsaved.status}`,
                  now: new Date(now),
                  keepUntil: new Date(now + life),
                };
          const lastId = model.lastId();
          const outcome = await store.add(unsaved, { claim }).catch((error: unknown) => {
            if (error instanceof IdempotencyKeyReusedError) return 'reused' as const;
            throw error;
          });
          if (outcome !== 'reused' && !outcome.replayed) expect(outcome.pet.id > lastId).to.equal(true);
          const id = outcome === 'reused' ? lastId + 1n : outcome.pet.id;
          expect(outcome).to.deep.equal(model.add(unsaved, claim, id));
          break;
        }
        case 'find': {
          const id = model.idOf(command.nth);
          expect(await store.findById(id)).to.deep.equal(model.pets.get(id));
          break;
        }
        case 'list': {
          const range = { after: model.idOf(command.afterNth), limit: command.limit, status: command.status };
          expect(await store.list(range)).to.deep.equal(model.list(range));
          break;
        }
        case 'wait':
          now += command.milliseconds;
          break;
        case 'reopen':
          if (!reopens) break;
          await store.close();
          store = await open();
          break;
      }
    }
    expect(await store.list({ limit: 100 })).to.deep.equal(model.list({ limit: 100 }));
  } finally {
    await store.close();
  }
}

const always = (run: (commands: readonly Command[]) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30, size: 'max' }), run), {
    numRuns: 100,
  });

describe('whatever is done to it, a store answers as a plain Map does', () => {
  it('MemoryPetRepository', () =>
    always((commands) => follow(commands, async () => new MemoryPetRepository(), false)));

  it('SqlitePetRepository, closed and opened again in between', () =>
    always(async (commands) => {
      const folder = await temporaryFolder();
      const file = join(folder.path, 'animals.db');
      try {
        await follow(
          commands,
          async () => {
            const { pets, apiKeys } = await openSqliteStore(file);
            await apiKeys.close(); // closing the animals then closes the file
            return pets;
          },
          true,
        );
      } finally {
        await folder.remove();
      }
    }));
});

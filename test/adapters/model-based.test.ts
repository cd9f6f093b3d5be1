import { expect } from 'chai';
import * as fc from 'fast-check';
import { join } from 'node:path';
import { openMemoryStore } from '../../src/adapters/memory/open-memory-store.js';
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.js';
import type { AddedPet, Claim, PetRange } from '../../src/application/ports/pet-repository.js';
import type { Store } from '../../src/application/ports/store.js';
import { IdempotencyKeyReusedError } from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import {
  PET_RULES,
  PET_STATUSES,
  savedPet,
  unsavedPet,
  type Pet,
  type UnsavedPet,
} from '../../src/domain/pet.js';
import { temporaryFolder } from './sqlite/temporary-store.js';

type Command =
  | { do: 'add'; pet: UnsavedPet; key?: string | undefined; life: number }
  | { do: 'find'; nth: number }
  | { do: 'list'; afterNth: number; limit: number; status?: Pet['status'] | undefined }
  | { do: 'wait'; milliseconds: number }
  | { do: 'reopen' };

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => PET_RULES.name(text) === undefined);
const status = fc.constantFrom(...PET_STATUSES);
const pet = fc.oneof(
  fc.record({ name, categoryId: fc.bigInt(INT64_MIN, INT64_MAX), status }).map(unsavedPet),
  fc.constantFrom('Rex', 'Bella').map((name) => unsavedPet({ name, categoryId: 7 })), // repeats itself under a key
);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      pet,
      key: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
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

/** What a store does, in a few lines: a Map of animals and one of claims. */
class Model {
  readonly pets = new Map<bigint, Pet>();
  readonly claims = new Map<string, { readonly claim: Claim; readonly pet: Pet }>();

  /** The result of an add. `id` is the id that the store chose, if it stored the animal. */
  add(unsaved: UnsavedPet, claim: Claim | undefined, now: Date, id: bigint): AddedPet | 'reused' {
    const earlier = claim && this.claims.get(claim.key);
    if (claim && earlier && earlier.claim.keepUntil > now) {
      return earlier.claim.fingerprint === claim.fingerprint
        ? { pet: earlier.pet, replayed: true }
        : 'reused';
    }
    const added = savedPet(id, unsaved);
    this.pets.set(id, added);
    if (claim) this.claims.set(claim.key, { claim, pet: added });
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

  /** The id of the nth animal, or one that no animal has. */
  idOf(nth: number): bigint {
    return [...this.pets.keys()][nth] ?? this.lastId() + 1n;
  }
}

/** Runs the commands on a store and on the model, and compares every result. */
async function follow(commands: readonly Command[], open: () => Promise<Store>): Promise<void> {
  const model = new Model();
  let store = await open();
  let time = 1_000_000;
  try {
    for (const command of commands) {
      switch (command.do) {
        case 'add': {
          const { pet: unsaved, key, life } = command;
          const fingerprint = `${unsaved.name} ${unsaved.categoryId} ${unsaved.status}`;
          const claim =
            key === undefined
              ? undefined
              : { scope: 's', key, fingerprint, keepUntil: new Date(time + life) };
          const now = new Date(time);
          const lastId = model.lastId();
          const outcome = await store.pets.add(unsaved, { claim, now }).catch((error: unknown) => {
            if (error instanceof IdempotencyKeyReusedError) return 'reused' as const;
            throw error;
          });
          if (outcome !== 'reused' && !outcome.replayed) expect(outcome.pet.id > lastId).to.equal(true);
          const id = outcome === 'reused' ? lastId + 1n : outcome.pet.id;
          expect(outcome).to.deep.equal(model.add(unsaved, claim, now, id));
          break;
        }
        case 'find': {
          const id = model.idOf(command.nth);
          expect(await store.pets.findById(id)).to.deep.equal(model.pets.get(id));
          break;
        }
        case 'list': {
          const range = { after: model.idOf(command.afterNth), limit: command.limit, status: command.status };
          expect(await store.pets.list(range)).to.deep.equal(model.list(range));
          break;
        }
        case 'wait':
          time += command.milliseconds;
          break;
        case 'reopen':
          if (!store.pets.capabilities.durable) break;
          await store.close();
          store = await open();
          break;
      }
    }
    expect(await store.pets.list({ limit: 100 })).to.deep.equal(model.list({ limit: 100 }));
  } finally {
    await store.close();
  }
}

const always = (run: (commands: readonly Command[]) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30, size: 'max' }), run), {
    numRuns: 100,
  });

describe('whatever commands it gets, a store answers like a plain Map', () => {
  it('in memory', () => always((commands) => follow(commands, async () => openMemoryStore())));

  it('in SQLite, closed and opened again in between', () =>
    always(async (commands) => {
      const folder = await temporaryFolder();
      try {
        await follow(commands, () => openSqliteStore(join(folder.path, 'animals.db')));
      } finally {
        await folder.remove();
      }
    }));
});

import { expect } from 'chai';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { ApiKeyRecord } from '../../src/application/ports/api-key-repository.js';
import type { CompleteStore, Store } from '../../src/application/ports/store.js';
import { petWithId, type Pet } from '../../src/domain/pet.js';
import { CopyError, copyCatalogue, type CopiedCatalogue } from '../../src/index.js';
import { rejectionOf } from '../contract/rejection.js';
import {
  FULL_PET,
  fullApiKey,
  sampleApiKey,
  sampleClaim,
  samplePet,
  times,
} from '../contract/samples.js';

const NOW = 1_750_000_000_000;

const claim = (key: string, until = 1) => ({
  ...sampleClaim({ key, keepUntil: NOW + until }),
  petId: 3n,
});

/** A store with 23 animals whose ids have gaps, 7 live claims and an expired one, 2 keys, and ids reserved up to 100. */
async function filled(): Promise<CompleteStore> {
  const store = openMemoryStore();
  await store.transfer.writePets(
    times(23, (number) => petWithId(BigInt(3 * number), { ...FULL_PET, name: `Pet ${number}` })),
  );
  await store.transfer.writeClaims([
    ...times(7, (number) => claim(`key ${number}`)),
    claim('expired', 0),
  ]);
  for (const apiKey of [sampleApiKey(), fullApiKey()]) await store.apiKeys.add(apiKey);
  await store.transfer.reserveIds(100n);
  return store;
}

const contentsOf = async ({ pets, apiKeys, transfer }: CompleteStore) => ({
  pets: await pets.list({ limit: 5000 }),
  apiKeys: await apiKeys.list(),
  claims: await transfer.readClaims({ limit: 5000, now: NOW }),
  survey: await transfer.survey(),
});

/** The same store with operations of one port replaced. */
const altered = <Name extends 'pets' | 'apiKeys' | 'transfer'>(
  store: CompleteStore,
  name: Name,
  operations: Partial<CompleteStore[Name]>,
): CompleteStore => ({ ...store, [name]: { ...store[name], ...operations } });

async function faultOf(copying: Promise<unknown>): Promise<string> {
  const error = await rejectionOf(copying);
  expect(error).to.be.instanceOf(CopyError).with.property('name', 'CopyError');
  return (error as CopyError).message;
}

const noDisk = () => Promise.reject(new Error('no disk'));

const noUnmarking = async (isUnfinished: boolean): Promise<void> => {
  if (!isUnfinished) await noDisk();
};

describe('copyCatalogue', () => {
  let source: CompleteStore;
  let target: CompleteStore;
  beforeEach(async () => {
    source = await filled();
    target = openMemoryStore();
  });

  const copy = (
    options: Partial<Parameters<typeof copyCatalogue>[0]> = {},
  ): Promise<CopiedCatalogue> =>
    copyCatalogue({ source, target, clock: { now: () => new Date(NOW) }, ...options });

  /** Writes before each key, which are copied last, before the two stores are compared. */
  const withKeysAfter = (write: () => Promise<unknown>) =>
    altered(target, 'apiKeys', { add: (apiKey) => write().then(() => target.apiKeys.add(apiKey)) });

  /** The copy must name the difference and leave the mark of an unfinished copy. */
  async function findsDifference(where: string, given: CompleteStore): Promise<void> {
    expect(await faultOf(copy({ target: given }))).to.equal(
      `The target differs from the source (${where}). Stop all writes to the source, and copy again into a new target.`,
    );
    expect(await target.transfer.isUnfinished()).to.equal(true);
  }

  it('copies animals under their ids, API keys, live claims and the greatest id', async () => {
    const report = await copy();

    expect(report).to.deep.equal({ pets: 23, claims: 7, apiKeys: 2, lastId: 100n });
    expect(await contentsOf(target)).to.deep.equal(await contentsOf(source));
    expect(await target.transfer.readClaims({ limit: 1000, now: 0 })).to.have.length(7);
    expect((await target.pets.add(samplePet())).id).to.equal(101n);
  });

  for (const count of [0, 1, 999, 1000, 1001, 2000]) {
    it(`copies ${count} animals and claims in batches of 1,000, and finds one animal more in the target`, async () => {
      source = openMemoryStore();
      await source.apiKeys.add(fullApiKey());
      await source.transfer.writePets(
        times(count, (number) => petWithId(BigInt(number), FULL_PET)),
      );
      await source.transfer.writeClaims(
        times(count, (number) => ({ ...claim(`${number}`), petId: 1n })),
      );

      expect(await copy()).to.include({ pets: count, claims: count });
      expect(await contentsOf(target)).to.deep.equal(await contentsOf(source));

      target = openMemoryStore();
      const addAnimal = () => target.transfer.writePets([petWithId(3000n, FULL_PET)]);

      await findsDifference('animal 3000', withKeysAfter(addAnimal));
    });
  }

  it('copies a store without keys, and the claims and the greatest id of animals that were all removed', async () => {
    source = openMemoryStore();
    await source.transfer.reserveIds(5n);
    await source.transfer.writeClaims([claim('key')]);

    expect(await copy()).to.deep.equal({ pets: 0, claims: 1, apiKeys: 0, lastId: 5n });
    expect(await contentsOf(target)).to.deep.equal(await contentsOf(source));
  });

  it('marks the target as unfinished from before the first write until it was compared, and refuses it as a source', async () => {
    const marked: Array<Promise<boolean>> = [];
    const look = (): void => {
      marked.push(target.transfer.isUnfinished());
    };
    const watched = altered(target, 'transfer', {
      reserveIds(last) {
        look();
        return target.transfer.reserveIds(last);
      },
    });
    await copy({ target: watched, onProgress: look });
    look();

    expect(await Promise.all(marked)).to.deep.equal([true, true, true, false]);

    await source.transfer.markUnfinished(true);
    target = openMemoryStore();

    expect(await faultOf(copy())).to.equal(
      'The source is itself a copy that has not finished. Nothing was written.',
    );
    expect(await contentsOf(target)).to.deep.equal(await contentsOf(openMemoryStore()));
  });

  for (const [what, fill] of Object.entries({
    'a key': (store: CompleteStore) => store.apiKeys.add(sampleApiKey()),
    'an animal that was removed': async (store: CompleteStore) => {
      const pet = await store.pets.add(samplePet());
      await store.changes.remove(pet.id, [pet.status]);
    },
    'everything of the source, because it is the source': async () => {
      target = source;
    },
  })) {
    it(`refuses a target with ${what}, and writes nothing`, async () => {
      await fill(target);
      const before = await contentsOf(target);

      expect(await faultOf(copy())).to.match(
        /^The target is not empty, or .*: choose a new one\. Nothing was written\.$/,
      );
      expect(await contentsOf(target)).to.deep.equal(before);
    });
  }

  it('refuses stores that cannot be copied', async () => {
    for (const lacking of ['apiKeys', 'transfer']) {
      const partial: Store = { ...source, [lacking]: undefined };
      for (const stores of [{ source: partial }, { target: partial }])
        expect(await faultOf(copy(stores))).to.match(/^One of the stores does not support copying/);
    }
  });

  it('rejects with the error of any write that fails, and reserves the ids before it writes animals', async () => {
    for (const [port, operations, lastId] of [
      ['transfer', { markUnfinished: noDisk }, 0n],
      ['transfer', { reserveIds: noDisk }, 0n],
      ['transfer', { writePets: noDisk }, 100n],
      ['transfer', { writeClaims: noDisk }, 100n],
      ['apiKeys', { add: noDisk }, 100n],
      ['transfer', { markUnfinished: noUnmarking }, 100n],
    ] as const) {
      target = openMemoryStore();
      const failing = altered(target, port, operations);
      const failed = `${port} that fails in ${Object.keys(operations).join()}`;
      expect(String(await rejectionOf(copy({ target: failing }))), failed).to.include('no disk');
      expect(await target.transfer.survey(), failed).to.have.property('lastId', lastId);
    }
  });

  /** What becomes of each animal on its way into the target. */
  const CHANGES: Readonly<Record<string, (pet: Pet) => readonly Pet[]>> = {
    'an animal was lost': (pet) => (pet.id === 9n ? [] : [pet]),
    'the last animal was lost': (pet) => (pet.id === 69n ? [] : [pet]),
    'ids were shifted by one': (pet) => [pet.id < 9n ? pet : petWithId(pet.id + 1n, pet)],
    ...Object.fromEntries(
      Object.entries({ name: 'x', categoryId: 0n, status: 'sold' }).map(([field, value]) => [
        `an animal was stored with another ${field}`,
        (pet: Pet) => [pet.id === 9n ? { ...pet, [field]: value } : pet],
      ]),
    ),
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    it(`finds that ${what}, and names it`, async () => {
      const failing = altered(target, 'transfer', {
        writePets: (pets) => target.transfer.writePets(pets.flatMap(change)),
      });
      const isLast = what.includes('last');

      await findsDifference(`animal ${isLast ? 69 : 9}`, failing);
    });
  }

  it('rejects at once when the pages of a store make no progress, instead of copying for ever', async () => {
    await source.transfer.writePets(
      times(1000, (number) => petWithId(BigInt(1000 + number), FULL_PET)),
    );
    let reads = 0;
    const once = <Value>(value: Value): Value => {
      reads += 1;
      if (reads > 4) throw new Error('it goes on reading');
      return value;
    };

    for (const [what, given] of Object.entries({
      'The page after 1977 begins with 1977': altered(source, 'pets', {
        list: ({ after = 1n, ...range }) => source.pets.list(once({ after: after - 1n, ...range })),
      }),
      'The page after 1977 begins with 3': altered(source, 'pets', {
        list: ({ limit }) => source.pets.list(once({ limit })),
      }),
      'The claims after a claim include it': altered(source, 'transfer', {
        readClaims: ({ limit, now }) => source.transfer.readClaims(once({ limit, now })),
      }),
    })) {
      reads = 0;
      target = openMemoryStore();
      expect(String(await rejectionOf(copy({ source: given })))).to.include(what);
    }
  });

  it('takes so long that claims expire meanwhile, which the target deletes: that is no difference', async () => {
    await source.transfer.writeClaims([claim('lasting', 2)]);
    let now = NOW;
    const sweeping = altered(target, 'transfer', {
      writeClaims: async (claims) => {
        now = NOW + 1;
        await target.transfer.writeClaims(claims.filter(({ keepUntil }) => keepUntil > now));
      },
    });

    expect(await copy({ target: sweeping, clock: { now: () => new Date(now) } })).to.include({
      claims: 8,
    });
  });

  it('finds that claims were lost', async () => {
    const failing = altered(target, 'transfer', { writeClaims: async () => {} });
    await findsDifference('number of idempotency keys', failing);
  });

  it('finds that a key was lost, or an optional field of one', async () => {
    await source.apiKeys.add(sampleApiKey({ id: 'k0', createdAt: 0 })); // the first has no optional field
    for (const add of [
      async () => true,
      (apiKey: ApiKeyRecord) => target.apiKeys.add({ ...apiKey, expiresAt: undefined }),
    ]) {
      target = openMemoryStore();
      await findsDifference('API keys', altered(target, 'apiKeys', { add }));
    }
  });

  it('compares 100,000 keys', async () => {
    const keys = Array<ApiKeyRecord>(100_000).fill(fullApiKey());
    const listed = [await target.apiKeys.list(), keys];
    const many = altered(source, 'apiKeys', { list: async () => keys });
    const same = altered(target, 'apiKeys', {
      add: async () => true,
      list: async () => listed.shift() ?? [],
    });

    const copied = await copy({ source: many, target: same });

    expect(copied).to.include({ apiKeys: 100_000 });
  });

  for (const [what, where, write] of [
    ['an animal was added', 'animal 101', (store: CompleteStore) => store.pets.add(samplePet())],
    [
      'a key was added',
      'API keys',
      (store: CompleteStore) => store.apiKeys.add(sampleApiKey({ id: 'k9' })),
    ],
    ['a key was revoked', 'API keys', (store: CompleteStore) => store.apiKeys.revoke('k1', NOW)],
  ] as const) {
    it(`finds that ${what} to the source meanwhile`, async () => {
      const meanwhile = withKeysAfter(() => write(source));
      await findsDifference(where, meanwhile);
    });
  }

  it('reports after every batch how many animals are copied, then how many copied and compared', async () => {
    await source.transfer.writePets(
      times(1001, (number) => petWithId(BigInt(1000 + number), FULL_PET)),
    );
    const reported: number[] = [];
    await copy({ onProgress: (done) => reported.push(done) });

    expect(reported).to.deep.equal([1000, 1024, 2024, 2048]);
  });

  for (const [phase, at] of Object.entries({ copying: 23, comparing: 46 })) {
    it(`rejects with the reason of a signal that is aborted while it is ${phase}, and leaves the mark`, async () => {
      const stop = new AbortController();
      const onProgress = (done: number): void => {
        if (done === at) stop.abort('enough');
      };

      expect(await rejectionOf(copy({ signal: stop.signal, onProgress }))).to.equal('enough');
      expect(await target.transfer.isUnfinished()).to.equal(true);
    });
  }
});

import { assert, expect } from 'chai';
import { MemoryApiKeyRepository } from '../../src/adapters/memory/memory-api-key-repository.js';
import { MemoryCatalogue } from '../../src/adapters/memory/memory-catalogue.js';
import { MemoryCatalogueTransfer } from '../../src/adapters/memory/memory-catalogue-transfer.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { copyCatalogue, type CopyProgress } from '../../src/application/copy-catalogue.js';
import { CopyError, type CopyFault } from '../../src/application/copy-error.js';
import type { CatalogueTransfer } from '../../src/application/ports/catalogue-transfer.js';
import { savedPet } from '../../src/domain/pet.js';
import { fullKey, sampleKey } from '../contract/api-key-repository/subject.js';
import { times } from '../contract/samples.js';

const NOW = new Date(1_750_000_000_000);
const clock = { now: () => NOW };

const rex = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;

const claim = (token: string, until = 1) => ({
  scope: 'a key',
  token,
  fingerprint: 'rex',
  petId: 3n,
  keepUntil: new Date(NOW.getTime() + until),
});

/** A store in memory, to look into and to spoil. */
class Store {
  readonly catalogue = new MemoryCatalogue();
  readonly transfer: CatalogueTransfer = new MemoryCatalogueTransfer(this.catalogue);
  readonly pets = new MemoryPetRepository(this.catalogue);
  readonly keys = new MemoryApiKeyRepository(this.catalogue);

  /** All that is kept. */
  get all(): object {
    const { pets, claims, apiKeys, lastId } = this.catalogue;
    return { pets, claims: [...claims.values()], apiKeys: Object.fromEntries(apiKeys), lastId };
  }
}

/** 23 animals with gaps between their ids, claims, keys, and ids that went beyond them. */
async function filled(): Promise<Store> {
  const store = new Store();
  const { transfer } = store;
  await transfer.writePets(
    times(23, (number) => savedPet(BigInt(3 * number), { ...rex, name: `Pet ${number}` })),
  );
  await transfer.writeClaims(times(7, (number) => claim(`token ${number}`)));
  await transfer.writeApiKeys([sampleKey(), fullKey()]);
  await transfer.reserveIds(100n);
  return store;
}

/** A transfer that does as `change` says, and else as the one it wraps. */
const altered = (transfer: CatalogueTransfer, change: Partial<CatalogueTransfer>): CatalogueTransfer => ({
  survey: (call) => transfer.survey(call),
  readPets: (batch, call) => transfer.readPets(batch, call),
  writePets: (pets, call) => transfer.writePets(pets, call),
  readClaims: (batch, call) => transfer.readClaims(batch, call),
  writeClaims: (claims, call) => transfer.writeClaims(claims, call),
  readApiKeys: (call) => transfer.readApiKeys(call),
  writeApiKeys: (keys, call) => transfer.writeApiKeys(keys, call),
  reserveIds: (last, call) => transfer.reserveIds(last, call),
  close: () => transfer.close(),
  ...change,
});

/** Lets so many writes through, and then none: as a process that ends there. */
function endingAfter(writes: number, { transfer }: Store): CatalogueTransfer {
  let left = writes;
  const write =
    <T>(work: (values: T) => Promise<void>) =>
    async (values: T): Promise<void> => {
      if (left === 0) throw new Error('the process ended');
      left -= 1;
      await work(values);
    };
  return altered(transfer, {
    writePets: write((pets) => transfer.writePets(pets)),
    writeClaims: write((claims) => transfer.writeClaims(claims)),
    writeApiKeys: write((keys) => transfer.writeApiKeys(keys)),
    reserveIds: write((last) => transfer.reserveIds(last)),
  });
}

/** A transfer that says what store it is on. */
const named = (transfer: CatalogueTransfer, store: string): CatalogueTransfer =>
  altered(transfer, { survey: async (call) => ({ ...(await transfer.survey(call)), store }) });

async function faultOf(copying: Promise<unknown>): Promise<CopyFault> {
  const [result] = await Promise.allSettled([copying]);
  assert(result.status === 'rejected' && result.reason instanceof CopyError, JSON.stringify(result));
  return result.reason.fault;
}

describe('copyCatalogue', () => {
  let source: Store;
  let target: Store;
  beforeEach(async () => {
    source = await filled();
    target = new Store();
  });

  const copy = (options: Parameters<ReturnType<typeof copyCatalogue>>[0] = {}, ports = {}) =>
    copyCatalogue({ source: source.transfer, target: target.transfer, clock, ...ports })({
      batchSize: 5,
      ...options,
    });

  it('copies animals under their ids, live claims, keys, and how far the ids went', async () => {
    const report = await copy();
    expect(target.all).to.deep.equal(source.all);
    const { checksum, ...counts } = report;
    expect(counts).to.deep.equal({ pets: 23, written: 23, claims: 7, apiKeys: 2, lastId: 100n });
    expect(checksum).to.match(/^[0-9a-f]{64}$/);
    expect((await target.pets.add(rex)).pet.id).to.equal(101n);
  });

  it('leaves lapsed claims behind', async () => {
    await source.transfer.writeClaims([claim('lapsed', 0)]);
    expect(await copy()).to.include({ claims: 7 });
    expect([...target.catalogue.claims.values()].map(({ token }) => token)).to.not.include('lapsed');
  });

  it('copies a store that has keys only', async () => {
    source = new Store();
    await source.keys.add(fullKey());
    expect(await copy()).to.deep.include({ pets: 0, apiKeys: 1, lastId: 0n, checksum: '0'.repeat(64) });
    expect(target.all).to.deep.equal(source.all);
  });

  it('gives the same checksum whatever the batches are, and another for any other animal', async () => {
    const { checksum } = await copy();
    target = new Store();
    expect(await copy({ batchSize: 1000 })).to.include({ checksum });
    await source.pets.add(rex);
    expect((await copy({ resume: true })).checksum).to.not.equal(checksum);
  });

  it('gives a checksum that can be computed from its definition', async () => {
    const line = '["3","Pet 1","7","sold"]\n';
    source.catalogue.pets.splice(1);
    const { checksum } = await copy();
    const bytes = Uint8Array.from([...new Uint8Array(32), ...new TextEncoder().encode(line)]);
    expect(checksum).to.equal(Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex'));
  });

  it('refuses a store as its own target', async () => {
    expect(await faultOf(copy({ resume: true }, { target: source.transfer }))).to.equal('same_store');
  });

  it('refuses a store as its own target also by another handle, where the stores say what they are', async () => {
    const ports = { source: named(source.transfer, 'one'), target: named(source.transfer, 'one') };
    expect(await faultOf(copy({ resume: true }, ports))).to.equal('same_store');
    await copy({}, { source: named(source.transfer, 'one'), target: named(target.transfer, 'other') });
  });

  it('refuses a source that holds nothing: it may be the wrong one', async () => {
    source = new Store();
    await source.transfer.reserveIds(5n);
    expect(await faultOf(copy())).to.equal('source_empty');
    expect(target.all).to.deep.equal(new Store().all);
  });

  for (const [what, fill] of [
    ['an animal', (store: Store) => store.pets.add(rex)],
    ['a key', (store: Store) => store.keys.add(sampleKey())],
  ] as const) {
    it(`refuses a target with ${what}, and writes nothing to it`, async () => {
      await fill(target);
      const before = structuredClone(target.all);
      expect(await faultOf(copy())).to.equal('target_not_empty');
      expect(target.all).to.deep.equal(before);
    });
  }

  describe('resumed', () => {
    // Ids, five batches of animals, two of claims, keys.
    for (const writes of times(9, (number) => number - 1)) {
      it(`completes a copy that ended after ${writes} writes`, async () => {
        const [ended] = await Promise.allSettled([copy({}, { target: endingAfter(writes, target) })]);
        expect(ended).to.have.property('reason').with.property('message', 'the process ended');
        const there = target.catalogue.pets.length;
        expect(target.catalogue.pets).to.deep.equal(source.catalogue.pets.slice(0, there));
        expect(await copy({ resume: true })).to.include({ pets: 23, written: 23 - there, claims: 7 });
        expect(target.all).to.deep.equal(source.all);
      });
    }

    it('never lets an id of the source be assigned by the target, however early it ended', async () => {
      await Promise.allSettled([copy({}, { target: endingAfter(2, target) })]);
      expect((await target.pets.add(rex)).pet.id).to.equal(101n);
    });

    it('fills the holes of a batch of which only a part was kept', async () => {
      await target.transfer.writePets(source.catalogue.pets.filter((_, index) => index < 6 || index === 8));
      expect(await copy({ resume: true })).to.include({ pets: 23, written: 17 });
      expect(target.all).to.deep.equal(source.all);
    });

    it('brings what was added to the source, and changed in its keys, since an earlier copy', async () => {
      await copy();
      await source.pets.add(rex);
      await source.keys.update('k1', (key) => ({ ...key, revokedAt: NOW }));
      expect(await copy({ resume: true })).to.include({ pets: 24, written: 1 });
      expect(target.all).to.deep.equal(source.all);
    });

    it('writes nothing when nothing is missing', async () => {
      await copy();
      expect(await copy({ resume: true })).to.include({ pets: 23, written: 0 });
    });

    const FOREIGN: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
      'an animal that the source does not have': ({ transfer }) =>
        transfer.writePets([savedPet(7n, { ...rex })]),
      'an animal beyond those of the source': ({ pets }) => pets.add(rex),
      'a key that the source does not have': ({ keys }) => keys.add(sampleKey({ id: 'own' })),
      'a key that only the target revoked': ({ keys }) =>
        keys.update('k1', (key) => ({ ...key, revokedAt: NOW })),
      'another key under the same id': ({ transfer }) =>
        transfer.writeApiKeys([sampleKey({ hash: 'f'.repeat(64) })]),
    };
    for (const [what, spoil] of Object.entries(FOREIGN)) {
      it(`refuses a target with ${what}, and writes nothing to it`, async () => {
        await copy();
        target.catalogue.pets.splice(20);
        await spoil(target);
        const before = structuredClone(target.all);
        expect(await faultOf(copy({ resume: true }))).to.equal('target_differs');
        expect(target.all).to.deep.equal(before);
      });
    }

    for (const fields of [{ name: 'Other' }, { categoryId: 8n }, { status: 'pending' }] as const) {
      it(`refuses a target in which an animal has another ${Object.keys(fields).join()}`, async () => {
        await target.transfer.writePets([savedPet(6n, { ...rex, name: 'Pet 2', ...fields })]);
        expect(await faultOf(copy({ resume: true }))).to.equal('target_differs');
      });
    }
  });

  it('never lets an id be assigned that the source assigned while it was copied', async () => {
    let adding: Promise<unknown> | undefined;
    await Promise.allSettled([copy({ onProgress: () => void (adding ??= source.pets.add(rex)) })]);
    await adding;
    expect(target.catalogue.pets.at(-1)?.id).to.equal(101n);
    expect((await target.pets.add(rex)).pet.id).to.equal(102n);
  });

  describe('says that the source is still written to', () => {
    const WRITES: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
      'when an animal was added': ({ pets }) => pets.add(rex),
      'when a key was added': ({ keys }) => keys.add(sampleKey({ id: 'k9' })),
      'when a key was revoked': ({ keys }) => keys.update('k1', (key) => ({ ...key, revokedAt: NOW })),
    };
    for (const [when, write] of Object.entries(WRITES)) {
      for (const phase of ['copying', 'verifying'] as const) {
        it(`${when} while it was ${phase}; resumed, the copy is complete`, async () => {
          let pending: Promise<unknown> | undefined;
          const onProgress = (progress: CopyProgress): void => {
            if (progress.phase === phase) pending ??= write(source);
          };
          expect(await faultOf(copy({ onProgress }))).to.equal('source_changed');
          await pending;
          await copy({ resume: true });
          expect(target.all).to.deep.equal(source.all);
        });
      }
    }
  });

  describe('finds a target that does not hold what it was given:', () => {
    const FAULTS: Readonly<Record<string, () => Partial<CatalogueTransfer>>> = {
      'an animal is lost': () => ({
        writePets: (pets) => target.transfer.writePets(pets.filter(({ id }) => id !== 9n)),
      }),
      'an animal is changed': () => ({
        writePets: (pets) =>
          target.transfer.writePets(pets.map((pet) => (pet.id === 9n ? savedPet(9n, rex) : pet))),
      }),
      'two animals are exchanged': () => ({
        writePets: (pets) =>
          target.transfer.writePets(
            pets.map((pet) => (pet.id === 6n || pet.id === 9n ? savedPet(15n - pet.id, pet) : pet)),
          ),
      }),
      'a claim is lost': () => ({
        writeClaims: (claims) => target.transfer.writeClaims(claims.slice(1)),
      }),
      'a key is lost': () => ({ writeApiKeys: (keys) => target.transfer.writeApiKeys(keys.slice(1)) }),
      'a key is changed': () => ({
        writeApiKeys: (keys) => target.transfer.writeApiKeys(keys.map((key) => ({ ...key, scopes: [] }))),
      }),
    };
    for (const [what, fault] of Object.entries(FAULTS)) {
      it(what, async () => {
        const copying = copy({}, { target: altered(target.transfer, fault()) });
        expect(await faultOf(copying)).to.equal('not_verified');
      });
    }
  });

  it('tells after every batch how far it is, phase by phase', async () => {
    const told: CopyProgress[] = [];
    await target.transfer.writePets(source.catalogue.pets.slice(0, 7));
    await copy({ resume: true, batchSize: 10, onProgress: (progress) => told.push(progress) });
    expect(told.map(({ phase, done, total }) => `${phase} ${done}/${total}`)).to.deep.equal([
      'comparing 7/7',
      'copying 10/16',
      'copying 16/16',
      'verifying 10/46',
      'verifying 20/46',
      'verifying 23/46',
      'verifying 33/46',
      'verifying 43/46',
      'verifying 46/46',
    ]);
  });

  for (const phase of ['comparing', 'copying', 'verifying'] as const) {
    it(`ends with the reason of a signal that is aborted while it is ${phase}, and can be resumed`, async () => {
      await target.transfer.writePets(source.catalogue.pets.slice(0, 10));
      const stop = new AbortController();
      const reason = new Error('enough');
      const onProgress = (progress: CopyProgress): void => {
        if (progress.phase === phase) stop.abort(reason);
      };
      const [ended] = await Promise.allSettled([copy({ resume: true, signal: stop.signal, onProgress })]);
      expect(ended).to.deep.equal({ status: 'rejected', reason });
      await copy({ resume: true });
      expect(target.all).to.deep.equal(source.all);
    });
  }

  it('writes nothing once its signal is aborted', async () => {
    const signal = AbortSignal.abort(new Error('never'));
    const [ended] = await Promise.allSettled([copy({ signal })]);
    expect(ended).to.deep.equal({ status: 'rejected', reason: signal.reason });
    expect(target.all).to.deep.equal(new Store().all);
  });
});

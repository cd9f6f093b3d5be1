import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { expect } from 'chai';
import {
  ApiKeyAuthenticator,
  ManagedApiKeys,
  apiKeyGenerator,
} from '../../src/adapters/api-keys/index.js';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { SCOPES } from '../../src/application/ports/authenticator.js';
import type { PetChanges } from '../../src/application/ports/pet-changes.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import {
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
} from '../../src/domain/errors.js';
import {
  copyCatalogue,
  createAnimalStore,
  importPets,
  type ImportReport,
  type ImportRow,
  type Pet,
} from '../../src/index.js';
import { animalStoreTests } from '../contract/index.js';
import { rejectionOf } from '../contract/rejection.js';
import { samplePet } from '../contract/samples.js';

const HOUR = 60 * 60 * 1000;
const START = new Date();
const fido = { name: 'Fido', categoryId: 1n };
const idempotencyKey = { scope: 'a scope', key: 'a key' };

/** An animal store whose clock stands still, and what its repository was asked to add with. */
function observed() {
  const { pets } = openMemoryStore();
  const asked: Parameters<typeof pets.addOnce>[] = [];
  const observing: PetRepository = {
    ...pets,
    addOnce(...given) {
      asked.push(given);
      return pets.addOnce(...given);
    },
  };
  const clock = { time: START, now: () => clock.time };
  return { animalStore: createAnimalStore({ pets: observing, clock }), asked, clock };
}

/** An operation that rejects with its options. */
const rejects = (...given: unknown[]) => Promise.reject(given.at(-1));

describe('The use cases', () => {
  animalStoreTests({
    describe,
    it,
    async open() {
      const store = openMemoryStore();
      return { animalStore: createAnimalStore(store), close: store.close };
    },
  });

  const animalStore = createAnimalStore({ pets: {} as PetRepository }); // a call would be a TypeError

  it('do not call the repository when the call is not valid, and reject with the class of the fault', async () => {
    for (const [call, expected] of [
      [animalStore.listPets({ limit: 0 }), InvalidParameterError],
      [animalStore.listPets({ after: 2n ** 63n }), InvalidParameterError],
      [animalStore.createPet({ ...fido, name: '' }), InvalidPetError],
      [animalStore.getPet(1.5), InvalidParameterError],
      [animalStore.getPet(2n ** 63n), PetNotFoundError],
    ] as const) {
      expect(await rejectionOf(call)).to.be.instanceOf(expected);
    }
  });

  it('pass the signal of a call on to the store', async () => {
    const ports = {
      add: rejects,
      addOnce: rejects,
      findById: rejects,
      list: rejects,
      change: rejects,
      remove: rejects,
    };
    const port = ports as unknown as PetRepository & PetChanges;
    const rejecting = createAnimalStore({ pets: port, changes: port });
    const { signal } = new AbortController();

    for (const call of [
      rejecting.listPets({}, { signal }),
      rejecting.createPet(fido, { signal }),
      rejecting.getPet(1n, { signal }),
      rejecting.changePet(1n, { status: 'sold' }, { signal }),
      rejecting.removePet(1n, { signal }),
      rejecting.createPet(fido, { idempotencyKey, signal }), // the last: it first makes a digest
    ])
      expect(await rejectionOf(call)).to.have.property('signal', signal);
  });

  it('name every fault of a query, and that of an id', async () => {
    const message = 'The call is not valid: id must be a bigint or a safe integer.';

    expect(await rejectionOf(animalStore.getPet(1.5))).to.have.property('message', message);

    const error = await rejectionOf(animalStore.listPets({ limit: 101, status: 'gone' as 'sold' }));

    expect(error).to.have.deep.property('faults', [
      { field: 'limit', message: 'must be an integer from 1 to 100' },
      { field: 'status', message: 'must be one of available, pending, sold' },
    ]);
  });
});

const isCallOptions = (arg: object): boolean => Object.keys(arg).join() === 'signal';

const isObject = (arg: unknown): arg is object => typeof arg === 'object' && arg !== null;

describe('The core hands over values that cannot change:', () => {
  /** What a port was given, its parts included. */
  const given: unknown[] = [];
  const watching = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(_, name) {
        const operation = Reflect.get(port, name) as (...args: unknown[]) => unknown;
        if (typeof operation !== 'function') return operation;
        return (...args: unknown[]) => {
          for (const arg of args.filter(isObject))
            if (!isCallOptions(arg)) given.push(arg, ...Object.values(arg));
          return operation(...args);
        };
      },
    });
  beforeEach(() => {
    given.length = 0;
  });

  const { pets, changes, apiKeys } = openMemoryStore();
  const animalStore = createAnimalStore({ pets: watching(pets), changes: watching(changes) });
  const managed = new ManagedApiKeys({ apiKeys: watching(apiKeys), generate: apiKeyGenerator() });
  for (const [what, call] of Object.entries({
    'an animal': () => animalStore.createPet(fido),
    'an animal and its claim': () => animalStore.createPet(fido, { idempotencyKey }),
    'a change and its statuses': () =>
      animalStore.changePet(1n, { status: 'sold' }, { from: 'available' }),
    'a change and the animal that it starts from': () =>
      animalStore.changePet(1n, { name: 'Rex' }, { from: { ...fido, id: 1n, status: 'sold' } }),
    'every status': () => animalStore.removePet(1n),
    'a line of an import, and its claim': () =>
      importPets(oneRow(), { pets: watching(pets), source: 'a', reject: failWith }),
    'an API key and its scopes': () =>
      managed.issue({ name: 'till', scopes: SCOPES, expiresAt: soon() }),
    'a first API key': () => managed.issueFirst('till'),
  }))
    it(what, async () => {
      await call();

      expect(given).to.not.deep.equal([]);
      for (const value of given)
        expect(Object.isFrozen(value), `${inspect(value)} is frozen`).to.equal(true);
    });
});

const oneRow = () => Readable.from([[{ line: 1, fields: fido }]]);
const failWith = (line: number, reason: string): void => expect.fail(`line ${line}: ${reason}`);

const soon = (): Date => new Date(Date.now() + HOUR);

describe('A store that keeps no claims', () => {
  const { pets } = openMemoryStore();
  const animalStore = createAnimalStore({ pets: { ...pets, addOnce: undefined } });

  it('refuses an idempotency key, says so, and adds animals without one', async () => {
    const error = await rejectionOf(animalStore.createPet(fido, { idempotencyKey }));

    expect(error)
      .to.be.instanceOf(InvalidParameterError)
      .with.property('message')
      .that.includes('keeps no');
    expect(await pets.list({ limit: 1 })).to.deep.equal([]);
    expect((await animalStore.createPet(fido)).replayed).to.equal(false);
    expect(animalStore.keepsIdempotencyKeys).to.equal(false);
  });

  it('refuses an import that must add each line once', async () => {
    const options = { pets: { ...pets, addOnce: undefined }, source: 'a', reject: failWith };

    const error = await rejectionOf(importPets(oneRow(), options));

    expect(String(error)).to.equal('TypeError: The import needs a store that keeps claims.');
  });
});

describe('A store whose pages make no progress', () => {
  const { pets } = openMemoryStore();
  before(async () => {
    for (const name of ['Fido', 'Rex', 'Bella']) await pets.add(samplePet({ name }));
  });

  it('is refused by listPets, which names both ids, instead of being read for ever', async () => {
    for (const [what, list] of Object.entries<PetRepository['list']>({
      'the page includes the animal that it begins after': ({ after = 0n, ...range }) =>
        pets.list({ after: after - 1n, ...range }),
      'every page is the first': ({ limit }) => pets.list({ limit }),
    })) {
      const animalStore = createAnimalStore({ pets: { ...pets, list } });
      const { next } = await animalStore.listPets({ limit: 1 });

      const error = await rejectionOf(animalStore.listPets({ after: next, limit: 1 }));

      expect(String(error), what).to.include('The page after 1 begins with 1');
    }
  });
});

/** A row of an import that gives an animal another name. */
function renaming(line: number, id: bigint, text: string): ImportRow {
  const fields: Partial<Pet> = { id, name: text };
  return { line, fields };
}

describe('importPets', () => {
  it('keeps only ids that are int64 and ascend, and is done with every line', async () => {
    const ids = [-1n, 0n, '1', 1, 2n, 2n, '3', 2n ** 63n, 3n, undefined];
    const rows = ids.map((id, line) => ({ line, fields: { ...fido, id } }));
    const { pets, transfer } = openMemoryStore();
    const options = { transfer, ids: 'keep', reject: () => {} } as const;

    const report: ImportReport = await importPets(Readable.from([rows]), options);

    const kept = await pets.list({ limit: 9 });
    expect(kept.map(({ id }) => id)).to.deep.equal([2n, 3n]);
    expect(report).to.deep.equal({ added: 2, line: ids.length - 1 });
  });

  it('adds each line of a source once, and names those that are not valid each time', async () => {
    const { pets } = openMemoryStore();
    const rows = [
      { line: 1, fields: fido },
      { line: 2, fields: {} },
    ];
    const invalid: number[] = [];
    const options = { pets, source: 'a file', reject: (line: number) => void invalid.push(line) };

    const first = await importPets(Readable.from([rows]), options);
    const again = await importPets(Readable.from([rows]), options);

    expect([first, again]).to.deep.equal([
      { added: 1, line: 2 },
      { added: 0, line: 2 },
    ]);
    expect(invalid).to.deep.equal([2, 2]);
  });

  it('refuses a source that is no text of 1 to 255 characters which every store keeps as it is', async () => {
    const { pets } = openMemoryStore();

    for (const source of ['', 'x'.repeat(256), 'a\0b', 'a\ud800', null as unknown as string]) {
      const importing = importPets(oneRow(), { pets, source, reject: failWith });
      const error = await rejectionOf(importing);
      expect(error, `for the source ${inspect(source)}`)
        .to.be.instanceOf(InvalidParameterError)
        .with.property('message')
        .that.includes('source must have 1 to 255 characters');
    }
    expect(await pets.list({ limit: 1 })).to.deep.equal([]);
  });

  it('refuses a use of ids that does not exist, and a text as dryRun, which would only count', async () => {
    const { pets, transfer } = openMemoryStore();
    const options = { ids: 'Keep' as 'keep', dryRun: 'false' as unknown as boolean };

    const error = await rejectionOf(
      importPets(oneRow(), { pets, transfer, ...options, reject: failWith }),
    );

    expect(error)
      .to.be.instanceOf(InvalidParameterError)
      .with.property('message')
      .that.includes('ids must be one of ignore, keep, update; dryRun must be true or false');
    expect(await pets.list({ limit: 1 })).to.deep.equal([]);
  });

  it('stores nothing of a chunk of which a row is refused, even for an id that no animal has', async () => {
    const { pets, changes } = openMemoryStore();
    const bella = await pets.add(samplePet({ name: 'Bella' }));
    const chunk = [
      renaming(1, bella.id, 'Changed'),
      { line: 2, fields: fido },
      renaming(3, 99n, 'Nobody'),
    ];
    const report = { added: 0, line: 0 };
    const options = { pets, changes, ids: 'update', reject: failWith, report } as const;

    const error = await rejectionOf(importPets(Readable.from([chunk]), options));

    expect(String(error)).to.include('line 3: No animal has the id 99.');
    expect(await pets.list({ limit: 9 })).to.deep.equal([bella]);
    expect(report).to.deep.equal({ added: 0, line: 0 });
  });

  it('counts in a dry run what the import then changes, whatever rows name one animal', async () => {
    const { pets, changes } = openMemoryStore();
    await pets.add(samplePet({ name: 'Bella' }));
    const names = [
      ['Max', 'Max'],
      ['Max', 'Bella', 'Bella'],
      ['Bella', 'Max'],
    ];
    const chunks = names.map((ofChunk, chunk) =>
      ofChunk.map((text) => renaming(chunk + 1, 1n, text)),
    );
    const options = { pets, changes, ids: 'update', reject: failWith } as const;

    const counted = await importPets(Readable.from(chunks), { ...options, dryRun: true });
    const unchanged = await pets.findById(1n);
    const done = await importPets(Readable.from(chunks), options);

    expect(unchanged?.name).to.equal('Bella');
    expect(done).to.deep.equal({ added: 0, changed: 3, line: 3 });
    expect(counted).to.deep.equal(done);
  });

  it('rejects a row whose animal is removed after it was read', async () => {
    const { pets, changes } = openMemoryStore();
    await pets.add(samplePet());
    const change: PetChanges['change'] = async (id, ...given) => {
      await changes.remove(id, PET_STATUSES);
      return changes.change(id, ...given);
    };
    const rows = [1, 2].map((line) => renaming(line, 1n, `Name ${line}`));
    const refused: string[] = [];
    const reject = (line: number, reason: string): void => void refused.push(`${line}: ${reason}`);
    const options = { pets, changes: { ...changes, change }, ids: 'update', reject } as const;

    await importPets(Readable.from([rows]), options);

    expect(refused).to.deep.equal(['1: No animal has the id 1.', '2: No animal has the id 1.']);
  });
});

describe('A clock that returns an invalid date', () => {
  const clock = { now: () => new Date(Number.NaN) };
  const { pets, apiKeys } = openMemoryStore();
  const managed = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator(), clock });
  const issued = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator() }).issue({
    name: 'till',
    scopes: SCOPES,
  });

  for (const [title, call] of Object.entries({
    'creating an animal': () =>
      createAnimalStore({ pets, clock }).createPet(fido, { idempotencyKey }),
    'importing animals once': () =>
      importPets(oneRow(), { pets, clock, source: 'a', reject: failWith }),
    'copying a store': () =>
      copyCatalogue({ source: openMemoryStore(), target: openMemoryStore(), clock }),
    'issuing a key': () => managed.issue({ name: 'till', scopes: SCOPES }),
    'issuing the first key': () => managed.issueFirst('till'),
    'listing keys': () => managed.list(),
    'revoking a key': async () => managed.revoke((await issued).record.id),
    authenticating: async () =>
      new ApiKeyAuthenticator({ apiKeys, clock }).authenticate((await issued).key),
  }))
    it(`is refused when ${title}`, async () => {
      expect(await rejectionOf(call()))
        .to.be.instanceOf(TypeError)
        .with.property('message')
        .that.includes('clock');
    });
});

describe('createPet with an idempotency key', () => {
  it('claims it for 24 hours by the clock', async () => {
    const { animalStore, asked, clock } = observed();
    const { pet } = await animalStore.createPet(fido, { idempotencyKey });
    const [, claim, now] = asked[0] ?? [];

    expect(claim).to.deep.include({ ...idempotencyKey, keepUntil: START.getTime() + 24 * HOUR });
    expect(now).to.equal(START.getTime());

    clock.time = new Date(START.getTime() + 24 * HOUR - 1);

    expect(await animalStore.createPet(fido, { idempotencyKey })).to.deep.equal({
      pet,
      replayed: true,
    });

    clock.time = new Date(START.getTime() + 24 * HOUR);

    expect(
      (await animalStore.createPet({ ...fido, name: 'Rex' }, { idempotencyKey })).replayed,
    ).to.equal(false);
  });

  it('stores the SHA-256 of an animal as its fingerprint, in hexadecimal', async () => {
    const { animalStore, asked } = observed();
    await animalStore.createPet(fido, { idempotencyKey });

    // The digest of ["Fido","1","available"], as any tool computes it.
    expect(asked[0]?.[1].fingerprint).to.equal(
      'aad0c1c24d71e76e5a94be4cb8924adb665087aedcdc2436ae929c84be6c00e2',
    );
  });

  it('separates equal keys of different scopes', async () => {
    const { animalStore } = observed();
    for (const scope of ['one', 'other'])
      await animalStore.createPet(fido, { idempotencyKey: { ...idempotencyKey, scope } });

    expect((await animalStore.listPets()).pets).to.have.length(2);
  });

  it('names the faults of a key and its scope, after those of the animal', async () => {
    const { animalStore, asked } = observed();
    const invalid = { idempotencyKey: { scope: 'a\0b', key: 'x'.repeat(256) } };
    const message = 'must have 1 to 255 characters, without U+0000 and lone surrogates';

    expect(await rejectionOf(animalStore.createPet(fido, invalid)))
      .to.be.instanceOf(InvalidParameterError)
      .with.property('faults')
      .that.deep.equals([
        { field: 'idempotencyKey.scope', message },
        { field: 'idempotencyKey.key', message },
      ]);

    const animal = { ...fido, name: '' };

    expect(await rejectionOf(animalStore.createPet(animal, invalid))).to.be.instanceOf(
      InvalidPetError,
    );
    expect(asked).to.deep.equal([]);
  });
});

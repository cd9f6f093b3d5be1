import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import {
  importPets,
  planImport,
  type ImportOptions,
  type ImportRow,
} from '../../src/application/import-pets.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import { SettableClock } from '../settable-clock.js';

const HOUR = 60 * 60 * 1000;

async function* rowsOf(rows: readonly ImportRow['fields'][]) {
  for (const [index, fields] of rows.entries()) yield { line: index + 2, fields };
}

const plan = (...rows: readonly ImportRow['fields'][]) => planImport(rowsOf(rows));

describe('An import', () => {
  let store: CompleteStore;
  let options: ImportOptions;
  const rex = { name: 'Rex', categoryId: 7n };

  beforeEach(() => {
    store = openMemoryStore();
    options = { store, source: 'import:a' };
  });

  const names = async () => (await store.pets.list({ limit: 500 })).map(({ name }) => name);

  it('adds a row without an id at most once for its source and line within 24 hours', async () => {
    const clock = new SettableClock();
    const rows = await plan(...Array.from({ length: 100 }, () => rex));

    expect(await importPets(rows, { ...options, clock })).to.include({ added: 100, changed: 0 });
    clock.advance(24 * HOUR - 1);
    expect(await importPets(rows, { ...options, clock })).to.include({ added: 0 });
    const another = await importPets(rows, { ...options, clock, source: 'import:b' });
    expect(another).to.include({ added: 100 });
    expect(await names()).to.have.lengthOf(200);
  });

  it('changes the given fields of the animals that differ', async () => {
    const { id } = await store.pets.add({ ...rex, status: 'pending' });
    const other = await store.pets.add({ ...rex, status: 'pending' });
    const rows = await plan({ id, status: 'sold' }, { id: other.id, ...rex });

    expect(await importPets(rows, { ...options, dryRun: true })).to.include({ changed: 1 });
    expect(await store.pets.findById(id)).to.include({ status: 'pending' });
    expect(await importPets(rows, options)).to.include({ added: 0, changed: 1 });
    expect(await store.pets.findById(id)).to.deep.equal({ id, ...rex, status: 'sold' });
  });

  it('finds the faults of every line before anything is stored', async () => {
    const rows = await plan(
      rex,
      { name: '' },
      { id: 'x', name: 'a' },
      { id: 1n },
      { id: 2n, name: 'a' },
      { id: 2n, name: 'b' },
    );

    const found = rows.faults.map(({ line, message }) => `${line} ${message}`);

    expect(found).to.deep.equal([
      '3 The animal is not valid: name must not be blank; categoryId is required.',
      '4 The animal is not valid: id must be a 64-bit integer.',
      '5 The animal is not valid: it must have at least one of name, categoryId, status.',
      '7 The animal is not valid: id is the id of line 6, too.',
    ]);
  });

  it('stores nothing while an id is unknown, and names its line and two commands', async () => {
    const report = await importPets(await plan(rex, { id: 5n, ...rex }), options);

    expect(report.faults).to.have.lengthOf(1);
    expect(report.faults[0]).to.include({ line: 3 });
    expect(report.faults[0]?.message).to.match(/the id 5: .+ copy and restore/);
    expect(await names()).to.deep.equal([]);
  });

  it('refuses rows with an id where the store cannot change animals', async () => {
    const fixed = { ...options, store: { pets: store.pets } };

    await rejects(importPets(await plan({ id: 1n, ...rex }), fixed), { isPermanent: true });
  });

  it('is completed by importing again what a failing store stopped', async () => {
    let left = 70;
    const failing: CompleteStore['pets'] = {
      ...store.pets,
      async addOnce(...given) {
        left -= 1;
        if (left < 0) throw new Error('failed');
        return store.pets.addOnce(...given);
      },
    };
    const rows = await plan(...Array.from({ length: 100 }, () => rex));

    await rejects(importPets(rows, { ...options, store: { pets: failing } }), /failed/);
    expect(await importPets(rows, options)).to.include({ added: 30 });
    expect(await names()).to.have.lengthOf(100);
  });
});

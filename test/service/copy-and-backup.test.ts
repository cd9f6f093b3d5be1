import { expect } from 'chai';
import { statSync } from 'node:fs';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';
import { runLine } from './fake-process.js';
import { Shelf } from './shelf.js';

const REX = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;

describe('copy', () => {
  afterEach(removeFolders);

  it('copies animals, ids and keys to a new store, and refuses one that has been used', async () => {
    const [from, to] = [new Shelf({}, 'from'), new Shelf({}, 'to')];
    const modules = [from.module, to.module];
    await from.data.pets.add(REX);
    await from.data.changes.remove(1n, undefined);
    const pet = await from.data.pets.add(REX);
    await runLine('keys issue --name n', { STORE_URL: 'from:' }, { modules });

    const line = 'copy --from from: --to to:';
    expect((await runLine(line, {}, { modules })).out).to.equal('Copied animals: 1, API keys: 1\n');
    expect(await to.data.pets.list({ limit: 9 })).to.deep.equal([pet]);
    expect(await to.data.apiKeys.list()).to.deep.equal(await from.data.apiKeys.list());
    expect([from.modes, to.modes]).to.deep.equal([['create', 'read'], ['create']]);
    expect([from.closed, to.closed]).to.deep.equal([2, 1]);

    const again = await runLine(line, {}, { modules });
    expect(again.err).to.match(/target is not empty/);
    expect(again.code).to.equal(2);
    expect(again.err).not.to.match(/throw/);
  });

  it('says after a failure that the target must be thrown away', async () => {
    const from = new Shelf({}, 'from');
    const transfer = { ...from.data.transfer, writePets: () => Promise.reject(new Error('full')) };
    const to = new Shelf({ transfer }, 'to');
    const modules = [from.module, to.module];

    const { code, err } = await runLine('copy --from from: --to to:', {}, { modules });

    expect(err).to.match(/^The copy failed: throw the target away.* full\n$/);
    expect(code).to.equal(1);
  });
});

describe('backup and restore', () => {
  afterEach(removeFolders);

  it('copy a store while it is in use, and restore it to a free path only', async () => {
    const folder = temporaryFolder();
    const path = `${folder}/a.db`;
    const env = { STORE_URL: `sqlite:${path}` };
    const store = await openSqliteStore(path);
    const pet = await store.pets.add(REX);
    const { out, code } = await runLine(`backup ${folder}/b.db`, env);
    expect(out).to.equal('Backed up animals: 1. The backup is sound.\n');
    expect(code).to.equal(0);
    expect(statSync(`${folder}/b.db`).mode & 0o777).to.equal(0o600);
    expect((await runLine(`backup ${folder}/b.db`, env)).code).to.equal(2);
    await store.close();

    expect((await runLine(`restore ${folder}/b.db`, env)).code).to.equal(2);
    const restored = { STORE_URL: `sqlite:${folder}/new/c.db` };
    expect((await runLine(`restore ${folder}/b.db`, restored)).out).to.include(
      'Restored animals: 1',
    );
    const copy = await openSqliteStore(`${folder}/new/c.db`, { mode: 'read' });
    expect(await copy.pets.findById(pet.id)).to.deep.equal(pet);
    await copy.close();
  });

  it('refuse stores other than SQLite', async () => {
    for (const command of ['backup', 'restore']) {
      const { code, err } = await runLine(`${command} file`, {
        STORE_URL: 'mongodb://localhost/x',
      });
      expect(err).to.equal(`${command} is for SQLite stores: use the tools of your database.\n`);
      expect(code).to.equal(2);
    }
  });
});

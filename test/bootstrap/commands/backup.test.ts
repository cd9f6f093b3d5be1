import { expect } from 'chai';
import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.js';
import { run } from '../../../src/bootstrap/commands/run.js';
import { sqliteStoreFactory } from '../../../src/adapters/sqlite/sqlite-store-factory.js';
import { cleanUp, startedService, temporaryFolder } from '../../service/running-service.js';
import { TestIo, runLine } from '../test-io.js';

describe('backup and restore', () => {
  let folder: string;
  let file: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    folder = temporaryFolder();
    file = join(folder, 'b.db');
    const store = await openSqliteStore(join(folder, 'a.db'));
    await store.pets.add({ name: 'Bella', categoryId: 1n, status: 'sold' });
    await store.close();
    env = { STORE_URL: `sqlite:${join(folder, 'a.db')}` };
  });
  afterEach(cleanUp);

  it('says what it backed up, and where, or prints JSON with --json', async () => {
    const { code, out, err } = await runLine(`backup ${file}`, env);
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out).to.match(
      /^Backed up 1 animals, and checked the copy\n  store  .*a\.db\n  backup .*b\.db\n$/,
    );

    const json = await runLine(`backup ${file}.2 --json`, env);
    expect(JSON.parse(json.out)).to.include({
      store: join(folder, 'a.db'),
      file: `${file}.2`,
      pets: 1,
    });
  });

  it('ends with 1 when it fails, with 2 where only a person can mend it', async () => {
    await runLine(`backup ${file}`, env);
    const again = await runLine(`backup ${file}`, env);

    expect({ ...again, err: '' }).to.deep.equal({ code: 2, out: '', err: '' });
    expect(again.err).to.match(/b\.db exists: [^\n]+\n$/);

    const full = await runLine('backup /proc/animals.db', env);
    expect(full, full.err).to.include({ code: 1, out: '' });

    await writeFile(`${file}.3`, 'no database. '.repeat(99));
    for (const line of [`restore ${file}.3`, `backup ${file} --keep 7`, 'backup', 'restore']) {
      expect(await runLine(line, env), line).to.include({ code: 2, out: '' });
    }
  });

  it('is refused for standard input and output, and makes no file named -', async () => {
    for (const name of ['backup', 'restore'])
      expect(await runLine(`${name} -`, env)).to.deep.equal({
        code: 2,
        out: '',
        err: `${name} needs a file, not standard input or output. Write ./- for a file named -.\n`,
      });
  });

  it('says what it restored, and where the files are that were there', async () => {
    await runLine(`backup ${file}`, env);
    const store = await openSqliteStore(join(folder, 'a.db'));
    await store.pets.add({ name: 'Rex', categoryId: 1n, status: 'sold' });
    await store.close();
    const { code, out, err } = await runLine(`restore ${file}`, env);

    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out).to.match(
      /^Restored 1 animals, and checked the copy\n  store  .*a\.db\n  backup .*b\.db\nThe files that were there are in .*a\.db\.replaced-\w+\n$/,
    );

    const json = await runLine(`restore ${file} --json`, env);
    const { setAside, ...rest } = JSON.parse(json.out);

    expect(rest).to.include({ store: join(folder, 'a.db'), file, pets: 1 });
    expect(await readdir(folder)).to.include(basename(setAside));
  });

  it('does not restore while the service of another process has the store', async () => {
    const { child } = await startedService(folder);
    const served = { STORE_URL: `sqlite:${join(folder, 'data', 'animal-store.db')}` };

    expect(await runLine(`backup ${file}`, served)).to.include({ code: 0 });

    const before = await readdir(join(folder, 'data'));
    const { code, out, err } = await runLine(`restore ${file}`, served);

    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err).to.match(
      /^[^\n]+animal-store\.db is in use: stop every service and command on it\. database is locked\n$/,
    );
    expect(await readdir(join(folder, 'data'))).to.deep.equal(before);
    expect(await child.stop()).to.include({ code: 0 });
    expect(await runLine(`restore ${file}`, served)).to.include({ code: 0 });
  });

  it('is refused for other stores, without their URLs', async () => {
    for (const STORE_URL of ['mongodb://user:secret@db1/animals', 'memory:', 'shelf:secret']) {
      for (const name of ['backup', 'restore'])
        expect(await runLine(`${name} ${file}`, { STORE_URL })).to.deep.equal({
          code: 2,
          out: '',
          err: `${name} is for SQLite stores: use the tools of your database.\n`,
        });
    }
  });

  it('refuses spellings of STORE_URL that serve refuses, too, and makes nothing', async () => {
    const STORE_URL = 'sqlite://x.db';
    const fault = await sqliteStoreFactory.check?.(STORE_URL);
    for (const line of [`backup ${file}`, `restore ${file}`, 'keys list', 'serve'])
      expect(await runLine(line, { STORE_URL }), line).to.include({
        code: 2,
        err: `Invalid settings:\n  STORE_URL ${fault}\n`,
      });
    expect(await readdir(folder)).to.deep.equal(['a.db']);
  });

  it('ends with 130 at Ctrl-C, and leaves nothing', async () => {
    const io = new TestIo(env);
    io.once('newListener', () => queueMicrotask(() => io.emit('SIGINT', 'SIGINT')));

    expect(await run(['backup', file], io.io), io.err).to.equal(130);
    expect(await readdir(folder)).to.deep.equal(['a.db']);
  });
});

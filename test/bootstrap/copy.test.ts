import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteStore, type SqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.js';
import { savedPet } from '../../src/domain/pet.js';
import { parse } from '../../src/exact-json.js';
import { times } from '../contract/samples.js';
import { Program, runProgram, type Outcome } from './program.js';

describe('copy, as a program', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-copy-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function withStore<T>(name: string, use: (store: SqliteStore) => Promise<T>): Promise<T> {
    const store = await openSqliteStore(join(folder, name));
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }

  /** A store of so many animals. */
  const fill = (name: string, count: number): Promise<void> =>
    withStore(name, async ({ transfer }) => {
      await transfer.reserveIds(BigInt(count));
      await transfer.writePets(
        times(count, (number) =>
          savedPet(BigInt(number), { name: `Pet ${number}`, categoryId: -(2n ** 63n), status: 'sold' }),
        ),
      );
    });

  const copy = (...args: readonly string[]): Promise<Outcome> =>
    runProgram(['copy', ...args], { folder, environment: {} });
  const OLD_TO_NEW = ['--from', 'sqlite:old.db', '--to', 'sqlite:new.db'] as const;

  const serve = async (store: string) => {
    const program = new Program(['serve'], {
      folder,
      environment: { PORT: '0', STORE_URL: `sqlite:${store}`, LOG_FORMAT: 'json' },
    });
    return { program, url: await program.ready() };
  };

  it('moves a service to another store: old keys, old claims and old ids hold, and ids go on', async () => {
    const first = await serve('old.db');
    const [key = ''] = await first.program.printed(/ast_live_\w+/);
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const add = async (url: string, name: string): Promise<readonly [number, string]> => {
      const body = `{"name":"${name}","categoryId":9223372036854775807}`;
      const answer = await fetch(`${url}/pets`, { method: 'POST', headers, body });
      return [answer.status, await answer.text()];
    };
    for (const name of ['Bella', 'Rex', 'Amélie']) expect((await add(first.url, name))[0]).to.equal(201);
    const listed = await (await fetch(`${first.url}/pets`, { headers })).text();
    await first.program.stop();

    // A claim that an add has made is replayed by the copy.
    const claim = {
      scope: 'a key',
      token: 'a token',
      fingerprint: 'rex',
      now: new Date(),
      keepUntil: new Date(Date.now() + 86_400_000),
    };
    const rex = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;
    const { pet } = await withStore('old.db', ({ pets }) => pets.add(rex, { claim }));

    const { code, out, err } = await copy(...OLD_TO_NEW, '--json');
    expect(code, err).to.equal(0);
    expect(parse(out)).to.deep.include({ pets: 4n, written: 4n, claims: 1n, apiKeys: 1n, lastId: 4n });

    const replay = await withStore('new.db', ({ pets }) => pets.add(rex, { claim }));
    expect(replay).to.deep.equal({ pet, replayed: true });
    const second = await serve('new.db');
    expect(await (await fetch(`${second.url}/pets?limit=3`, { headers })).text()).to.equal(listed);
    expect(await add(second.url, 'Next')).to.deep.equal([
      201,
      '{"id":5,"name":"Next","categoryId":9223372036854775807,"status":"available"}',
    ]);
    const { out: printed } = await second.program.stop();
    expect(printed, 'no first key is made').to.not.include('ast_live_');
  }).timeout(60_000);

  it('copies 20,000 animals, prints the result on stdout and its progress on stderr', async () => {
    await fill('old.db', 20_000);
    const { code, out, err } = await copy(...OLD_TO_NEW);
    expect(code, err).to.equal(0);
    expect(out).to.match(/^20,000 animals, 0 live claims and 0 API keys copied\n {2}from .*old\.db\n/);
    expect(err)
      .to.match(/^copying /)
      .and.match(/^verifying 100 %, 40,000 of 40,000.*\n$/m);
    await withStore('new.db', async ({ pets }) => {
      expect(await pets.findById(20_000n)).to.deep.equal({
        id: 20_000n,
        name: 'Pet 20000',
        categoryId: -(2n ** 63n),
        status: 'sold',
      });
    });
  });

  it('ends in order at SIGINT with 130, leaves a part of the source, and resumes', async () => {
    await fill('old.db', 100_000);
    const program = new Program(['copy', ...OLD_TO_NEW], { folder, environment: {} });
    await program.said(/^copying/m);
    const { code, out, err } = await program.stop('SIGINT');
    expect({ code, out }, err).to.deep.equal({ code: 130, out: '' });
    expect(err).to.include('Interrupted by SIGINT. What was copied stays: the same command with --resume');
    expect(existsSync(join(folder, 'new.db-wal')), 'the target is closed').to.equal(false);
    const there = await withStore('new.db', async ({ transfer }) => (await transfer.survey()).pets);
    expect(there).to.be.greaterThan(0).and.lessThan(100_000);

    expect(await copy(...OLD_TO_NEW)).to.include({ code: 1 });
    const resumed = await copy(...OLD_TO_NEW, '--resume', '--json');
    expect(resumed.code, resumed.err).to.equal(0);
    expect(parse(resumed.out)).to.deep.include({ pets: 100_000n, written: BigInt(100_000 - there) });
  }).timeout(60_000);

  it('refuses one store by two names with 2, and leaves it as it is', async () => {
    await fill('old.db', 3);
    symlinkSync('old.db', join(folder, 'link.db'));
    const { code, err } = await copy('--from', 'sqlite:old.db', '--to', 'sqlite:./link.db', '--resume');
    expect({ code, err }).to.deep.equal({
      code: 2,
      err: '--from and --to name the same store\nSee: animal-store copy --help\n',
    });
  });

  it('refuses a source that is not there with 1, and makes neither store', async () => {
    const { code, err } = await copy(...OLD_TO_NEW);
    expect({ code, err }).to.deep.equal({
      code: 1,
      err: `${join(folder, 'old.db')} is not there: name the file of a store.\n`,
    });
    expect(existsSync(join(folder, 'old.db')) || existsSync(join(folder, 'new.db'))).to.equal(false);
  });

  const WRONG: ReadonlyArray<readonly [from: string, to: string, said: RegExp]> = [
    ['old.db', 'sqlite:new.db', /^ {2}--from must begin with the scheme of a store/m],
    ['sqlite:old.db', 'shelf:1', /^ {2}--to has the scheme shelf:, and known are /m],
    ['sqlite:old.db', 'sqlite:', /^ {2}--to names no file/m],
    ['', 'sqlite:new.db', /^--from is empty$/m],
    ['memory:', 'sqlite:new.db', /^A memory store is inside the service that runs it/],
    ['sqlite:old.db', 'memory:', /^A memory store is inside the service that runs it/],
  ];
  for (const [from, to, said] of WRONG) {
    it(`is wrong usage, and exits with 2: --from=${from} --to=${to}`, async () => {
      await fill('old.db', 1);
      const { code, out, err } = await copy(`--from=${from}`, `--to=${to}`);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.match(said);
      expect(existsSync(join(folder, 'new.db'))).to.equal(false);
    });
  }

  it('takes stores of others, by ADAPTERS, and says of one that it cannot be copied', async () => {
    await fill('old.db', 1);
    writeFileSync(
      join(folder, 'shelf.mjs'),
      `import { ContainerModule } from '${import.meta.resolve('inversify')}';
       import { openSqliteStore } from '${new URL('../../src/adapters/sqlite/index.js', import.meta.url).href}';
       import { TOKENS, provideValue } from '${new URL('../../src/bootstrap/index.js', import.meta.url).href}';
       export const adapter = new ContainerModule((options) =>
         provideValue(options, TOKENS.storeFactory, {
           scheme: ['shelf', 'drawer'],
           async open(url) {
             const { pets, transfer, close: end } = await openSqliteStore('shelf.db');
             const close = () => end().then(() => console.error('the shelf is closed'));
             return { pets, location: 'a shelf', close, ...(url === 'shelf:' && { transfer }) };
           },
         }),
       );`,
    );
    const environment = { ADAPTERS: './shelf.mjs' };
    const run = (to: string): Promise<Outcome> =>
      runProgram(['copy', '--from', 'sqlite:old.db', '--to', to], { folder, environment });
    expect(await run('drawer:')).to.deep.equal({
      code: 1,
      out: '',
      err: 'the shelf is closed\nThis store cannot be copied, nor copied to: a shelf\n',
    });
    const { code, out, err } = await run('shelf:');
    expect(code, err).to.equal(0);
    expect(err).to.include('the shelf is closed\n');
    expect(out).to.include('1 animal, 0 live claims and 0 API keys copied\n').and.include('  to   a shelf\n');
  });
});

import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import type { PortCheck } from '../../src/adapters/cli/operations.js';
import { loadContractSuites, type ContractSuites } from '../../src/bootstrap/contract-suites.js';
import * as entry from '../contract/index.js';
import { Program, runProgram, type Outcome } from './program.js';

const at = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href;

/** What a module of others imports. It is no part of the package, so it names modules by their places. */
const IMPORTS = `
  import { ContainerModule } from '${import.meta.resolve('inversify')}';
  import { TOKENS, provideValue } from '${at('bootstrap/index.js')}';
  import { MemoryPetRepository } from '${at('adapters/memory/index.js')}';
  import { openSqliteStore } from '${at('adapters/sqlite/index.js')}';
`;

/** A module that opens stores in memory whose repository is changed by an expression over it. */
const opening = (change: string): string => `${IMPORTS}
  export async function openStore() {
    const memory = new MemoryPetRepository();
    const pets = {
      capabilities: memory.capabilities,
      add: (pet, options) => memory.add(pet, options),
      findById: (id, call) => memory.findById(id, call),
      list: (range, call) => memory.list(range, call),
      check: (call) => memory.check(call),
      close: () => memory.close(),
    };
    return { pets: Object.assign(pets, ${change}), dispose: () => memory.close() };
  }
`;

/** An adapter as ADAPTERS takes it: SQLite under another name. */
const SHELF = `${IMPORTS}
  export const adapter = new ContainerModule((options) =>
    provideValue(options, TOKENS.storeFactory, {
      scheme: 'shelf',
      open: async (url, { mustExist } = {}) => ({
        ...(await openSqliteStore(url.slice('shelf:'.length), { mustExist })),
        location: url,
      }),
    }),
  );
`;

const failures = (checks: readonly PortCheck[]): string[] =>
  checks.flatMap(({ cases }) => cases.flatMap(({ name, outcome }) => (outcome === 'failed' ? [name] : [])));

describe('The contract suites, for the program', () => {
  it('are what it takes them for', async () => {
    const suites: ContractSuites = entry; // compiles
    const { storeContracts, ...functions } = await loadContractSuites();
    expect(storeContracts).to.equal(suites.storeContracts);
    expect(functions).to.include.keys('runContract', 'undeclaredCapabilities');
  });
});

describe('check-store', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-check-store-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function options(module: string) {
    writeFileSync(join(folder, 'store.mjs'), module);
    // Folders of its own are made in one of ours, so that what is left behind shows.
    return { folder, environment: { TMPDIR: folder, STORE_URL: 'sqlite:data/not-this-one.db' } };
  }
  const check = (module: string, ...args: string[]): Promise<Outcome> =>
    runProgram(['check-store', './store.mjs', ...args], options(module));

  async function json(
    module: string,
    ...args: string[]
  ): Promise<{ code: number | null; checks: PortCheck[] }> {
    const { code, out, err } = await check(module, '--json', ...args);
    expect(err).to.equal('');
    const { checks }: { checks: PortCheck[] } = JSON.parse(out);
    return { code, checks };
  }

  it('passes a store that keeps its promises, and says what was not owed', async () => {
    const { code, out, err } = await check(opening('{}'), '--animals', '300');
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out).to.match(/^PetRepository: \d+ passed, 0 failed, 10 skipped/);
    expect(out).to.include('  skipped: the adapter does not declare itself durable\n');
    expect(out).to.include('ApiKeyRepository: 0 passed, 0 failed, ');
    expect(out).to.include('  skipped: all of it, for the store keeps no API keys\n');
    expect(out).to.match(/\nAnimalStore: \d+ passed, 0 failed, 0 skipped/);
    expect(out).to.include('with 300 animals, not 10000\n');
    expect(out).to.match(/\n\n\d+ passed, 0 failed, \d+ skipped\.\n$/);
  });

  it('names the cases that fail, and exits with 1', async () => {
    const trims = '{ add: (pet, options) => memory.add({ ...pet, name: pet.name.trim() }, options) }';
    const { code, checks } = await json(opening(trims), '--only', 'keeps a name with leading');
    expect(code).to.equal(1);
    expect(failures(checks)).to.deep.equal([
      'keeps a name with leading and trailing spaces exactly',
      'keeps a name with leading and trailing line breaks exactly',
    ]);
  });

  it('fails what is declared and not kept, and notes what is kept and not declared', async () => {
    const claimed = await json(
      opening('{ capabilities: { durable: true, shared: false } }'),
      '--only',
      'after closing and opening again',
    );
    expect(claimed.code).to.equal(1);
    expect(failures(claimed.checks)).to.include(
      'has every animal exactly as it was after closing and opening again',
    );
    const modest = await json(opening('{ capabilities: { durable: false, shared: false } }'), '--only', 'id');
    expect(modest.code).to.equal(0);
    expect(modest.checks[0]?.undeclared).to.deep.equal(['ordered']);
  });

  it('fails a case that never ends by its name, and one in which an error is handled by nobody', async () => {
    const never = '{ findById: (id) => (id === 0n ? new Promise(() => {}) : memory.findById(id)) }';
    const stuck = await json(
      opening(never),
      '--only',
      'finds no animal with the id',
      '--time-limit',
      '100ms',
    );
    expect(stuck.code).to.equal(1);
    expect(failures(stuck.checks)).to.deep.equal([
      'finds no animal with the id 0, and says so without an error',
    ]);
    const strays = `{
      findById(id) {
        if (id === 0n) Promise.reject(new Error('nobody hears this'));
        return memory.findById(id);
      },
    }`;
    const stray = await json(opening(strays), '--only', 'finds no animal with the id');
    expect(failures(stray.checks)).to.deep.equal([
      'finds no animal with the id 0, and says so without an error',
    ]);
  });

  it('checks the store factory of an adapter, with a new URL for each case, and leaves nothing behind', async () => {
    const { code, checks } = await json(
      SHELF,
      '--url',
      'shelf:{folder}/{name}.db',
      '--only',
      'opening again',
    );
    expect({ code, failures: failures(checks) }).to.deep.equal({ code: 0, failures: [] });
    expect(checks.map(({ port }) => port)).to.deep.equal([
      'PetRepository',
      'ApiKeyRepository',
      'DeprecatedCallRepository',
      'CatalogueTransfer',
    ]);
    for (const { cases } of checks) for (const { outcome } of cases) expect(outcome).to.equal('passed');
    expect(readdirSync(folder)).to.deep.equal(['store.mjs']);
  });

  it('takes the URL that a module exports, and has it take its stores away', async () => {
    const module = `${SHELF}
      import { rm } from 'node:fs/promises';
      export const storeUrl = 'shelf:stores/{name}/animals.db';
      export async function removeStore(url) {
        await rm(url.slice('shelf:'.length).replace('/animals.db', ''), { recursive: true });
      }`;
    const { code } = await json(module, '--only', 'opening again');
    expect(code).to.equal(0);
    expect(readdirSync(join(folder, 'stores'))).to.deep.equal([]);
  });

  it('ends when it is told to stop, with nothing left behind', async () => {
    const slow = opening('{ check: () => new Promise((end) => setTimeout(end, 20)) }').replace(
      'const memory',
      "console.error('opened'); const memory",
    );
    const program = new Program(['check-store', './store.mjs'], options(slow));
    await program.said(/opened/);
    const { code, out } = await program.stop('SIGINT');
    expect({ code, out }).to.deep.equal({ code: 130, out: '' });
  });

  describe('exits with 2, and touches nothing, when', () => {
    const WRONG: ReadonlyArray<readonly [what: string, module: string, args: string[], message: RegExp]> = [
      [
        'the module is not there',
        '',
        ['check-store', './no.mjs'],
        /\.\/no\.mjs cannot be loaded: Cannot find/,
      ],
      [
        'the module throws',
        "throw new Error('no licence');",
        [],
        /store\.mjs cannot be loaded: no licence\n/,
      ],
      ['the module exports no store', 'export {};', [], /exports neither openStore, a function, nor adapter/],
      ['an adapter has no URL', SHELF, [], /--url is missing, and \.\/store\.mjs exports no storeUrl/],
      ['the URL is of no store', SHELF, ['--url', 'drawer:{name}'], /--url has the scheme drawer:/],
      ['the URL is none', SHELF, ['--url', 'shelf'], /--url must begin with the scheme of a store/],
      [
        'the URL names a store to be kept',
        SHELF,
        ['--url', 'shelf:animals.db'],
        /--url names one store, which keeps what is added: each case needs a new one, by \{folder\} or \{name\}/,
      ],
      ['a URL is given for openStore', opening('{}'), ['--url', 'shelf:a'], /--url is for an adapter/],
      [
        'openStore resolves to something else',
        'export const openStore = async () => ({ pets: {} });',
        [],
        /openStore of \.\/store\.mjs has to resolve to an object with pets and dispose/,
      ],
      [
        'no case is wanted',
        opening('{}'),
        ['--only', 'no such case'],
        /no case has "no such case" in its name/,
      ],
    ];
    for (const [what, module, args, message] of WRONG) {
      it(what, async () => {
        const line = args[0] === 'check-store' ? args : ['check-store', './store.mjs', ...args];
        const { code, out, err } = await runProgram(line, options(module));
        expect({ code, out }).to.deep.equal({ code: 2, out: '' });
        expect(err)
          .to.match(message)
          .and.to.match(/\nSee: animal-store check-store --help\n$/);
        expect(readdirSync(folder)).to.deep.equal(['store.mjs']);
      });
    }
  });

  it('adds nothing to a store that is there, and to be kept', async () => {
    const path = join(folder, 'animals.db');
    await (await openSqliteStore(path)).close();
    const { code, err } = await check(SHELF, '--url', `shelf:${path}`);
    expect({ code, err: err.split('\n', 1)[0] }).to.deep.equal({
      code: 2,
      err: '--url names one store, which keeps what is added: each case needs a new one, by {folder} or {name}',
    });
    const { pets, close } = await openSqliteStore(path);
    expect(await pets.list({ limit: 1 })).to.deep.equal([]);
    await close();
  });

  it('exits with 1 and one error when no store can be opened', async () => {
    const { code, out, err } = await check(
      "export async function openStore() { throw new Error('the shelf is locked'); }",
    );
    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err).to.match(
      /^The store cannot be opened, or disposed of: Error: the shelf is locked\n {4}at openStore/,
    );
  });
});

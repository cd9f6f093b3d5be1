import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { run } from '../../../src/bootstrap/commands/run.js';
import { storeContracts } from '../../contract/index.js';
import { program } from '../../service/running-service.js';
import { TestIo, runLine, type Outcome } from '../test-io.js';

const at = (path: string): string => new URL(`../../../src/${path}`, import.meta.url).href;

/** What a module of others imports. It is not in the package, so it names modules by URL. */
const IMPORTS = `
  import { ContainerModule } from '${import.meta.resolve('inversify')}';
  import { TOKENS, add } from '${at('bootstrap/index.js')}';
  import { openMemoryStore } from '${at('adapters/memory/index.js')}';
  import { openSqliteStore } from '${at('adapters/sqlite/index.js')}';
`;

/** A module with \`openStore\`: stores in memory, whose methods \`change\` may replace. */
const opening = (change = ''): string => `${IMPORTS}
  export async function openStore() {
    const { pets: memory, close } = openMemoryStore();
    const pets = {
      add: (...args) => memory.add(...args),
      findById: (...args) => memory.findById(...args),
      list: (...args) => memory.list(...args),
      check: (...args) => memory.check(...args),
      close,
      ${change}
    };
    return { pets, dispose: close };
  }
`;

/** A module with \`adapter\`, as ADAPTERS takes it: SQLite under another name. */
const SHELF = `${IMPORTS}
  export const adapter = new ContainerModule((options) =>
    add(options, TOKENS.storeFactory, {
      scheme: 'shelf',
      async open(url, options) {
        const { pets, apiKeys, transfer, close } = await openSqliteStore(url.slice('shelf:'.length), options);
        return { pets, apiKeys, transfer, location: url, close };
      },
    }),
  );
`;

const [PETS] = storeContracts;
/** A text in the names of one or a few cases of the first contract. */
const ONLY = PETS?.cases[0]?.name ?? '';

describe('check-store', () => {
  let folder: string;
  let module: string;
  const { TMPDIR } = process.env;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-check-store-')));
    module = join(folder, 'store.mjs');
    process.env['TMPDIR'] = folder; // what is left behind shows
  });
  afterEach(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    rmSync(folder, { recursive: true });
  });

  /** Checks the store of a module, only in cases with a text in their names. */
  async function check(source: string, only = ONLY, ...options: readonly string[]): Promise<Outcome> {
    writeFileSync(module, source);
    const io = new TestIo();
    await setImmediate(); // mocha sets its timer for the test only now
    const code = await run(['check-store', module, '--only', only, ...options], io.io);
    expect(io.exits, io.err).to.deep.equal([]);
    return { code, out: io.out, err: io.err };
  }

  it('passes a store that keeps its promises, and says what was skipped and why', async () => {
    const { code, out, err } = await check(opening(), '');
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out).to.match(
      /^PetRepository: \d{2,} passed, 0 failed, \d+ skipped\n {2}skipped: the subject has no `reopen`\n/,
    );
    expect(out).to.match(/\nApiKeyRepository: 0 passed, 0 failed, \d+ skipped\n {2}skipped: [^\n]+\n/);
    expect(out).to.match(
      /\nPetChanges: 0 passed, 0 failed, \d+ skipped\n {2}skipped: the store has no PetChanges\n/,
    );
    expect(out).to.match(
      /\nAnimalStore: \d{2,} passed, 0 failed, \d+ skipped\n {2}skipped: the animals cannot be changed\n$/,
    );
  });

  it('names the cases that fail, shows why, and ends with 1', async () => {
    const { code, out } = await check(opening("list: async () => { throw new Error('no shelf'); },"), '');
    expect(code).to.equal(1);
    expect(out).to.match(/\n {2}failed: [^\n]+\n {4}Error: no shelf\n {8}at /);
    const assertion = await check(opening('findById: async () => undefined,'), '');
    expect(assertion.code).to.equal(1);
    expect(assertion.out).to.match(/\n {2}failed: [^\n]+\n {4}(?!.*Error)[^\n]+\n/);
  });

  it('runs all ports of an adapter, with a new URL for each case, and leaves nothing behind', async () => {
    const { code, out } = await check(
      SHELF,
      'opening again',
      '--url',
      'shelf:{folder}/{name}.db',
      '--durable',
    );
    expect(code, out).to.equal(0);
    for (const port of ['PetRepository', 'ApiKeyRepository', 'CatalogueTransfer'])
      expect(out).to.match(new RegExp(`^${port}: [1-9]\\d* passed, 0 failed, 0 skipped$`, 'm'));
    expect(readdirSync(folder)).to.deep.equal(['store.mjs']);
  });

  it('fails a durable adapter that creates a store which must exist', async () => {
    const careless = SHELF.replace(', options);', ');');
    const url = ['--url', 'shelf:{folder}/{name}.db'];
    const { code, out } = await check(careless, 'must exist', ...url, '--durable');
    expect(code, out).to.equal(1);
    expect(out).to.match(
      /^StoreFactory: 1 passed, 1 failed, 0 skipped\n {2}failed: rejects where a store must exist/,
    );
    expect((await check(careless, 'must exist', ...url)).err).to.include('No case'); // nothing to exist
  });

  it('stops at a signal after the case that runs, with 130', async () => {
    writeFileSync(module, opening());
    const io = new TestIo();
    const stdout = io.stdout.write;
    io.stdout.write = (text) => {
      stdout(text);
      io.emit('SIGINT', 'SIGINT'); // after the first port
    };
    expect(await run(['check-store', module, '--only', ONLY.slice(0, 4)], io.io)).to.equal(130);
    expect(io.out)
      .to.match(/^PetRepository: /)
      .and.not.match(/^AnimalStore: /m);
    expect(io.err).to.equal('Interrupted by SIGINT.\n');
  });

  it('names the handle that keeps the process from ending, and ends it with 1', async () => {
    writeFileSync(
      module,
      opening().replace('const { pets: memory', 'setInterval(() => {}, 1000); const { pets: memory'),
    );
    const { code, out, err } = await program(folder, ['check-store', module, '--only', ONLY]).ended;
    expect(code).to.equal(1);
    expect(out).to.match(/1 passed, 0 failed/);
    expect(err).to.match(
      /^Handles that the store leaves open keep the process from ending: (?:Timeout(?:, )?)+\n$/,
    );
  });

  const WRONG: ReadonlyArray<readonly [what: string, source: string, options: string[], message: string]> = [
    ['the module throws', "throw new Error('no licence');", [], 'cannot be loaded: no licence\n'],
    ['the module exports no store', 'export {};', [], 'exports neither openStore, a function, nor adapter'],
    ['an adapter has no URL', SHELF, [], '--url must hold {folder} or {name}'],
    ['the URL names one store', SHELF, ['--url', 'shelf:animals.db'], '--url must hold {folder} or {name}'],
    ['the URL has no known scheme', SHELF, ['--url', 'drawer:{name}'], '--url must start with the scheme'],
    ['no case is wanted', opening(), ['--only', 'no such case'], 'No case has the text of --only'],
  ];
  for (const [what, source, options, message] of WRONG) {
    it(`ends with 2 and one message when ${what}`, async () => {
      const { code, out, err } = await check(source, ONLY, ...options);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.include(message);
    });
  }

  it('ends with 2 when there is no such module, and with 1 and one error when no store can be opened', async () => {
    const missing = await runLine('check-store ./no.mjs');
    expect(missing).to.include({ code: 2, out: '' });
    expect(missing.err).to.match(/^\.\/no\.mjs cannot be loaded: Cannot find module [^\n]*\n$/);
    const locked = await check(
      "export async function openStore() { throw new Error('the shelf is locked'); }",
    );
    expect(locked).to.deep.equal({ code: 1, out: '', err: 'the shelf is locked\n' });
    expect(existsSync(join(folder, 'data'))).to.equal(false);
  });
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import {
  createAnimalStore,
  petWithId,
  type PetRepository,
  type UnsavedPet,
} from '../../src/index.js';

const ROOT = new URL('../../../', import.meta.url);
const MANIFEST: {
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
} = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));

/** What importing modules did. */
interface Effects {
  /** Addresses of all that was loaded. */
  readonly loaded: readonly string[];
  /** Environment variables that code of ours asked for. */
  readonly environment: readonly string[];
  readonly exports: readonly string[];
}

// Node.js and packages read variables themselves while they load. The stack shows the reader.
const OBSERVER = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  const environment = [];
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
  const asked = (name) => {
    const callers = new Error().stack.split('\\n').slice(3).filter((caller) => !caller.includes('<anonymous>'));
    if (callers[0].includes('/build/src/')) environment.push(String(name));
  };
  process.env = new Proxy(process.env, {
    get(target, name) { asked(name); return Reflect.get(target, name); },
    has(target, name) { asked(name); return Reflect.has(target, name); },
    ownKeys(target) { asked('all'); return Reflect.ownKeys(target); },
  });
  const exports = [];
  for (const url of process.argv.slice(1)) exports.push(...Object.keys(await import(url)));
  console.log(JSON.stringify({ loaded, environment, exports }));
`;

async function importing(...urls: readonly string[]): Promise<Effects> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    // Node.js 22 warns of node:sqlite by itself.
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', OBSERVER, ...urls],
    { maxBuffer: 10_000_000 },
  );
  expect(stderr).to.equal('');
  expect(stdout, 'all that was printed').to.match(/^\{"loaded":.*\}\n$/);
  const effects: Effects = JSON.parse(stdout);
  return effects;
}

const namesIn = ({ loaded }: Effects, name: RegExp): string[] => [
  ...new Set(loaded.flatMap((url) => name.exec(url)?.[1] ?? [])),
];
const packagesIn = (effects: Effects) => namesIn(effects, /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/);
/** Without those that our dependencies bring. */
const dependenciesIn = (effects: Effects) =>
  packagesIn(effects).filter((name) => Object.hasOwn(MANIFEST.dependencies, name));
const foldersIn = (effects: Effects) =>
  namesIn(effects, /\/build\/src\/(adapters\/[^/]+|bootstrap)\//);

/** The entries, with the folders and dependencies that they load. Those that are found show that the search works. */
const ENTRIES: ReadonlyArray<readonly [entry: string, folders: string[], packages: string[]]> = [
  ['.', [], []],
  ['./http', ['adapters/http'], ['typebox']],
  ['./koa', ['adapters/http'], ['koa', '@koa/router', 'koa-bodyparser']],
  ['./fetch', ['adapters/http'], []],
  ['./client', ['adapters/http'], []],
  ['./api-keys', ['adapters/api-keys'], []],
  ['./memory', ['adapters/memory'], []],
  ['./sqlite', ['adapters/sqlite'], []],
  ['./mongodb', ['adapters/mongodb'], ['mongodb', 'mongodb-connection-string-url']],
];

describe('Importing', () => {
  for (const [entry, folders, packages] of ENTRIES) {
    it(`animal-store${entry.slice(1)} prints nothing, and loads ${packages.join(', ') || 'no package'}`, async () => {
      const effects = await importing(entryUrl(entry));
      expect(foldersIn(effects)).to.deep.equal(folders);
      expect(dependenciesIn(effects)).to.have.members(packages);
      expect(effects.environment, 'the environment variables that were read').to.deep.equal([]);
    });
  }

  for (const entry of ['.', './http', './fetch', './client']) {
    it(`animal-store${entry.slice(1)} loads nothing of Node.js, nor what only it or a page can run`, async () => {
      const { loaded } = await importing(entryUrl(entry));
      for (const url of loaded)
        expect(url).to.not.match(/^node:|\/adapters\/http\/(?:koa|node|docs-page\/browser)\//);
    });
  }

  it('any module prints nothing and does nothing, but the command and the docs page', async () => {
    const built = new URL('build/src/', ROOT);
    const modules = (await readdir(built, { recursive: true }))
      .filter((name) => name.endsWith('.js') && !/main\.js$|docs-page.browser.page\.js$/.test(name))
      .map((name) => new URL(name.replaceAll('\\', '/'), built).href);
    const { loaded, exports } = await importing(...modules);
    expect(loaded).to.include.members(modules);
    expect(exports).to.include.members(['createContainer', 'openSqliteStore', 'animalStoreRouter']);
  });

  it('animal-store/bootstrap loads no store before one is asked for', async () => {
    const effects = await importing(entryUrl('./bootstrap'));
    expect(packagesIn(effects)).to.include('inversify');
    expect(packagesIn(effects)).to.not.include('mongodb');
    expect(effects.loaded).to.not.include('node:sqlite');
    const ofStores = effects.loaded.filter((url) => /\/adapters\/(?:sqlite|mongodb)\//.test(url));
    expect(ofStores).to.have.length(3);
    for (const url of ofStores) expect(url).to.match(/-store-factory\.js$|\/store-path\.js$/);
  });

  it('the commands load nothing of the HTTP interface that checks what clients send', async () => {
    const effects = await importing(
      new URL('build/src/bootstrap/commands/run.js', ROOT).href,
      new URL('build/src/bootstrap/service/settings.js', ROOT).href,
    );
    expect(packagesIn(effects)).to.include('commander');
    expect(packagesIn(effects)).to.not.include('typebox');
  });

  it('the HTTP interface loads nothing for the OpenAPI document and the docs page before one is asked for', async () => {
    const effects = await importing(
      new URL('build/src/adapters/http/http-interface.js', ROOT).href,
    );
    expect(packagesIn(effects)).to.deep.equal(['typebox']);
    for (const url of effects.loaded) expect(url).to.not.match(/open-api-document|docs-page/);
  });
});

/** The least that is a store. */
const sound: PetRepository = {
  add: async (pet) => petWithId(1n, pet),
  findById: async () => undefined,
  list: async () => [],
};

// The build fails where the compiler finds no error.
describe('The public types', () => {
  it('let the least adapter that is sound compile, and refuse one that is not', async () => {
    const { pet } = await createAnimalStore({ pets: sound }).createPet({
      name: 'Fido',
      categoryId: 1,
    });
    expect(pet.name).to.equal('Fido');
    expect(() => {
      // @ts-expect-error: an animal does not change
      pet.name = 'Rex';
    }).to.throw(TypeError);
    const unsound: PetRepository[] = [
      // @ts-expect-error: its list is missing
      { ...sound, list: undefined },
      // @ts-expect-error: it does not say whether an add is a replay
      { ...sound, addOnce: async (added: UnsavedPet) => ({ pet: petWithId(1n, added) }) },
      // @ts-expect-error: its ids are numbers
      { ...sound, findById: async (id: number) => petWithId(BigInt(id), pet) },
      // @ts-expect-error: it finds null
      { ...sound, findById: async () => null },
      // @ts-expect-error: it has a status of its own
      { ...sound, list: async ({ status }: { status: 'lost' }) => [{ ...pet, status }] },
    ];
    expect(unsound).to.have.length(5);
  });
});

/** Where the package's manifest says that an entry is. */
function entryUrl(entry: string): string {
  const path = MANIFEST.exports[entry];
  if (path === undefined) throw new Error(`package.json has no entry ${entry}`);
  return new URL(path, ROOT).href;
}

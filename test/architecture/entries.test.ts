import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = new URL('../../../', import.meta.url);

/** What importing modules did. */
interface Effects {
  /** Addresses of all that was loaded. */
  readonly loaded: readonly string[];
  /** Environment variables that code of ours, or of a package, asked for. */
  readonly environment: readonly string[];
  readonly exports: readonly string[];
}

// Node.js asks for variables of its own while it loads: who asks is told by the stack.
const OBSERVER = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  const environment = [];
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
  const asked = (name) => {
    const callers = new Error().stack.split('\\n').slice(3).filter((caller) => !caller.includes('<anonymous>'));
    if (!/[( ]node:/.test(callers[0])) environment.push(String(name));
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

const packagesIn = ({ loaded }: Effects): string[] => [
  ...new Set(loaded.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])),
];

const foldersIn = ({ loaded }: Effects): string[] => [
  ...new Set(loaded.flatMap((url) => /\/build\/src\/(adapters\/[^/]+|bootstrap)\//.exec(url)?.[1] ?? [])),
];

describe('Importing', () => {
  describe('animal-store', () => {
    let effects: Effects;
    before(async () => {
      effects = await importing(new URL('build/src/index.js', ROOT).href);
    });

    it('offers what embedding needs', () => {
      expect(effects.exports).to.include.members([
        'createAnimalStore',
        'PetNotFoundError',
        'parse',
        'stringify',
      ]);
    });

    it('loads the inner layers only: no adapter, no package, nothing of Node.js', () => {
      const inner = new URL('build/src/', ROOT).href;
      for (const url of effects.loaded) expect(url.startsWith(inner), url).to.equal(true);
      expect(effects.loaded).to.include(`${inner}domain/pet.js`);
      expect(foldersIn(effects)).to.deep.equal([]);
    });

    it('reads nothing of the environment', () => {
      expect(effects.environment).to.deep.equal([]);
    });
  });

  describe('an adapter', () => {
    // What must be there shows that looking works; what must not be there is all that others bring.
    const ENTRIES: ReadonlyArray<readonly [entry: string, folders: string[], packages: string[]]> = [
      ['./http', ['adapters/http'], ['typebox']],
      ['./client', ['adapters/http'], []],
      ['./api-keys', ['adapters/api-keys'], []],
      ['./memory', ['adapters/memory'], []],
      ['./sqlite', ['adapters/sqlite'], []],
    ];
    for (const [entry, folders, packages] of ENTRIES) {
      it(`${entry} prints nothing, reads no environment, and loads ${packages.join(', ') || 'no package'}`, async () => {
        const effects = await importing(await entryUrl(entry));
        expect(foldersIn(effects)).to.deep.equal(folders);
        expect(packagesIn(effects)).to.deep.equal(packages);
        expect(effects.environment).to.deep.equal([]);
      });
    }

    it('./fetch runs without Node.js: it loads no package, no other transport and no module of Node.js', async () => {
      const effects = await importing(await entryUrl('./fetch'));
      expect(effects.exports).to.deep.equal(['createFetchHandler']);
      expect(foldersIn(effects)).to.deep.equal(['adapters/http']);
      expect(packagesIn(effects)).to.deep.equal([]);
      expect(effects.loaded.filter((url) => url.startsWith('node:'))).to.deep.equal([]);
      expect(
        effects.loaded.filter((url) => /\/http\/(?:koa|node|client|docs-page)\//.test(url)),
      ).to.deep.equal([]);
      expect(effects.environment).to.deep.equal([]);
    });

    it('./mongodb loads the driver, prints nothing, and loads no other adapter', async () => {
      const effects = await importing(await entryUrl('./mongodb'));
      expect(foldersIn(effects)).to.deep.equal(['adapters/mongodb']);
      expect(packagesIn(effects)).to.include('mongodb');
    });

    it('./client loads the inner layers, its own folder and a rule of the interface: nothing that a browser lacks', async () => {
      const { loaded } = await importing(await entryUrl('./client'));
      const http = 'adapters\\/http\\/(?:client\\/|request/idempotency-key\\.js)';
      const places = new RegExp(`/build/src/(?:${http}|application/|domain/|exact-json\\.js)`);
      for (const url of loaded) expect(url).to.match(places);
      expect(loaded.length).to.be.greaterThan(10);
    });

    it('./koa loads koa, and neither a store nor the container', async () => {
      const effects = await importing(await entryUrl('./koa'));
      expect(foldersIn(effects)).to.deep.equal(['adapters/http']);
      expect(packagesIn(effects)).to.include.members(['koa', '@koa/router', 'koa-bodyparser']);
      expect(packagesIn(effects)).to.not.include.members(['inversify', 'pino']);
    });
  });

  it('any module prints nothing and does nothing, but the command and the docs page', async () => {
    const built = new URL('build/src/', ROOT);
    const modules = (await readdir(built, { recursive: true }))
      .filter((name) => name.endsWith('.js') && !/main\.js$|\bdocs-page\b.page\.js$/.test(name))
      .map((name) => new URL(name.replaceAll('\\', '/'), built).href);
    const { loaded, exports } = await importing(...modules);
    expect(loaded).to.include.members(modules);
    expect(exports).to.include.members(['createContainer', 'openSqliteStore', 'runCli']);
  });

  it('animal-store/bootstrap prints nothing, and loads no store before one is asked for', async () => {
    const effects = await importing(await entryUrl('./bootstrap'));
    expect(packagesIn(effects)).to.include('inversify');
    expect(foldersIn(effects)).to.not.include.members(['adapters/sqlite', 'adapters/memory']);
    expect(effects.loaded).to.not.include('node:sqlite');
  });
});

/** Where the package's manifest says that an entry is. */
async function entryUrl(entry: string): Promise<string> {
  const manifest: { exports: Record<string, string> } = JSON.parse(
    await readFile(new URL('package.json', ROOT), 'utf8'),
  );
  const path = manifest.exports[entry];
  if (path === undefined) throw new Error(`package.json has no entry ${entry}`);
  return new URL(path, ROOT).href;
}

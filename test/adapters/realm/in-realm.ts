import { readFile } from 'node:fs/promises';
import {
  createContext,
  runInContext,
  SourceTextModule,
  SyntheticModule,
  type Context,
  type Module,
} from 'node:vm';

/*
 * Runs a module of this package, and the others that it imports, in another realm: with an `Error`, a `Date` and so on
 * of its own, and with Node.js and the packages of the first realm. Jest and Vitest's vmThreads run tests like this.
 * Usage: node --experimental-vm-modules in-realm.js URL-OF-MODULE ARGUMENT...
 */

/** A new realm with all that Node.js adds to the language. */
function newRealm(): Context {
  const realm = createContext({});
  const added = Object.getOwnPropertyDescriptors(globalThis);
  const names = runInContext('Object.getOwnPropertyNames(globalThis)', realm) as string[];
  for (const name of names) Reflect.deleteProperty(added, name);
  return Object.defineProperties(realm, added);
}

const realm = newRealm();
const modules = new Map<string, Promise<Module>>();

async function makeModule(url: string): Promise<Module> {
  if (url.startsWith('file:') && !url.includes('/node_modules/')) {
    const source = await readFile(new URL(url), 'utf8');
    return new SourceTextModule(source, {
      identifier: url,
      context: realm,
      initializeImportMeta: (meta) => {
        meta.url = url;
      },
    });
  }
  const outside = (await import(url)) as Record<string, unknown>;
  const names = Object.keys(outside);
  return new SyntheticModule(
    names,
    function provide(this: SyntheticModule) {
      for (const name of names) this.setExport(name, outside[name]);
    },
    { identifier: url, context: realm },
  );
}

/** One module for each URL. */
function moduleAt(url: string): Promise<Module> {
  const found = modules.get(url) ?? makeModule(url);
  modules.set(url, found);
  return found;
}

const main = await moduleAt(String(process.argv[2]));
await main.link((specifier, { identifier }) =>
  moduleAt(
    specifier.startsWith('.')
      ? new URL(specifier, identifier).href
      : import.meta.resolve(specifier),
  ),
);
await main.evaluate();

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.js';
import { databaseIn, clientFor } from '../../src/adapters/mongodb/mongo-url.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { firstKeyNotice } from '../../src/bootstrap/first-start.js';
import { Child, MAIN, cleanUp, program, temporaryFolder } from '../service/running-service.js';
import { CODE_BLOCKS, DOCUMENTS, ROOT, codeAt, read } from './code-blocks.js';

const MANIFEST = JSON.parse(read('package.json')) as {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Does what a line for a shell says, the program being the one that was built. */
const shell = (line: string, folder: string, environment: Readonly<Record<string, string>> = {}): Child =>
  new Child(
    'sh',
    [
      '-c',
      line.replaceAll(/npm run -s cli --|(?:npx )?animal-store (?=serve|check-store)/g, '"$NODE" "$MAIN" '),
    ],
    folder,
    { NODE: process.execPath, NODE_OPTIONS: '--disable-warning=ExperimentalWarning', MAIN, ...environment },
  );

const linesOf = (code: string): string[] => code.trimEnd().split('\n');

/** The commands of a console, and what each printed. */
const stepsOf = (code: string): Array<{ readonly command: string; readonly printed: string }> =>
  code
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({ command: linesOf(step)[0] ?? '', printed: step.slice(step.indexOf('\n') + 1) }));

/** What a shell is given, in blocks and in the text. */
const COMMANDS: readonly string[] = [
  ...CODE_BLOCKS.filter(({ language }) => ['sh', 'console', 'dockerfile'].includes(language)).flatMap(
    ({ code }) => linesOf(code),
  ),
  ...DOCUMENTS.map((document) => read(document).replaceAll(/^```[^]*?^```$/gm, '')).flatMap((prose) =>
    Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, span = '']) => span),
  ),
];

const named = (pattern: RegExp): string[] => [
  ...new Set(COMMANDS.flatMap((command) => Array.from(command.matchAll(pattern), ([, name = '']) => name))),
];

/** A store with two of everything that is copied. */
async function fill(file: string): Promise<void> {
  const { pets, apiKeys, close } = await openSqliteStore(file);
  const store = createAnimalStore({ pets });
  for (const token of ['one', 'two']) {
    await store.createPet({ name: token, categoryId: 1 }, { request: { scope: 'tests', token } });
    const hash = token.charCodeAt(0).toString(16).padStart(64, '0');
    await apiKeys.add({ id: token, name: token, hash, scopes: ['pets:read'], createdAt: new Date() });
  }
  await close();
}

/** What a copy prints, without what differs from one to another. */
const shape = (text: string): string =>
  text
    .replaceAll(/is [0-9a-f]+(?:\.\.\.|\.)/g, 'is HASH')
    .replaceAll(/(?<=from |to {3})\/.*\//g, '')
    .replaceAll(/, [\d,]+\/s/g, '')
    .replaceAll(/\d[\d,]*(?=\D)/g, 'N');

describe('The commands in the documents', function () {
  this.timeout(60_000);

  afterEach(cleanUp);

  it('run scripts that there are', () => {
    const scripts = named(/\bnpm run (?:-s )?([\w:-]+)/g).concat(named(/\bnpm (start|test)\b/g));
    expect(scripts).to.include.members(['cli', 'check', 'start', 'test', 'build']);
    expect(scripts.filter((name) => MANIFEST.scripts[name] === undefined)).to.deep.equal([]);
  });

  it('run programs that there are', () => {
    const programs = named(/\bnpx ([a-z][\w-]*)/g);
    expect(programs).to.include.members(['mocha', 'animal-store']);
    const missing = programs.filter(
      (name) => MANIFEST.bin[name] === undefined && !existsSync(join(ROOT, 'node_modules/.bin', name)),
    );
    expect(missing).to.deep.equal([]);
    expect(named(/\bnode (tools\/[\w./-]+)/g).filter((file) => !existsSync(join(ROOT, file)))).to.deep.equal(
      [],
    );
  });

  it('set what can be set', () => {
    const tables = ['README.md', 'CONTRIBUTING.md'].map(read).join('\n');
    const settings = named(/(?:^|\s)([A-Z][A-Z_]+)=/g).filter((name) => name !== 'KEY');
    expect(settings).to.include.members(['STORE_URL', 'ADAPTERS', 'HOST']);
    const unknown = settings.filter((name) => !new RegExp(`^\\|.*\`${name}(?:=1)?\`.*\\|`, 'm').test(tables));
    expect(unknown).to.deep.equal([]);
  });

  it('give the program commands and options that it has', async () => {
    const folder = await temporaryFolder();
    const uses = new Map<string, Set<string>>();
    for (const command of COMMANDS) {
      const [, words = '', rest = ''] =
        /(?:npm run -s cli --|(?<![\w/.-])animal-store) ((?:keys )?[a-z][a-z-]*)(.*)/.exec(command) ?? [];
      if (words === '' || words === 'keys') continue;
      const options = uses.get(words) ?? new Set();
      for (const [, option = ''] of rest.replace(/ #.*/, '').matchAll(/ (--[a-z-]+)/g)) options.add(option);
      uses.set(words, options);
    }
    expect([...uses.keys()]).to.include.members([
      'keys issue',
      'copy',
      'check-store',
      'deprecations',
      'serve',
    ]);
    for (const [words, options] of uses) {
      const { code, out } = await program(folder, [...words.split(' '), '--help']).ended;
      expect(code, words).to.equal(0);
      for (const option of options) expect(out, words).to.include(option);
    }
  });

  it('tell of the first start what it prints', () => {
    const told = codeAt('README.md > Run it > 2');
    const key = /^ {2}(ast_live_\w+)$/m.exec(told)?.[1] ?? '';
    const address = 'http://127.0.0.1:8080';
    const notice = firstKeyNotice(key, { url: `${address}/v1`, docsUrl: `${address}/docs` });
    expect(told.trimEnd()).to.equal(
      notice.trimEnd().replaceAll(`Bearer ${key}`, `Bearer ${key.slice(0, 13)}...`),
    );
  });

  it('issue, list, rotate and revoke keys', async () => {
    const folder = await temporaryFolder();
    const [issue = '', list = '', rotate = '', revoke = '', ...more] = linesOf(
      codeAt('README.md > A tour > 3'),
    );
    expect(more).to.deep.equal([]);
    const issued = await shell(issue, folder).ended;
    expect(issued.out).to.match(/^ast_live_\w+\n$/);
    const id = issued.out.split('_')[2] ?? '';
    const listed = await shell(list, folder).ended;
    expect(listed.out).to.include(id).and.to.include('shop-window').and.to.include('pets:read');
    const rotated = await shell(rotate.replace('4fZk02Qa', id), folder).ended;
    expect([rotated.code, rotated.out.startsWith('ast_live_')]).to.deep.equal([0, true]);
    expect((await shell(revoke.replace('4fZk02Qa', id), folder).ended).code).to.equal(0);
  });

  it('tell who calls what is deprecated, as it is shown', async () => {
    const folder = await temporaryFolder();
    const [{ command, printed } = { command: '', printed: '' }] = stepsOf(codeAt('README.md > A tour > 4'));
    const rows = linesOf(printed)
      .slice(1)
      .map((line) => line.split(/ {2,}/));
    const { apiKeys, deprecatedCalls, close } = await openSqliteStore(join(folder, 'data/animal-store.db'));
    const counts = rows.map(([day = '', operationId = '', keyId = '', , calls, lastAt = '']) => ({
      day,
      operationId,
      keyId,
      calls: Number(calls),
      lastAt: new Date(lastAt),
    }));
    const hash = '0'.repeat(64);
    const [[, , id = '', name = ''] = []] = rows;
    await apiKeys.add({ id, name, hash, scopes: ['pets:read'], createdAt: new Date() });
    await deprecatedCalls.record({ id: crypto.randomUUID(), counts });
    await close();
    expect((await shell(command, folder).ended).out).to.equal(printed);
  });

  it('copy a store, and say so as it is shown', async () => {
    const folder = await temporaryFolder();
    await fill(join(folder, 'data/animal-store.db'));
    const [{ command, printed } = { command: '', printed: '' }] = stepsOf(
      codeAt('README.md > Move to another store > 1'),
    );
    const { code, out, err } = await shell(command.replace('/srv/', `${folder}/srv/`), folder).ended;
    expect(code).to.equal(0);
    expect(shape(err + out)).to.equal(shape(printed));
  });

  it('copy a store that serves, by itself and by SQLite', async () => {
    const folder = await temporaryFolder();
    const place = (text: string): string =>
      text.replaceAll('/var/lib/animal-store', folder).replaceAll('/backup/', `${folder}/`);
    const heading = 'docs/operations/deploy.md > SQLite: copies for the worst case';
    const file = join(folder, 'animal-store.db');
    const copy = join(folder, '2026-11-21.db');
    await fill(file);
    const serving = await openSqliteStore(file);
    const isWhole = async (): Promise<void> => {
      const { pets, close } = await openSqliteStore(copy, { mustExist: true });
      expect((await pets.list({ limit: 10 })).map(({ name }) => name)).to.deep.equal(['one', 'two']);
      await close();
      rmSync(copy);
    };
    try {
      expect((await shell(place(codeAt(`${heading} > 1`)), folder).ended).code).to.equal(0);
      await isWhole();
      // The statement that the block gives to the sqlite3 program, which may not be here.
      const [, of = '', statement = ''] =
        /^sqlite3 (\S+) "(.*)"$/m.exec(place(codeAt(`${heading} > 2`))) ?? [];
      const database = new DatabaseSync(of);
      database.exec(statement);
      database.close();
      await isWhole();
    } finally {
      await serving.close();
    }
  });

  it('name databases of MongoDB that can be reached by such an address', async () => {
    const addresses = named(/'(mongodb:\/\/[^']+)'/g);
    expect(addresses).to.have.length.greaterThan(0);
    for (const address of addresses) {
      expect(databaseIn(address)).to.equal('animal-store');
      await clientFor(address).close();
    }
  });

  describe('of guides', () => {
    let folder: string;
    beforeEach(() => {
      // Within the package its own name can be imported.
      folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'commands-'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it('install the package that npm pack makes, and the container that it is wired with', () => {
      const [, tarball, inversify] = /npm install \.\.\/(\S+) inversify@(\d+)$/m.exec(
        codeAt('docs/write-an-adapter.md > Write an adapter > 1'),
      ) ?? [undefined];
      expect(tarball).to.equal(`animal-store-${MANIFEST.version}.tgz`);
      expect(MANIFEST.dependencies['inversify']?.split('.')[0]).to.equal(inversify);
    });

    it('serve with a store of one’s own', async () => {
      for (const place of ['A store from nothing > 1', 'Bring it into the service > 1']) {
        const code = codeAt(`docs/write-an-adapter.md > ${place}`);
        writeFileSync(join(folder, /^\/\/ (\S+)/.exec(code)?.[1] ?? ''), code);
      }
      const [serve = ''] = linesOf(codeAt('docs/write-an-adapter.md > Bring it into the service > 2'));
      const service = shell(`exec env ${serve}`, folder, { PORT: '0' });
      const url = await service.ready();
      const headers = { Authorization: 'Bearer a-key-of-your-own' };
      expect(await (await fetch(`${url}/pets`, { headers })).text()).to.equal('[]');
      expect((await service.stop()).code).to.equal(0);
    });

    it('check stores of one’s own', async () => {
      writeFileSync(join(folder, 'adapter.mjs'), codeAt('README.md > Bring your own store > 1'));
      writeFileSync(join(folder, 'store.mjs'), codeAt('docs/contract-suites.md > A subject > 1'));
      const lines = linesOf(codeAt('docs/contract-suites.md > Without a test runner > 2'));
      for (const line of lines) {
        const { code, out } = await shell(`${line} --only 'ids'`, folder).ended;
        expect(code, out).to.equal(0);
        expect(out).to.match(line.includes('--json') ? /^\{/ : /^PetRepository: [1-9]/);
      }
    });
  });
});

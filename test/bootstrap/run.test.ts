import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { createAnimalStore } from '../../src/index.js';
import { openApiDocument } from '../../src/adapters/http/open-api/open-api-document.js';
import { run } from '../../src/bootstrap/run.js';
import type { Outcome } from './program.js';

describe('A command line, run', () => {
  let folder: string;
  let environment: Record<string, string>;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'animal-store-run-'));
    environment = { STORE_URL: `sqlite:${join(folder, 'pets.db')}` };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const outcome = (...args: readonly string[]): Promise<Outcome> => outcomeOn({}, ...args);

  async function outcomeOn(
    terminal: { readonly isTTY?: boolean; readonly columns?: number | undefined },
    ...args: readonly string[]
  ): Promise<Outcome> {
    let [out, err] = ['', ''];
    const stdout = { write: (text: string) => (out += text) };
    const stderr = { write: (text: string) => (err += text), ...terminal };
    const process = Object.assign(new EventEmitter(), { env: environment, stdout, stderr });
    const code = await run(args, process as unknown as NodeJS.Process);
    return { code, out, err };
  }

  /** A store of others, as an adapter in a file. */
  function useAdapter(statements: string): void {
    const file = join(folder, 'adapter.mjs');
    writeFileSync(
      file,
      `import { ContainerModule } from '${import.meta.resolve('inversify')}';
       import { writeFileSync } from 'node:fs';
       import * as bootstrap from '${new URL('../../src/bootstrap/index.js', import.meta.url).href}';
       import * as memory from '${new URL('../../src/adapters/memory/index.js', import.meta.url).href}';
       const pets = new memory.MemoryPetRepository();
       const close = async () => writeFileSync(${JSON.stringify(join(folder, 'closed'))}, '');
       const open = async () => { ${statements} };
       export const adapter = new ContainerModule((options) =>
         bootstrap.provideValue(options, bootstrap.TOKENS.storeFactory, { scheme: 'other', open }));`,
    );
    environment = { STORE_URL: 'other:', ADAPTERS: file };
  }
  const wasClosed = (): boolean => existsSync(join(folder, 'closed'));

  it('says the version of the package', async () => {
    const manifest: { version: string } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    );
    expect(await outcome('--version')).to.deep.equal({ code: 0, out: `${manifest.version}\n`, err: '' });
  });

  /** What a copy of one animal shows on a terminal that says it has so many columns. */
  async function copying(columns: number | undefined): Promise<string> {
    const [from, to] = [`sqlite:${join(folder, 'from.db')}`, `sqlite:${join(folder, 'to.db')}`];
    const store = await openSqliteStore(join(folder, 'from.db'));
    await createAnimalStore({ pets: store.pets }).createPet({ name: 'Rex', categoryId: 1 });
    await store.close();
    const { code, err } = await outcomeOn({ isTTY: true, columns }, 'copy', '--from', from, '--to', to);
    expect(code).to.equal(0);
    return err;
  }

  describe('shows progress', () => {
    const WHOLE = '\r[############] verifying 100 %, 2 of 2\u001b[K';

    it('whole on a terminal that is wide enough', async () => {
      expect(await copying(80)).to.include(WHOLE);
    });

    it('cut off on one that is not, so that the line can be rewritten', async () => {
      expect(await copying(20)).to.include(`\r${WHOLE.slice(1, 20)}\u001b[K`);
    });

    for (const columns of [0, undefined]) {
      it(`whole on one that says it has ${columns} columns: it does not know`, async () => {
        expect(await copying(columns)).to.include(WHOLE);
      });
    }
  });

  it('ends with 2 when it is wrong', async () => {
    const { code, out, err } = await outcome('keys', 'issue');
    expect({ code, out }).to.deep.equal({ code: 2, out: '' });
    expect(err).to.equal('--name is missing\nSee: animal-store keys issue --help\n');
  });

  for (const command of ['serve', 'openapi', 'keys list', 'keys issue --name till']) {
    it(`ends with 2 at wrong settings, all named before anything is opened: ${command}`, async () => {
      environment = { ...environment, PORT: 'eighty', LOG_LEVEL: 'loud' };
      expect(await outcome(...command.split(' '))).to.deep.equal({
        code: 2,
        out: '',
        err:
          'These settings cannot be used:\n' +
          '  PORT must be an integer from 0 to 65535\n' +
          '  LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent\n',
      });
      expect(existsSync(join(folder, 'pets.db'))).to.equal(false);
    });
  }

  it('prints the OpenAPI document that the settings describe, and opens nothing', async () => {
    const publicUrl = 'https://animals.example.org/v1';
    environment = {
      ...environment,
      PUBLIC_URL: publicUrl,
      STAGING_URL: 'https://a.example/v1',
      GET_PET: 'off',
    };
    expect(await outcome('openapi')).to.deep.equal({
      code: 0,
      out: openApiDocument({ publicUrl, stagingUrl: 'https://a.example/v1', getPet: 'off' }),
      err: '',
    });
    expect(existsSync(join(folder, 'pets.db'))).to.equal(false);
  });

  it('ends with 2 at a store that no adapter knows', async () => {
    environment = { STORE_URL: 'mongo://me:secret@host' };
    expect(await outcome('keys', 'list')).to.deep.equal({
      code: 2,
      out: '',
      err: 'These settings cannot be used:\n  STORE_URL has the scheme mongo:, and known are memory, sqlite, mongodb, mongodb+srv\n',
    });
  });

  it('issues a key, lists it, rotates it and revokes it, in a store that it makes', async () => {
    environment = { ...environment, KEY_ENVIRONMENT: 'test' };
    const issued = await outcome(
      'keys',
      'issue',
      '--name',
      'till',
      '--scope',
      'pets:read',
      '--expires',
      '1h',
    );
    expect(issued.code).to.equal(0);
    const [, id = ''] = /^ast_test_(\w{8})_\w{43}_\w{6}\n$/.exec(issued.out) ?? [];
    expect(issued.err).to.match(new RegExp(`^Key ${id} \\(till\\) has the scope pets:read; it expires at `));

    const rotated = await outcome('keys', 'rotate', id, '--overlap', '0', '--json');
    const { replaced, ...next }: { id: string; replaced: object } = JSON.parse(rotated.out);
    expect(replaced).to.include({ id, replacedBy: next.id, state: 'expired' });

    const revoked = await outcome('keys', 'revoke', next.id);
    expect(revoked).to.include({ code: 0, out: '' });
    const listed = await outcome('keys', 'list', '--json');
    const keys: Array<{ id: string; state: string }> = JSON.parse(listed.out);
    expect(keys.map((key) => [key.id, key.state])).to.deep.equal([
      [id, 'expired'],
      [next.id, 'revoked'],
    ]);
    expect(listed.out).to.not.include('hash');
  });

  it('ends with 1 and one line at what cannot be done', async () => {
    await outcome('keys', 'issue', '--name', 'till');
    expect(await outcome('keys', 'revoke', 'nobody')).to.deep.equal({
      code: 1,
      out: '',
      err: 'No API key has this id.\n',
    });
  });

  it('ends with 1 and one line at a store that cannot be opened', async () => {
    writeFileSync(join(folder, 'pets.db'), 'a letter to a friend');
    const { code, out, err } = await outcome('keys', 'list');
    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err).to.match(/^[^\n]*pets\.db[^\n]*\n$/);
  });

  it('says why keys cannot be managed in a memory store', async () => {
    environment = { STORE_URL: 'memory:' };
    expect(await outcome('keys', 'list')).to.deep.equal({
      code: 1,
      out: '',
      err: 'A memory store is inside the service that runs it: its keys cannot be reached from here. Use API_KEYS.\n',
    });
  });

  describe('with a store of others', () => {
    it('closes it when it is done', async () => {
      useAdapter(
        "return { pets, apiKeys: new memory.MemoryApiKeyRepository(), location: 'elsewhere', close };",
      );
      expect(await outcome('keys', 'list')).to.include({ code: 0, err: 'The store has no API keys.\n' });
      expect(wasClosed()).to.equal(true);
    });

    it('closes it when it failed', async () => {
      useAdapter(
        "return { pets, apiKeys: new memory.MemoryApiKeyRepository(), location: 'elsewhere', close };",
      );
      expect(await outcome('keys', 'revoke', 'nobody')).to.include({ code: 1 });
      expect(wasClosed()).to.equal(true);
    });

    it('says when it keeps no keys, and closes it', async () => {
      useAdapter("return { pets, location: 'elsewhere', close };");
      expect(await outcome('keys', 'list')).to.include({
        code: 1,
        err: 'This store keeps no API keys. Use API_KEYS.\n',
      });
      expect(wasClosed()).to.equal(true);
    });

    it('shows one line of an error that people can do something about, and nothing of its cause', async () => {
      useAdapter("throw new Error('the cupboard is locked', { cause: new Error('password hunter2') });");
      expect(await outcome('keys', 'list')).to.include({ code: 1, err: 'the cupboard is locked\n' });
    });

    it('shows where a fault of the program is', async () => {
      useAdapter('return undefined.cupboard;');
      const { code, err } = await outcome('keys', 'list');
      expect(code).to.equal(1);
      expect(err).to.match(/^TypeError: .*\n +at .*adapter\.mjs/);
    });

    it('shows what was thrown though it is no error', async () => {
      useAdapter("throw 'a tantrum';");
      expect(await outcome('keys', 'list')).to.include({ code: 1, err: 'a tantrum\n' });
    });
  });
});

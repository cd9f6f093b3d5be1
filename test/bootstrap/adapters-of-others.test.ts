import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Program, runProgram } from './program.js';

/** What an adapter imports. It is no part of the package, so it names modules by their places. */
const IMPORTS = `
  import { ContainerModule } from '${import.meta.resolve('inversify')}';
  import { savedPet, UnavailableError } from '${new URL('../../src/index.js', import.meta.url).href}';
  import { TOKENS, provideValue } from '${new URL('../../src/bootstrap/index.js', import.meta.url).href}';
`;

/** A store as somebody else would write it, in plain JavaScript: animals on a shelf, which holds so many. */
const SHELF = `${IMPORTS}
  class ShelfPetRepository {
    capabilities = { durable: false, shared: false };
    #pets = [];
    #room;
    constructor(room) { this.#room = room; }
    async add(pet) {
      if (this.#pets.length === this.#room) throw new UnavailableError('finding room on the shelf');
      const saved = savedPet(1000n + BigInt(this.#pets.length), pet);
      this.#pets.push(saved);
      return { pet: saved, replayed: false };
    }
    async findById(id) { return this.#pets.find((pet) => pet.id === id); }
    async list({ after = 0n, limit, status }) {
      return this.#pets
        .filter((pet) => pet.id > after && (status === undefined || pet.status === status))
        .slice(0, limit);
    }
    async check() {}
    async close() { console.error('the shelf is closed'); }
  }
  export const adapter = new ContainerModule((options) =>
    provideValue(options, TOKENS.storeFactory, {
      scheme: 'shelf',
      async open(url) {
        const pets = new ShelfPetRepository(Number(url.slice('shelf:'.length)));
        return { pets, location: 'a shelf', close: () => pets.close() };
      },
    }),
  );
`;

/** Adds an animal and lists, over HTTP. */
async function use(url: string): Promise<readonly [added: number, listed: string]> {
  const headers = { Authorization: 'Bearer key-of-the-shelf', 'Content-Type': 'application/json' };
  const body = '{"name":"Bella","categoryId":9223372036854775807}';
  const added = await fetch(`${url}/pets`, { method: 'POST', headers, body });
  await added.text();
  return [added.status, await (await fetch(`${url}/pets`, { headers })).text()];
}

describe('Adapters of others, by ADAPTERS', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-adapters-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (name: string, text: string): void => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const SERVICE = { PORT: '0', API_KEYS: 'key-of-the-shelf', LOG_FORMAT: 'json' };
  const serveWith = (environment: Record<string, string>): Program =>
    new Program(['serve'], { folder, environment: { ...SERVICE, ...environment } });

  const bella = '[{"id":1000,"name":"Bella","categoryId":9223372036854775807,"status":"available"}]';

  it('bring a store, which then serves HTTP and is closed in the end', async () => {
    write('shelf.mjs', SHELF);
    const program = serveWith({ ADAPTERS: './shelf.mjs', STORE_URL: 'shelf:1' });
    const url = await program.ready();
    expect(await use(url)).to.deep.equal([201, bella]);
    expect(await use(url), 'when the shelf is full').to.deep.equal([503, bella]);
    const { code, err } = await program.stop();
    expect(code).to.equal(0);
    expect(err).to.include('animals in a shelf').and.to.include('the shelf is closed\n');
    expect(existsSync(join(folder, 'data')), 'no other store').to.equal(false);
  });

  it('are found as packages of the working directory, and by absolute path', async () => {
    write('node_modules/@others/shelf/package.json', '{"type":"module","exports":"./shelf.js"}');
    write('node_modules/@others/shelf/shelf.js', SHELF);
    write('log.mjs', `${IMPORTS} export const adapter = new ContainerModule(() => console.error('loaded'));`);
    const program = serveWith({
      ADAPTERS: `@others/shelf,${join(folder, 'log.mjs')}`,
      STORE_URL: 'shelf:1',
    });
    expect(await use(await program.ready())).to.deep.equal([201, bella]);
    expect((await program.stop()).err).to.include('loaded\n');
  });

  it('put their own in the place of what is there', async () => {
    write(
      'log.mjs',
      `${IMPORTS} export const adapter = new ContainerModule(({ rebind }) =>
        provideValue({ bind: rebind }, TOKENS.httpLog, {
          answered: ({ status }) => console.error('told', status),
          failed() {},
        }));`,
    );
    const program = serveWith({ ADAPTERS: './log.mjs', STORE_URL: 'memory:' });
    await use(await program.ready());
    expect((await program.stop()).err).to.include('told 201\ntold 200\n');
  });

  it('that cannot be used are all named, with exit code 2 and nothing opened', async () => {
    write('throws.mjs', "throw new Error('no licence');");
    const ADAPTERS = './missing.mjs,./throws.mjs,no-such-package';
    const { code, out, err } = await runProgram(['serve'], { folder, environment: { ...SERVICE, ADAPTERS } });
    expect({ code, out }).to.deep.equal({ code: 2, out: '' });
    expect(err).to.match(
      /^These settings cannot be used:\n(?: {2}ADAPTERS names \S+, which cannot be loaded: .+\n){3}$/,
    );
    expect([...err.matchAll(/names (\S+),/g)].map(([, name]) => name)).to.deep.equal(ADAPTERS.split(','));
    expect(existsSync(join(folder, 'data'))).to.equal(false);
  });
});

import { readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { PET_RULES } from '../../src/domain/pet.js';
import { KEY, Serving } from '../bootstrap/test-io.js';
import { ROOT, read } from '../docs/code-blocks.js';
import { cleanUp, shellLine, startedService, temporaryFolder } from '../service/running-service.js';
import { StoreClient } from '../service/store-client.js';
import type { Adapter } from '../../src/bootstrap/service/wiring.js';

const EXAMPLES = join(ROOT, 'examples');
const BEARER = { Authorization: `Bearer ${KEY}` };
const JSON_BODY = { ...BEARER, 'Content-Type': 'application/json' };
const LARGEST = '9223372036854775807';
const NEW_BELLA = `{"name":"Bella","categoryId":${LARGEST}}`;
const BELLA = `{"id":1,"name":"Bella","categoryId":${LARGEST},"status":"available"}`;

/** Starts a service on a store in memory, and resolves to its URL. */
const serve = (...adapters: Adapter[]): Promise<string> =>
  new Serving({ STORE_URL: 'memory:', API_KEYS: KEY }, ...adapters).ready();

/** The same with the adapter that an example exports. */
async function serveWith(example: string): Promise<string> {
  const { adapter } = (await import(join(EXAMPLES, example))) as { adapter: Adapter };
  return serve(adapter);
}

/** Adds an animal; resolves to it, and to its path. */
async function addBella(pets: string) {
  const created = await fetch(pets, { method: 'POST', headers: JSON_BODY, body: NEW_BELLA });
  expect(created.status, 'the status of the create').to.equal(201);
  return { animal: await created.text(), path: created.headers.get('location') ?? '' };
}

describe('The examples', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(cleanUp);

  /** Starts a program that reads `input`. */
  function start(name: string, environment: Readonly<Record<string, string>> = {}, input = '') {
    writeFileSync(join(folder, 'input'), input);
    const line = 'cat input | "$NODE" --disable-warning=ExperimentalWarning "$EXAMPLE"';
    return shellLine(folder, line, {
      EXAMPLE: join(EXAMPLES, name),
      API_KEY: KEY,
      PORT: '0',
      ANIMALS_FILE: join(folder, 'animals.db'),
      ...environment,
    });
  }

  /** What a program prints that ends by itself. */
  async function run(name: string, input = '', environment: Readonly<Record<string, string>> = {}) {
    const { out, err, code } = await start(name, environment, input).ended;
    return { out: out.split('\n'), err, code };
  }

  it('in-memory.mjs: add, get and list, exactly', async () => {
    expect(await run('embedding/in-memory.mjs')).to.deep.equal({
      out: [BELLA, `[${BELLA}]`, ''],
      err: '',
      code: 0,
    });
  });

  it('in-a-file.mjs: the animals are still there when it runs again', async () => {
    const first = await run('embedding/in-a-file.mjs');
    const second = await run('embedding/in-a-file.mjs');

    expect([first.out[0], first.code]).to.deep.equal([BELLA, 0]);
    const id = Number(/^\{"id":(\d+),/.exec(second.out[0] ?? '')?.[1]);
    expect(id, 'the id of the animal that the second run adds').to.be.greaterThan(1);
  });

  it('worker-script.mjs: adds each line once, however often it runs, and says which is wrong', async () => {
    const delivery = `Bella ${LARGEST}\nZoë the 2nd -1\n`;
    const first = await run('embedding/worker-script.mjs', delivery);
    const second = await run('embedding/worker-script.mjs', `${delivery}Milo 2\n`);

    expect([first.out[0], first.code]).to.deep.equal(['2 added', 0]);
    expect(second.out[0]).to.equal('1 added');
    for (const [line, said] of [
      ['Milo 9223372036854775808', 'line 3: expected a name, a space and a whole number'],
      ['Milo', 'line 3: expected a name, a space and a whole number'],
      ['  2', `line 3: The animal is not valid: name ${PET_RULES.name(' ')}.`],
    ] as const) {
      const { err, code } = await run('embedding/worker-script.mjs', `${delivery}${line}\n`);
      expect({ err: err.trimEnd(), code }).to.deep.equal({ err: said, code: 1 });
    }
  });

  it('without-sockets.test.mjs: passes', async () => {
    const { out, code } = await run('embedding/without-sockets.test.mjs');

    const report = out.join('\n');
    expect(report).to.match(/^. (?:pass 1|tests 1)$/m);
    expect(code, `the exit code after\n${report}`).to.equal(0);
  });

  /** Starts a program that prints where it serves, and resolves to that origin. */
  async function startServer(name: string): Promise<string> {
    for await (const line of createInterface(start(name).process.stdout))
      return new URL(line).origin;
    throw new Error(`${name} has ended`);
  }

  for (const [name, base] of [
    ['node-http.mjs', '/v1'],
    ['embedding/koa-app.mjs', '/shop/v1'],
  ] as const) {
    it(`${name}: serves the animals at ${base}, exactly`, async () => {
      const url = await startServer(name);

      const { animal, path } = await addBella(`${url}${base}/pets`);

      expect(path).to.match(new RegExp(`^${base}/pets/\\d+$`));
      expect(animal).to.include(`"categoryId":${LARGEST},`);
      const found = await fetch(url + path, { headers: BEARER });
      expect(await found.text()).to.equal(animal);
      const { status } = await fetch(url + path);
      expect(status, 'the status without a key').to.equal(401);
    });
  }

  it('embedding/koa-app.mjs: has a route of its own on the same store', async () => {
    const url = await startServer('embedding/koa-app.mjs');
    const { animal, path } = await addBella(`${url}/shop/v1/pets`);

    const shown = await fetch(url + path.replace('/shop/v1/pets', '/window'));

    expect(shown.headers.get('content-type')).to.match(/^application\/json/);
    expect(await shown.text()).to.equal(animal);
    for (const absent of ['/window/9223372036854775808', '/window/1.0', '/other'])
      expect((await fetch(url + absent)).status, absent).to.equal(404);
  });

  it('own-service.mjs: serves with its own log, the modules of ADAPTERS and a first key', async () => {
    const adapter = `import { addStore } from './add-store.mjs';
      export const adapter = { id: 1, load: ({ bind }) => bind(Symbol.for('animal-store.StoreFactory'))
        .toConstantValue({ scheme: 'shelf', open: async () => addStore() }) };`;
    writeFileSync(join(folder, 'shelf.mjs'), adapter);
    const memory = import.meta.resolve('../../src/adapters/memory/index.js');
    writeFileSync(
      join(folder, 'add-store.mjs'),
      `export { openMemoryStore as addStore } from '${memory}';`,
    );
    const { process: child, ended } = start('embedding/own-service.mjs', {
      API_KEY: '',
      ADAPTERS: './shelf.mjs',
      STORE_URL: 'shelf:',
      LOG_FORMAT: 'json',
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const { value: url } = await lines.next();
    const { value: key } = await lines.next();
    const headers = { ...JSON_BODY, Authorization: `Bearer ${String(key).slice(4)}` };

    const created = await fetch(`${url}/pets`, { method: 'POST', headers, body: NEW_BELLA });

    expect(await created.text()).to.equal(BELLA);
    const { value: printed } = await lines.next();
    expect(printed, 'what it prints').to.equal(`new ${BELLA}`);
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    const { err } = await ended;
    expect(err).to.match(/"path":"\/v1\/pets".*"status":201.*"msg":"responded"\}\n$/);
  });

  it('second-resource/categories.test.mjs: passes', async () => {
    const { out, err, code } = await run('second-resource/categories.test.mjs');

    expect(code, `${out.join('\n')}${err}`).to.equal(0);
    expect(out.join('\n')).to.match(/^. (?:pass|tests) 6$/m);
  });

  it('second-resource/categories.mjs and adapter.mjs: serve categories behind the same keys', async () => {
    const url = await serveWith('second-resource/adapter.mjs');
    const got = async (path: string): Promise<string> =>
      (await fetch(url + path, { headers: BEARER })).text();
    expect(await got('/categories')).to.equal('[{"id":1,"name":"Dogs"},{"id":2,"name":"Cats"}]');
    expect(await got('/categories/2')).to.equal('{"id":2,"name":"Cats"}');
    for (const id of ['3', 'cats', '9223372036854775808'])
      expect(await got(`/categories/${id}`)).to.include('"category_not_found"');
    expect(await got('/pets')).to.equal('[]');
  });

  it('fetch-transport.mjs: serves over Fetch in place of Koa', async () => {
    const url = await serveWith('fetch-transport.mjs');

    const { animal } = await addBella(`${url}/pets`);

    expect(animal).to.equal(BELLA);
    // Headers of Fetch forget how names were spelled: it is not Koa.
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.end('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).to.match(/\r\nx-request-id: /);
  });

  it('client.mjs: adds each line once, equal ones too, lists all, and says what is wrong', async () => {
    const environment = { BASE_URL: await serve() };
    const delivery = `Bella ${LARGEST}\nBella ${LARGEST}\n`;
    const other = BELLA.replace('1', '2');
    const list = [BELLA, other, ''];

    const first = await run('client.mjs', delivery, environment);
    const second = await run('client.mjs', delivery, environment);

    const out = [`added ${BELLA}`, `added ${other}`, ...list];
    expect(first).to.deep.equal({ out, err: '', code: 0 });
    expect(second.out).to.deep.equal([`exists ${BELLA}`, `exists ${other}`, ...list]);

    const tooLarge = await run('client.mjs', 'Bella 9223372036854775808\n', environment);
    const refused = await run('client.mjs', '', { ...environment, API_KEY: 'another-key' });

    expect(tooLarge.err).to.match(/^invalid_pet .*categoryId must be/);
    expect(refused.err).to.match(/^invalid_api_key .* \(request [\da-f-]+\)\n$/);
    expect([tooLarge.code, refused.code], 'the exit codes').to.deep.equal([1, 1]);
  });

  it('what-is-new.mjs: prints each animal that two services on a file add once, by id, and continues', async () => {
    const { url: one } = await startedService(folder);
    const { url: other } = await startedService(folder);
    const client = new StoreClient(KEY, false);
    const added: bigint[] = [];
    const add = async (url: string, name = 'Milo') =>
      added.push(BigInt(await client.add(url, name)));
    /** The ids that the program prints, up to the animal called "Last". Calls `onFirst` at the first one. */
    const printed = async (lastId: bigint, onFirst = () => {}): Promise<bigint[]> => {
      const environment = { BASE_URL: one, LAST_ID: String(lastId), PAUSE: '1' };
      const ids: bigint[] = [];
      const { stdout } = start('embedding/what-is-new.mjs', environment).process;
      for await (const line of createInterface(stdout)) {
        ids.push(BigInt(/^\{"id":(\d+),/.exec(line)?.[1] ?? 0));
        if (ids.length === 1) onFirst();
        if (line.includes('"Last"')) break;
      }
      return ids;
    };
    await add(one);
    const addMany = async (): Promise<void> => {
      const writers = Array.from({ length: 20 }, async (_, number) => {
        for (let count = 0; count < 20; count += 1) await add(number % 2 === 0 ? one : other);
      });
      await Promise.all(writers);
      await add(other, 'Last');
    };
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();

    const [ids] = await Promise.all([printed(0n, begin), begun.then(addMany)]);
    const continued = await printed(ids.at(-3) ?? 0n);

    const expected = added.sort((first, second) => (first < second ? -1 : 1));
    expect(ids, 'the ids that the first run prints').to.deep.equal(expected);
    expect(continued, 'the ids that the second run prints').to.deep.equal(ids.slice(-2));
  });

  it('are what docs/embedding.md shows, or leads to', () => {
    const page = read('docs/embedding.md');
    for (const name of readdirSync(join(EXAMPLES, 'embedding'))) {
      if (page.includes(`](../examples/embedding/${name})`)) continue;
      expect(page, name).to.include(read(`examples/embedding/${name}`));
    }
  });
});

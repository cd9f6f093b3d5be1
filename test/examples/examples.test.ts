import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY, RunningService } from '../service/running-service.js';
import { ROOT } from '../root.js';
import { cleanUp, shell, type Child } from '../service/child-process.js';
import { temporaryFolder } from '../temporary-folder.js';
import type { ContainerModule } from '../../src/bootstrap/index.js';

const EXAMPLES = join(ROOT, 'examples');
const BEARER = { Authorization: `Bearer ${KEY}` };
const LARGEST = '9223372036854775807';
const BELLA = `{"id":1,"name":"Bella","categoryId":${LARGEST},"status":"available"}`;

/** Starts a service in memory. Resolves to its URL. */
const startService = (...modules: readonly ContainerModule[]): Promise<string> =>
  new RunningService({ API_KEYS: KEY }, { modules }).ready();

/** The same, with the adapter that an example exports. */
async function startWith(example: string): Promise<string> {
  const { adapter } = (await import(join(EXAMPLES, example))) as { adapter: ContainerModule };
  return startService(adapter);
}

/** Adds an animal. Resolves to it, and to its path. */
async function addBella(base: string) {
  const response = await fetch(`${base}/pets`, {
    method: 'POST',
    headers: { ...BEARER, 'Content-Type': 'application/json' },
    body: `{"name":"Bella","categoryId":${LARGEST}}`,
  });
  const path = response.headers.get('location') ?? '';
  return { animal: await response.text(), path };
}

const get = async (url: string): Promise<string> => (await fetch(url, { headers: BEARER })).text();

describe('The example', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(cleanUp);

  /** Starts a program that reads `input`. */
  function start(
    name: string,
    environment: Readonly<Record<string, string>> = {},
    input = '',
  ): Child {
    writeFileSync(join(folder, 'input'), input);
    const line = 'cat input | "$NODE" --disable-warning=ExperimentalWarning "$EXAMPLE" $DELIVERY';
    const settings = {
      API_KEY: KEY,
      PORT: '0',
      DELIVERY: 'monday',
      ANIMALS_FILE: join(folder, 'animals.db'),
    };
    const EXAMPLE = join(EXAMPLES, name);
    return shell(folder, line, { EXAMPLE, ...settings, ...environment });
  }

  /** What a program prints that ends by itself. */
  async function run(...given: Parameters<typeof start>): Promise<string> {
    const child = start(...given);
    await child.ended;
    return child.out;
  }

  it('in-memory.mjs adds, gets and lists animals exactly', async () => {
    expect(await run('embedding/in-memory.mjs')).to.equal(`${BELLA}\n[${BELLA}]\n`);
  });

  it('in-a-file.mjs still has its animals when it runs again', async () => {
    expect(await run('embedding/in-a-file.mjs')).to.include(BELLA);
    expect(await run('embedding/in-a-file.mjs')).to.match(/^\{"id":3,"name":"Bella"/);
  });

  it('add-delivery.mjs adds each line once, however often it runs, and says which is wrong', async () => {
    const name = 'embedding/add-delivery.mjs';
    // The second name is longer than an idempotency key may be.
    const delivery = `Bella ${LARGEST}\n${'Zoë the 2nd '.repeat(80)}-1\n`;
    expect(await run(name, {}, delivery)).to.equal('2 added\n');
    expect(await run(name, {}, `${delivery}Milo 2\n`)).to.equal('1 added\n');
    expect(await run(name, { DELIVERY: 'tuesday' }, delivery)).to.equal('2 added\n');
    for (const [line, wrong] of [
      ['Milo', 'expected a name, a space and a whole number'],
      [' 2', 'The animal is not valid: name must not be blank.'],
    ]) {
      const child = start(name, {}, `${delivery}${line}\n`);
      expect(await child.ended).to.equal(1);
      expect(child.err).to.equal(`line 3: ${wrong}\n`);
    }
  });

  it('without-sockets.test.mjs passes', async () => {
    const child = start('client/without-sockets.test.mjs');
    expect(await child.ended, child.out).to.equal(0);
    expect(child.out).to.match(/^. (?:pass 1|tests 1)$/m);
  });

  it('own-service.mjs serves with its own log', async () => {
    const settings = { API_KEYS: KEY, STORE_URL: 'memory:' };
    const child = start('embedding/own-service.mjs', settings);
    const [url] = await child.said(/^http:\S+/m);
    const { animal } = await addBella(url);
    expect(animal).to.equal(BELLA);
    await child.said(/^new \{.*\}\n/m);
    child.signalGroup('SIGTERM');
    await child.ended;
    expect(child.out).to.include(`new ${BELLA}\n`);
    expect(child.err).to.match(/"path":"\/v1\/pets".*"status":201/);
  });

  it('second-resource serves categories to the same keys', async () => {
    const url = await startWith('second-resource/adapter.mjs');
    expect(await get(`${url}/categories/2`)).to.equal('{"id":2,"name":"Cats"}');
    expect(await get(`${url}/categories/3`)).to.equal('No category has this id.');
    for (const path of ['categories', 'categories/2?a', 'categoriesX'])
      expect((await fetch(`${url}/${path}`)).status, `${path} without a key`).to.equal(401);
    expect(await get(`${url}/categories?a`)).to.match(/^\[/);
    expect(await get(`${url}/pets`)).to.equal('[]');
  });

  for (const name of ['transports/fetch.mjs', 'stores/slow-lists.mjs'])
    it(`${name} serves with a part replaced`, async () => {
      const url = await startWith(name);
      expect((await addBella(url)).animal).to.equal(BELLA);
      expect(await get(`${url}/pets`)).to.equal(`[${BELLA}]`);
    });

  it('client.mjs adds each line once, equal ones too, lists all, and says what is wrong', async () => {
    const environment = { BASE_URL: await startService() };
    const delivery = `Bella ${LARGEST}\nBella ${LARGEST}\n`;
    const other = BELLA.replace('1', '2');
    const list = `${BELLA}\n${other}\n`;
    const first = await run('client/client.mjs', environment, delivery);
    expect(first).to.equal(`added ${BELLA}\nadded ${other}\n${list}`);
    const second = await run('client/client.mjs', environment, delivery);
    expect(second).to.equal(`exists ${BELLA}\nexists ${other}\n${list}`);
    const tuesday = { ...environment, DELIVERY: 'tuesday' };
    expect(await run('client/client.mjs', tuesday, delivery)).to.match(/^added .*\nadded /);

    const refused = start('client/client.mjs', { ...environment, API_KEY: 'another-key' });
    expect(await refused.ended).to.equal(1);
    expect(refused.err).to.match(/^invalid_api_key .* \(request [\da-f-]+\)\n$/);
  });
});

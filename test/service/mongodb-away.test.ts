import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { describeOnOwnServer } from '../adapters/mongodb/own-server.js';
import { KEY, cleanUp, program, serve, startedService, temporaryFolder } from './running-service.js';
import { StoreClient, type Received } from './store-client.js';

/** What a busy machine may take beside what is promised, in milliseconds. */
const BUSY = 4000;

const SETTINGS = { LOG_FORMAT: 'json', REQUEST_DEADLINE: '3s' };

interface Timed extends Received {
  readonly took: number;
}

/** One request on a connection of its own. */
async function ask(url: string, method = 'GET', body?: string): Promise<Timed> {
  const began = performance.now();
  const received = await new StoreClient(KEY, false).send(method, url, body);
  return { ...received, took: performance.now() - began };
}

const add = (url: string, name: string): Promise<Timed> =>
  ask(`${url}/pets`, 'POST', JSON.stringify({ name, categoryId: 1 }));

/** How long it takes until a status is answered, in milliseconds. */
async function untilStatus(status: number, url: string): Promise<number> {
  const began = performance.now();
  while ((await ask(url)).status !== status) {
    if (performance.now() - began > 20_000) throw new Error(`still not ${status}`);
    await delay(20);
  }
  return performance.now() - began;
}

const untilServed = (url: string): Promise<number> => untilStatus(200, `${url}/pets`);

/** All that is promised while the database is away. */
async function assertAway(url: string): Promise<void> {
  const [list, created, ready, alive] = await Promise.all([
    ask(`${url}/pets`),
    add(url, 'while it is away'),
    ask(new URL('/readyz', url).href),
    ask(new URL('/livez', url).href),
  ]);
  for (const { status, body, headers, took } of [list, created, ready]) {
    expect(status).to.equal(503);
    expect(JSON.parse(body)).to.include({ code: 'service_unavailable', status: 503 });
    expect(headers).to.have.property('retry-after', '1');
    expect(took).to.be.below(3000 + BUSY);
  }
  expect(ready.took).to.be.below(1000 + BUSY);
  expect(alive.status).to.equal(200);
}

describeOnOwnServer('A service whose MongoDB server is killed', (open) => {
  afterEach(cleanUp);

  it('says 503 in time and not ready, stays alive, and serves again within 2 s of its return, all animals there', async () => {
    const server = await open();
    await server.start();
    const settings = { ...SETTINGS, STORE_URL: server.uri('animals') };
    const { child, url } = await startedService(await temporaryFolder(), settings);
    const names = ['Bella', 'Rex', 'Milo'];
    for (const name of names) expect((await add(url, name)).status).to.equal(201);
    for (let round = 1; round <= 2; round += 1) {
      await server.kill();
      expect(await untilStatus(503, new URL('/readyz', url).href)).to.be.below(1000 + BUSY);
      await assertAway(url);
      await server.start();
      expect(await untilServed(url)).to.be.below(2000 + BUSY);
      expect((await ask(new URL('/readyz', url).href)).status).to.equal(200);
      const animals = await new StoreClient(KEY, false).all(url);
      expect([...animals.values()].filter((name) => names.includes(name))).to.deep.equal(names);
    }
    expect((await add(url, 'Amélie')).status).to.equal(201);
    expect((await child.stop()).code).to.equal(0);
  }).timeout(60_000);

  it('starts while it is away, serves within 2 s of its coming, and then makes collections and indexes', async () => {
    const server = await open();
    const settings = { ...SETTINGS, STORE_URL: server.uri('animals') };
    const { child, url } = await startedService(await temporaryFolder(), settings);
    await assertAway(url);
    await server.start();
    expect(await untilServed(url)).to.be.below(2000 + BUSY);
    expect((await add(url, 'Bella')).status).to.equal(201);
    await child.said(/made the index status_1__id_1 on pets/);
    expect((await child.stop()).code).to.equal(0);
  }).timeout(60_000);

  it('adds an animal that was on its way once, or says 503: never twice, and none that was answered is lost', async () => {
    const server = await open();
    await server.start();
    const settings = { ...SETTINGS, STORE_URL: server.uri('animals') };
    const { url } = await startedService(await temporaryFolder(), settings);
    const [acknowledged, refused]: [string[], string[]] = [[], []];
    const over = new AbortController();
    const write = async (writer: number): Promise<void> => {
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        const name = `${writer}-${turn}`;
        const { status } = await add(url, name);
        expect(status).to.be.oneOf([201, 503]);
        (status === 201 ? acknowledged : refused).push(name);
      }
    };
    const writers = Promise.all([0, 1, 2, 3].map(write));
    for (const wanted of [30, 60]) {
      while (acknowledged.length < wanted) await delay(5);
      await server.kill();
      await server.start();
      await untilServed(url);
    }
    over.abort();
    await writers;
    const stored = [...(await new StoreClient(KEY, false).all(url)).values()];
    expect(new Set(stored).size).to.equal(stored.length);
    expect(acknowledged.filter((name) => !stored.includes(name))).to.deep.equal([]);
    expect(stored.filter((name) => !acknowledged.includes(name) && !refused.includes(name))).to.deep.equal(
      [],
    );
  }).timeout(60_000);
});

describeOnOwnServer('A MongoDB server that asks for a login', (open) => {
  afterEach(cleanUp);

  const guarded = async () => {
    const server = await open();
    await server.start();
    // On the disk: the server is killed.
    const writeConcern = { w: 'majority', j: true };
    await server.administer({ createUser: 'animals', pwd: 'p@ss/word', roles: ['root'], writeConcern });
    await server.kill();
    await server.start('--auth');
    return server;
  };

  it('serves who has the password; with a wrong one the service is not ready, and says why in one line', async () => {
    const server = await guarded();
    const folder = await temporaryFolder();
    const right = server.uri('animals', 'animals:p%40ss%2Fword@');
    const { url } = await startedService(folder, { ...SETTINGS, STORE_URL: right });
    expect((await add(url, 'Bella')).status).to.equal(201);

    const wrong = server.uri('animals', 'animals:hunter2@');
    const refused = serve(folder, { ...SETTINGS, STORE_URL: wrong });
    const address = await refused.ready();
    await assertAway(address);
    const { code, out, err } = await refused.stop();
    expect({ code, out }).to.deep.equal({ code: 0, out: '' });
    expect(err.split('\n').filter((line) => line.includes('not prepared yet'))).to.have.length(1);
    expect(err).to.match(/the database is not prepared yet[^\n]*[Aa]uthentication failed/);
    expect(err).to.not.match(/hunter2|p@ss|p%40ss/);
  }).timeout(60_000);

  it('lets no command in with a wrong password: one line, without it, and exit code 1', async () => {
    const server = await guarded();
    const folder = await temporaryFolder();
    const wrong = server.uri('animals', 'animals:hunter2@');
    for (const args of [
      ['keys', 'list'],
      ['keys', 'issue', '--name', 'till'],
    ]) {
      const { code, out, err } = await program(folder, args, { STORE_URL: wrong }).ended;
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(err).to.match(
        /^The store is not available \([a-z ]+\)\. [^\n]*[Aa]uthentication failed[^\n]*\n$/,
      );
      expect(err).to.not.include('hunter2');
    }
    const copying = ['copy', '--from', wrong, '--to', 'sqlite:new.db'];
    const { code, out, err } = await program(folder, copying).ended;
    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err)
      .to.match(/[Aa]uthentication failed/)
      .and.not.include('hunter2');
  }).timeout(60_000);
});

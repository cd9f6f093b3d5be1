import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describeOnOwnServers } from '../adapters/mongodb/mongo-server.js';
import { ReplicaSet } from '../adapters/mongodb/mongod.js';
import { until } from '../until.js';
import { KEY, Serving, runLine } from '../bootstrap/test-io.js';
import { cleanUp, startedService, temporaryFolder } from './running-service.js';
import { StoreClient, untilStatus } from './store-client.js';

/** What a busy machine may take beside what is promised, in milliseconds. */
const BUSY = 7000;

/** Patient: the first create on a new database is slow on a busy machine. */
const SETTINGS = { API_KEYS: KEY, REQUEST_DEADLINE: '20s' };

const WHILE_UNREACHABLE = { ...SETTINGS, REQUEST_DEADLINE: '2s' };

/** One request on a connection of its own, and how long it took. */
async function ask(url: string, method = 'GET', body?: string) {
  const began = performance.now();
  const received = await new StoreClient(KEY, false).send(method, url, body);
  return { ...received, took: performance.now() - began };
}

const add = (url: string, name: string) =>
  ask(`${url}/pets`, 'POST', JSON.stringify({ name, categoryId: 1 }));

/** What is promised while the database is unreachable. */
async function expectUnreachable(url: string): Promise<void> {
  const [list, created, ready, alive] = await Promise.all([
    ask(`${url}/pets`),
    add(url, 'while it is unreachable'),
    ask(new URL('/readyz', url).href),
    ask(new URL('/livez', url).href),
  ]);
  for (const { status, body, headers, took } of [list, created, ready]) {
    expect(status, body).to.equal(503);
    expect(JSON.parse(body)).to.include({ code: 'service_unavailable', status: 503 });
    expect(headers).to.have.property('retry-after', '1');
    expect(took).to.be.below(2000 + BUSY);
  }
  expect(ready.took).to.be.below(1000 + BUSY);
  expect(alive.status, alive.body).to.equal(200);
}

describeOnOwnServers('A service whose MongoDB server comes and goes', (create) => {
  afterEach(cleanUp);

  it('starts without it, says 503 and not ready, and serves when it is there', async () => {
    const server = await create();
    const serving = new Serving({ ...WHILE_UNREACHABLE, STORE_URL: server.uri('animals') });
    const url = await serving.ready();

    await expectUnreachable(url);

    const reasons = serving.io.err
      .split('\n')
      .filter((line) => line.includes('the database is unreachable'));
    expect(reasons).to.have.length(1);
    expect(reasons[0]).to.match(/the database is unreachable: connect ECONNREFUSED [^ ]+$/);

    await server.start();
    expect(await untilStatus(200, `${url}/pets`, KEY)).to.be.below(2000 + BUSY);

    await until('it adds', async () => (await add(url, 'Bella')).status === 201);
    expect(await serving.stop(), serving.io.err).to.equal(0);
  });

  it('serves with the right password only, and says why without quoting a wrong one', async () => {
    const server = await (await create({ replicaSet: false })).start('--auth');
    // Until there is a user, the server lets its own machine make one.
    await server.administer({ createUser: 'animals', pwd: 'p@ss/word', roles: ['root'] });
    const right = `${server.uri('animals', 'animals:p%40ss%2Fword@')}&authSource=admin`;
    const wrong = `${server.uri('animals', 'animals:hunter2@')}&authSource=admin`;
    const refused = new Serving({ ...WHILE_UNREACHABLE, STORE_URL: wrong });
    const [url, address, listed, copied] = await Promise.all([
      new Serving({ ...SETTINGS, STORE_URL: right }).ready(),
      refused.ready(),
      runLine('keys list', { STORE_URL: wrong }),
      runLine(`copy --from ${wrong} --to sqlite:${join(temporaryFolder(), 'new.db')}`),
    ]);

    expect(await add(url, 'Bella')).to.include({ status: 201 });
    await expectUnreachable(address);

    await refused.io.said(/the database is not prepared yet[^\n]*[Aa]uthentication failed/);
    expect(await refused.stop(), refused.io.err).to.equal(0);
    expect(refused.io.err).to.not.match(/hunter2|p@ss|p%40ss/);

    for (const outcome of [listed, copied]) {
      expect(outcome).to.include({ code: 1, out: '' });
      expect(outcome.err.match(/[Aa]uthentication failed/g), outcome.err).to.have.length(1);
      expect(outcome.err).to.not.include('hunter2');
    }
  });
});

/** Three names of this machine. Node.js looks them up, since they are not written as addresses are. */
const NAMES = ['127.1', '127.0.1', '127.0.0.01'];

/**
 * A resolver as of an operating system: it runs two lookups at a time, none can be aborted, and the name in `file` hangs
 * for ten seconds.
 */
const resolverOf = (file: string): string => `
  import dns from 'node:dns';
  import { readFileSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  const resolve = async (name) => {
    if (name !== readFileSync(${JSON.stringify(file)}, 'utf8')) return [{ address: '127.0.0.1', family: 4 }];
    await delay(10_000);
    throw Object.assign(new Error('getaddrinfo EAI_AGAIN ' + name), { syscall: 'getaddrinfo' });
  };
  const waiting = [];
  let running = 0;
  const next = () => {
    if (running === 2 || waiting.length === 0) return;
    running += 1;
    waiting.shift()().finally(() => { running -= 1; next(); });
  };
  dns.promises.lookup = (name) => new Promise((done, fail) => {
    waiting.push(() => resolve(name).then(done, fail));
    next();
  });
  dns.lookup = (name, options, done) => dns.promises.lookup(name).then((found) => done(null, found), done);`;

describeOnOwnServers(
  'A service whose MongoDB primary dies, and its name with it',
  (_create, binary) => {
    afterEach(cleanUp);

    it('serves when another is elected, and stops in time, while the name hangs', async () => {
      const names = [...NAMES];
      const hosts = new Map<unknown, string>();
      const set = await ReplicaSet.start(binary, async (member) => {
        const host = member.host.replace('127.0.0.1', names.pop() ?? '');
        hosts.set(member, host);
        return host;
      });
      try {
        const folder = temporaryFolder();
        const hanging = join(folder, 'hanging');
        writeFileSync(hanging, '');
        const resolver = Buffer.from(resolverOf(hanging)).toString('base64');
        const { child, url } = await startedService(folder, {
          NODE_OPTIONS: `--import=data:text/javascript;base64,${resolver}`,
          // Lookups are repeated more often than by default, so that the test is short.
          STORE_URL: `mongodb://${[...hosts.values()].join(',')}/animals?replicaSet=animals&heartbeatFrequencyMS=500&connectTimeoutMS=300`,
          SHUTDOWN_DEADLINE: '25s',
        });
        await untilStatus(200, `${url}/pets`, KEY);
        const primary = await set.primary();
        writeFileSync(hanging, String(hosts.get(primary)?.split(':')[0]));
        // Without it there is no majority, and so no election.
        const [secondary] = await set.secondaries();
        secondary?.freeze();
        await primary.kill();
        await delay(3000);
        secondary?.thaw();
        await set.primary();
        expect(await untilStatus(200, `${url}/pets`, KEY)).to.be.below(2000 + BUSY);
        expect(await add(url, 'Bella')).to.include({ status: 201 });
        const began = performance.now();
        expect(await child.stop()).to.have.property('code', 0);
        expect(performance.now() - began).to.be.below(25_000);
      } finally {
        await set.remove();
      }
    }).timeout(120_000);
  },
);

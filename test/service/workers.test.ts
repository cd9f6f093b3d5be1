import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { KEY } from '../bootstrap/test-io.js';
import { PACKAGE, cleanUp, program, startedService, temporaryFolder, type Child } from './running-service.js';
import { StoreClient, statusOf } from './store-client.js';

/** The processes that a process has started (Linux). */
const workersOf = ({ process: { pid } }: Child): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** Whether a process runs: one that ended may wait for somebody to take its exit code. */
const runs = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));

const messages = (log: string): string[] =>
  Array.from(log.matchAll(/"msg":"(.*?)"/g), ([, msg = '']) => msg).filter((msg) => msg !== 'responded');

/** Waits for a condition that has to come true. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await delay(10);
}

const sampleOf = async (metrics: string, name: string): Promise<number> => {
  const page = await (await fetch(metrics)).text();
  return Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? Number.NaN,
  );
};

/** Kills a worker and waits until another one serves in its place. */
async function killWorker(child: Child): Promise<void> {
  const before = workersOf(child);
  process.kill(before[0] ?? 0, 'SIGKILL');
  await until(() => workersOf(child).length === before.length && !workersOf(child).includes(before[0] ?? 0));
}

const started = async (settings: Record<string, string> = {}) =>
  startedService(await temporaryFolder(), { WORKERS: '2', LOG_FORMAT: 'json', ...settings });

/** The service after so many requests for a page, where it serves metrics, and the sample that counts those requests. */
async function startedAndAsked(times: number) {
  const { child, url } = await started({ ADMIN_PORT: '0' });
  const [, metrics = ''] = await child.said(/"metrics":"(.*?)"/);
  for (let turn = 0; turn < times; turn += 1) await statusOf(`${url}/pets`, KEY);
  return { child, url, metrics, counted: 'animal_store_requests_total{operation="listPets",status="200"}' };
}

const onLinux = existsSync('/proc/self/stat') ? describe : describe.skip;

onLinux('The service in WORKERS', function () {
  this.timeout(60_000);
  afterEach(cleanUp);

  it('has one port, one ready line, one first key and one stop, in order, with exit code 0', async () => {
    const { child, url } = await started({ API_KEYS: '' });
    expect(workersOf(child)).to.have.length(2);
    const [key = ''] = /ast_live_\w+/.exec(child.out) ?? [];
    expect(await statusOf(`${url}/pets`, key)).to.equal(200);
    const { code, out, err } = await child.stop();
    expect(code, err).to.equal(0);
    expect(out.match(/There was no API key/g)).to.have.length(1);
    const [issued, ready = '', ...stop] = messages(err);
    expect([issued, ...stop]).to.deep.equal(['issued a first API key', 'stopping on SIGTERM', 'stopped']);
    expect(ready).to.match(/^ready at /);
  });

  it('starts no second process by default', async () => {
    expect(workersOf((await started({ WORKERS: '' })).child)).to.deep.equal([]);
  });

  it('finishes the request of a first worker when it is stopped before the others are ready', async () => {
    const earlier = await started();
    await earlier.child.stop();
    const url = `${earlier.url}/pets`;
    const folder = await temporaryFolder();
    const adapter = `import cluster from 'node:cluster';
      if (cluster.worker?.id === 2) await new Promise((resolve) => setTimeout(resolve, 600_000));
      export const adapter = { id: 1, load: () => {} };`;
    await writeFile(join(folder, 'late.mjs'), adapter);
    const settings = { PORT: new URL(url).port, API_KEYS: KEY, LOG_FORMAT: 'json', ADAPTERS: './late.mjs' };
    const child = program(folder, ['serve'], { WORKERS: '2', ...settings });
    await until(() => workersOf(child).length === 2); // the second starts once the first is ready
    const body = '{"name":"Bella","categoryId":1}';
    const headers = { authorization: `Bearer ${KEY}`, 'content-length': body.length, expect: '100-continue' };
    const add = request(url, { method: 'POST', headers });
    add.flushHeaders();
    await once(add, 'continue'); // the worker has the request
    const stopped = child.stop();
    await child.said(/stopping on SIGTERM/);
    const responded = once(add, 'response');
    add.end(body);
    expect(((await responded) as [IncomingMessage])[0].statusCode).to.equal(201);
    const { code, err } = await stopped;
    expect(code, err).to.equal(0);
    expect(messages(err)).to.deep.equal(['stopping on SIGTERM', 'stopped']);
  });

  it('says once why no worker starts, and ends with its exit code', async () => {
    const { child, url } = await started();
    const folder = await temporaryFolder();
    const settings = { WORKERS: '2', API_KEYS: '', PORT: new URL(url).port };
    const { code, out, err } = await program(folder, ['serve'], settings).ended;
    expect([code, out]).to.deep.equal([1, '']);
    expect(err).to.match(/^bind EADDRINUSE \S+ Set PORT to a free one or 0\.\n$/);
    await child.stop();
  });

  it('replaces a worker that dies, while the others serve', async () => {
    const { child, url } = await started();
    const over = new AbortController();
    let served = 0;
    const clients = [1, 2, 3, 4].map(async () => {
      const client = new StoreClient(KEY);
      // The connection of the killed worker breaks once; every other request is served.
      let breaks = 0;
      while (!over.signal.aborted)
        await client.get(`${url}/pets`).then(
          ({ status }) => (expect(status).to.equal(200), (served += 1)),
          () => (breaks += 1),
        );
      client.close();
      return breaks;
    });
    await killWorker(child);
    const before = served;
    await until(() => served > before + 100);
    over.abort();
    expect(Math.max(...(await Promise.all(clients)))).to.be.at.most(1);
    const { code, err } = await child.stop();
    expect(code, err).to.equal(0);
    expect(messages(err)).to.include('a worker died (SIGKILL), another starts');
  });

  it('goes on when a worker is killed that hangs, with a connection and messages on their way to it', async () => {
    const { child, url } = await started({ ADMIN_PORT: '0' });
    const [, metrics = ''] = await child.said(/"metrics":"(.*?)"/);
    const [hung = 0] = workersOf(child);
    process.kill(hung, 'SIGSTOP');
    let served = 0;
    const statuses = Array.from({ length: 4 }, () =>
      statusOf(`${url}/pets`, KEY).finally(() => (served += 1)),
    );
    await until(() => served === 3); // the other connection waits for the worker that hangs
    expect(await sampleOf(metrics, 'animal_store_workers')).to.equal(1); // asked, too
    process.kill(hung, 'SIGKILL');
    expect(await Promise.all(statuses)).to.deep.equal([200, 200, 200, 200]);
    await until(async () => (await sampleOf(metrics, 'animal_store_workers')) === 2);
    expect((await child.stop()).code).to.equal(0);
  });

  it('ends with 1 and the reason when five workers die in ten seconds', async () => {
    const { child } = await started();
    for (let death = 1; death < 5; death += 1) await killWorker(child);
    process.kill(workersOf(child)[0] ?? 0, 'SIGKILL');
    const { code, err } = await child.ended;
    expect(code, err).to.equal(1);
    expect(messages(err).at(-1)).to.match(/\(SIGKILL\): 5 deaths within 10 seconds$/);
  });

  it('takes its workers with it when it is killed', async () => {
    const { child } = await started();
    const workers = workersOf(child);
    await child.stop('SIGKILL');
    await until(() => !workers.some(runs));
  });

  it('replaces the workers at SIGHUP without a failed request', async () => {
    const { child, url } = await started({ DRAIN_DELAY: '3s' });
    const before = workersOf(child);
    const over = new AbortController();
    const work = async (worker: number): Promise<void> => {
      const client = new StoreClient(KEY, worker > 0);
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        if (turn % 2 === 0) await client.add(url, `${worker}-${turn}`);
        else expect((await client.get(`${url}/pets?limit=1`)).status).to.equal(200);
        expect((await client.get(new URL('/readyz', url).href)).status).to.equal(200);
      }
      client.close();
    };
    const clients = Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
    child.signal('SIGHUP');
    await Promise.race([child.said(/replaced the workers/), clients]); // a fault of a client ends the race
    over.abort();
    await clients;
    expect(workersOf(child)).to.have.length(2).and.not.include.members(before.slice(0, 1));
    expect(workersOf(child)).to.not.include.members(before.slice(1));
    expect((await child.stop()).code).to.equal(0);
  });

  for (const [which, index] of [
    ['that is being replaced', 0],
    ['that waits to be replaced', 1],
  ] as const) {
    it(`has as many workers as before when one dies ${which}`, async () => {
      const { child } = await started();
      const before = workersOf(child);
      child.signal('SIGHUP');
      await until(() => workersOf(child).length === 3);
      process.kill(before[index] ?? 0, 'SIGKILL');
      await child.said(/replaced the workers/);
      // A worker too many would start, or would have started.
      await until(() => workersOf(child).length === 2);
      expect(workersOf(child)).to.not.include.members([before[0]]).and.not.include.members([before[1]]);
      expect((await child.stop()).code).to.equal(0);
    });
  }

  it('ends the replacing of workers at SIGTERM without an error', async () => {
    const { child } = await started();
    child.signal('SIGHUP');
    await until(() => workersOf(child).length === 3);
    const { code, err } = await child.stop();
    expect(code, err).to.equal(0);
    expect(messages(err).slice(1)).to.deep.equal(['replacing the workers', 'stopping on SIGTERM', 'stopped']);
  });

  it('keeps the old workers at SIGHUP if a new one does not start', async () => {
    const keys = join(await temporaryFolder(), 'keys');
    await writeFile(keys, KEY);
    const { child, url } = await started({ API_KEYS: '', API_KEYS_FILE: keys });
    const before = workersOf(child);
    await writeFile(keys, '');
    child.signal('SIGHUP');
    await child.said(/a new worker did not start \(exit code 2\), the old ones go on/);
    expect(workersOf(child)).to.have.members(before);
    expect(await statusOf(`${url}/pets`, KEY)).to.equal(200);
    expect((await child.stop()).code).to.equal(0);
  });

  it('keeps the old workers at SIGHUP if the program of Node.js is missing, and replaces them at the next', async () => {
    const missing =
      "const is=process.execPath;let n=0;process.on('SIGHUP',()=>process.execPath=n++?is:'/missing')";
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(missing)}`;
    const { child, url } = await started({ NODE_OPTIONS });
    const before = workersOf(child);
    child.signal('SIGHUP');
    await child.said(/a new worker did not start \(spawn \/missing ENOENT\), the old ones go on/);
    expect(workersOf(child)).to.have.members(before);
    expect(await statusOf(`${url}/pets`, KEY)).to.equal(200);
    child.signal('SIGHUP');
    await child.said(/replaced the workers/);
    expect(workersOf(child)).to.have.length(2);
    expect((await child.stop()).code).to.equal(0);
  });

  it('keeps the old workers at SIGHUP if the store was moved away, and creates no other', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'animals.db');
    const { child, url } = await started({ STORE_URL: `sqlite:${file}` });
    const client = new StoreClient(KEY);
    await client.add(url, 'Bella');
    client.close();
    for (const suffix of ['', '-wal', '-shm']) await rename(file + suffix, `${file}.moved${suffix}`);
    const before = workersOf(child);
    child.signal('SIGHUP');
    await child.said(/a new worker did not start \(exit code 1\), the old ones go on/);
    expect(workersOf(child)).to.have.members(before);
    expect(existsSync(file)).to.equal(false);
    await child.stop();
  });

  it('logs the lines of all workers whole, however long they are', async () => {
    const { child, url } = await started();
    const count = 400;
    const headers = { Authorization: `Bearer ${KEY}`, 'User-Agent': 'é'.repeat(5_000) };
    const ask = async () => (await fetch(`${url}/pets`, { headers })).text();
    for (let sent = 0; sent < count; sent += 50) await Promise.all(Array.from({ length: 50 }, ask));
    const { err } = await child.stop();
    const lines = err.trimEnd().split('\n');
    for (const line of lines) expect(() => JSON.parse(line) as unknown, line.slice(0, 200)).to.not.throw();
    expect(lines.filter((line) => line.includes('"msg":"responded"'))).to.have.length(count);
  });

  it('counts RATE_LIMIT over all workers', async () => {
    const { child, url } = await started({ RATE_LIMIT: '20/1h' });
    const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(`${url}/pets`, KEY)));
    expect(statuses.filter((status) => status === 200)).to.have.length(20);
    expect(statuses.filter((status) => status === 429)).to.have.length(30);
    await child.stop();
  });

  it('serves the sum of all metrics, and forgets none of a worker that died', async () => {
    const { child, url, metrics, counted } = await startedAndAsked(20);
    expect(await sampleOf(metrics, counted)).to.equal(20);
    expect(await sampleOf(metrics, 'animal_store_workers')).to.equal(2);
    const info = /animal_store_build_info\{.*\} (\d+)/.exec(await (await fetch(metrics)).text())?.[1];
    expect(info).to.equal('1');
    await killWorker(child);
    expect(await sampleOf(metrics, counted)).to.equal(20);
    await until(async () => (await sampleOf(metrics, 'animal_store_workers')) === 2);
    await statusOf(`${url}/pets`, KEY);
    expect(await sampleOf(metrics, counted)).to.equal(21);
    await child.stop();
  });

  it('serves the metrics while a worker hangs, and forgets none of what it had counted', async () => {
    const { child, metrics, counted } = await startedAndAsked(20);
    expect(await sampleOf(metrics, counted)).to.equal(20);
    const [hung = 0] = workersOf(child);
    process.kill(hung, 'SIGSTOP');
    expect(await sampleOf(metrics, counted)).to.equal(20);
    expect(await sampleOf(metrics, 'animal_store_workers')).to.equal(1);
    process.kill(hung, 'SIGCONT');
    await until(async () => (await sampleOf(metrics, 'animal_store_workers')) === 2);
    expect(await sampleOf(metrics, counted)).to.equal(20);
    await child.stop();
  });

  it('counts a request once, however many read the metrics while the workers are replaced', async () => {
    const { child, metrics, counted } = await startedAndAsked(20);
    const read = new Set([await sampleOf(metrics, counted)]);
    const over = new AbortController();
    const readers = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) read.add(await sampleOf(metrics, counted));
    });
    child.signal('SIGHUP');
    await child.said(/replaced the workers/);
    over.abort();
    await Promise.all(readers);
    expect([...read, await sampleOf(metrics, counted)]).to.deep.equal([20, 20]);
    await child.stop();
  });

  it('refuses a revoked key in every worker within the promised second', async () => {
    const folder = await temporaryFolder();
    const environment = { STORE_URL: `sqlite:${join(folder, 'animals.db')}` };
    const key = (await program(folder, ['keys', 'issue', '--name', 'one'], environment).ended).out.trim();
    const { child, url } = await started(environment);
    const ask = () => Promise.all(Array.from({ length: 8 }, () => statusOf(`${url}/pets`, key)));
    expect(await ask()).to.deep.equal(Array(8).fill(200));
    const store = await openSqliteStore(join(folder, 'animals.db'));
    const [issued] = await store.apiKeys.list();
    await store.apiKeys.revoke(issued?.id ?? '', new Date(0));
    await store.close();
    await delay(1000);
    expect(await ask()).to.deep.equal(Array(8).fill(401));
    await child.stop();
  });

  it('is refused for a store that processes cannot share', async () => {
    const { code, err } = await program(PACKAGE, ['serve'], { WORKERS: '2', STORE_URL: 'memory:' }).ended;
    expect(code).to.equal(2);
    expect(err).to.equal(
      'Invalid settings:\n  WORKERS must be 1 for the store of STORE_URL, which processes cannot share\n',
    );
  });
});

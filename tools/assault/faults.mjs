// Two services on a replica set of three, each member behind a proxy that can lose connections without a word: the primary
// steps down, loses its clients, is killed, goes silent. The bare driver writes to the same set with the same options, and
// retries at once: the service should not be unreachable for longer.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { ReplicaSet } from '../../build/test/adapters/mongodb/mongod.js';
import { MongoProxy } from '../../build/test/adapters/mongodb/mongo-proxy.js';
import { until } from '../../build/test/until.js';
import { Writers, mongodPath, serve } from './keyed-creates.mjs';

const WRITERS = 8;
const PAUSE = 20; // before a client's retry, in milliseconds
const OUTAGE = 2000; // how long a member is unreachable, in milliseconds

export async function attack({ short, show }) {
  const binary = await mongodPath();
  if (binary === undefined) return 'needs mongod';
  const proxies = new Map();
  const set = await ReplicaSet.start(binary, async (member) => {
    const proxy = await new MongoProxy({ uri: member.uri('admin') }).open();
    proxies.set(member, proxy);
    return proxy.host;
  });
  const { config } = await (await set.primary()).administer({ replSetGetConfig: 1 });
  const seeds = config.members.map(({ host }) => host).join(',');
  const uri = `mongodb://${seeds}/animals?replicaSet=animals`;
  const services = [];
  // As the service has them.
  const client = new MongoClient(uri, {
    connectTimeoutMS: 1000,
    heartbeatFrequencyMS: 2000,
    serverSelectionTimeoutMS: 1500,
    waitQueueTimeoutMS: 1500,
    serverMonitoringMode: 'poll',
    writeConcern: { w: 'majority', journal: true },
  });
  try {
    for (let each = 0; each < 2; each += 1) services.push(await serve(uri));
    await client.connect();
    const [service, driver] = [new Acknowledgements(), new Acknowledgements()];
    const urlFor = (number, attempt) => services[(number + attempt) % 2].url;
    const writers = new Writers(WRITERS, urlFor, PAUSE, () => service.note());
    const stop = new AbortController();
    const bare = client.db('bare').collection('pets');
    const writing = Array.from({ length: WRITERS }, () => writeBare(bare, driver, stop.signal));
    const bothWrite = () => Promise.all([service.another(50), driver.another(50)]);
    await bothWrite();
    const faults = {
      'step-down': () => set.stepDown(),
      'lost connections': async () => proxies.get(await set.primary()).lose({ members: false }),
      async kill() {
        const primary = await set.primary();
        await primary.kill();
        await delay(OUTAGE);
        await primary.listen();
      },
      async 'silent member'() {
        const proxy = proxies.get(await set.primary());
        proxy.silent = true;
        proxy.lose();
        await delay(OUTAGE);
        proxy.silent = false;
      },
    };
    if (short) delete faults['silent member']; // the members need more than 10 s to find out
    const rounds = short ? 1 : 5;
    const gaps = [];
    for (const [fault, happen] of Object.entries(faults)) {
      for (let round = 0; round < rounds; round += 1) {
        service.gap = 0;
        driver.gap = 0;
        await happen();
        await set.untilWhole();
        await bothWrite();
        gaps.push({ fault, service: Math.round(service.gap), driver: Math.round(driver.gap) });
      }
    }
    stop.abort();
    await Promise.all([writers.end(), ...writing]);
    const { ledger, retries } = writers;
    await ledger.judge(show, openMongoStore(uri)); // before replays, which restore an animal
    let differing = 0;
    for (const { url } of services) differing += await ledger.replay(url);
    console.log(
      `${ledger.size} animals, ${retries} retries, ${driver.count} documents of the driver`,
    );
    console.table(gaps);
    show('replays that differ', differing, 'equals', 0);
    const longest = (whose, among = gaps) => Math.max(...among.map((gap) => gap[whose]));
    // One round of each says nothing about a tenth.
    if (!short)
      show(
        'longest gap',
        longest('service'),
        'at most',
        Math.round(longest('driver') * 1.1),
        ' ms',
      );
    for (const [fault, among] of Object.entries(Object.groupBy(gaps, (gap) => gap.fault))) {
      // Each client asks its servers for their state every 2 s, not all at the same time.
      const budget = longest('driver', among) + 2000;
      show(`longest gap, ${fault}`, longest('service', among), 'at most', budget, ' ms');
    }
  } finally {
    await client.close();
    await Promise.all(services.map((service) => service.stop()));
    await set.remove();
    for (const proxy of proxies.values()) await proxy.close();
  }
}

/** The longest time without an acknowledgement, in milliseconds. */
class Acknowledgements {
  count = 0;
  gap = 0;
  #last = performance.now();

  note() {
    this.gap = Math.max(this.gap, performance.now() - this.#last);
    this.#last = performance.now();
    this.count += 1;
  }

  /** Resolves when there are so many more. */
  another(count) {
    const wanted = this.count + count;
    return until('both write', async () => this.count >= wanted);
  }
}

/** Whether an insert has failed because an earlier attempt inserted the document. */
const isThere = ({ code }) => code === 11_000;

/** A client of the bare driver. */
async function writeBare(pets, acknowledgements, signal) {
  while (!signal.aborted) {
    const document = { _id: randomUUID() };
    while (!(await pets.insertOne(document).then(() => true, isThere))) await delay(PAUSE);
    acknowledgements.note();
  }
}

// Two services on a replica set of three, each member behind a proxy that can lose connections without a word: the primary
// steps down, loses its clients, is killed, goes silent. The bare driver writes to the same set with the same options, and
// retries at once: the service should not be away for longer.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { ReplicaSet, until } from '../../build/test/adapters/mongodb/mongod.js';
import { MongoProxy } from '../../build/test/adapters/mongodb/mongo-proxy.js';
import { Ledger, mongodPath, persist, serve } from './keyed-creates.mjs';

const WRITERS = 8;
const PAUSE = 20; // before a client's retry, in milliseconds
const AWAY = 2000; // how long a member is away, in milliseconds

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
    const work = new Work(services, client.db('bare').collection('pets'));
    const writing = work.begin();
    await work.another(50);
    const faults = {
      'step-down': () => set.stepDown(),
      'lost connections': async () => proxies.get(await set.primary()).lose({ members: false }),
      async kill() {
        const primary = await set.primary();
        await primary.kill();
        await delay(AWAY);
        await primary.listen();
      },
      async 'silent member'() {
        const proxy = proxies.get(await set.primary());
        proxy.silent = true;
        proxy.lose();
        await delay(AWAY);
        proxy.silent = false;
      },
    };
    if (short) delete faults['silent member']; // the members need more than 10 s to find out
    const rounds = short ? 1 : 5;
    const gaps = [];
    for (const [fault, happen] of Object.entries(faults)) {
      for (let round = 0; round < rounds; round += 1) {
        work.resetGaps();
        await happen();
        await set.untilWhole();
        await work.another(50);
        gaps.push({ fault, service: Math.round(work.service.gap), driver: Math.round(work.driver.gap) });
      }
    }
    work.over = true;
    await writing;
    await work.ledger.judge(show, openMongoStore(uri)); // before replays, which restore an animal
    let differing = 0;
    for (const { url } of services) differing += await work.ledger.replay(url);
    console.log(
      `${work.ledger.size} animals, ${work.retries} retries, ${work.driver.count} documents of the driver`,
    );
    console.table(gaps);
    show('replays that differ', differing, 'equals', 0);
    const longest = (whose, among = gaps) => Math.max(...among.map((gap) => gap[whose]));
    show('longest gap', longest('service'), 'at most', Math.round(longest('driver') * 1.1), ' ms');
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
}

/** Writers on the services, which retry elsewhere what failed, and as many on the bare driver. */
class Work {
  ledger = new Ledger();
  service = new Acknowledgements();
  driver = new Acknowledgements();
  retries = 0;
  over = false;
  #services;
  #bare;

  constructor(services, bare) {
    this.#services = services;
    this.#bare = bare;
  }

  begin() {
    const writers = Array.from({ length: WRITERS }, (_, number) => [this.#write(number), this.#writeBare()]);
    return Promise.all(writers.flat());
  }

  /** Resolves when both have so many more. */
  async another(count) {
    const wanted = [this.service.count + count, this.driver.count + count];
    await until('both write', async () => this.service.count >= wanted[0] && this.driver.count >= wanted[1]);
  }

  resetGaps() {
    this.service.gap = 0;
    this.driver.gap = 0;
  }

  async #write(number) {
    const baseOf = (attempt) => this.#services[(number + attempt) % 2].url;
    while (!this.over) {
      const name = randomUUID();
      const { body, retries } = await persist(name, baseOf, PAUSE);
      this.service.note();
      this.ledger.acknowledge(name, body);
      this.retries += retries;
    }
  }

  async #writeBare() {
    while (!this.over) {
      const document = { _id: randomUUID() };
      while (
        !(await this.#bare.insertOne(document).then(
          () => true,
          ({ code }) => code === 11_000,
        ))
      )
        await delay(PAUSE);
      this.driver.note();
    }
  }
}

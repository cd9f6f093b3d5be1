// Six writers add animals to a MongoDB store, four of them with idempotency keys that they retry. Meanwhile the primary
// of the replica set is killed and comes back, and another steps down.
import { setTimeout as delay } from 'node:timers/promises';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { ReplicaSet } from '../../build/test/adapters/mongodb/mongod.js';
import { tryToAdd } from './support/mongo-creates.mjs';

const WRITERS = ['keyed-1', 'keyed-2', 'keyed-3', 'keyed-4', 'plain-1', 'plain-2'];
/** A create that is not acknowledged after this many milliseconds fails the attack. Elections are far shorter. */
const LONGEST = 120_000;

/** The names of all animals of a store. */
async function namesIn(store) {
  const names = [];
  for (let after = 0n; ;) {
    const pets = await store.pets.list({ limit: 1000, after });
    if (pets.length === 0) return names;
    names.push(...pets.map(({ name }) => name));
    after = pets.at(-1).id;
  }
}

/** Writes while `fault` happens to the replica set. Returns what was acknowledged, and why calls were refused. */
async function writeDuring(fault, store) {
  const acknowledged = [];
  const refused = {};
  let isOver = false;

  const write = async (writer) => {
    const isKeyed = writer.startsWith('keyed');
    for (let number = 0; !isOver; number += 1) {
      const name = `${writer}-${number}`;
      const began = performance.now();
      let added = await tryToAdd(store, name, isKeyed, refused);
      while (isKeyed && !added) {
        if (performance.now() - began > LONGEST) throw new Error(`${name} is never acknowledged`);
        await delay(100);
        added = await tryToAdd(store, name, isKeyed, refused);
      }
      if (added) acknowledged.push(name);
      await delay(5);
    }
  };
  const writing = Promise.all(WRITERS.map(write));
  await fault();
  isOver = true;
  await writing;
  return { acknowledged, refused };
}

export async function attack({ short, show }) {
  const binary = process.env.MONGOMS_SYSTEM_BINARY;
  if (binary === undefined) return 'a mongod, which MONGOMS_SYSTEM_BINARY names';
  const set = await ReplicaSet.start(binary);
  const fault = async () => {
    for (let round = 0; round < (short ? 1 : 5); round += 1) {
      await delay(1500);
      const primary = await set.primary();
      await primary.kill();
      await delay(6000);
      await primary.listen();
      await set.untilWhole();
      await set.stepDown();
      await set.untilWhole();
    }
    await delay(1500);
  };
  try {
    const store = await openMongoStore(set.uri('failover'));
    const { acknowledged, refused } = await writeDuring(fault, store);
    const names = await namesIn(store);
    await store.close();
    const stored = new Set(names);
    const lost = acknowledged.filter((name) => !stored.has(name));
    const keyed = names.filter((name) => name.startsWith('keyed'));
    console.log(`${acknowledged.length} animals acknowledged; calls refused:`, refused);
    show('acknowledged animals lost', lost.length);
    show('animals stored twice for one key', keyed.length - new Set(keyed).size);
  } finally {
    await set.remove();
  }
  return undefined;
}

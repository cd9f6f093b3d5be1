// Kills the primary of a MongoDB replica set, starts it again, and makes the next one step down, while six writers add
// animals.
import { setTimeout as delay } from 'node:timers/promises';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { ReplicaSet } from '../../build/test/adapters/mongodb/mongod.js';
import { MISSING, MongoWriters } from './support/mongo-writers.mjs';

const WRITERS = ['1', '2', '3', '4', '5', '6'];

export async function attack({ short, show }) {
  const binary = process.env.MONGOMS_SYSTEM_BINARY;
  if (binary === undefined) return MISSING;
  const set = await ReplicaSet.start(binary);
  const changePrimaries = async () => {
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
    const writers = new MongoWriters();
    await writers.writeDuring(changePrimaries, store, WRITERS);
    await writers.judge(store, show);
    await store.close();
  } finally {
    await set.remove();
  }
  return undefined;
}

// Sets the counter of ids of a MongoDB store back, again and again, as a restore of the counter alone does. Meanwhile
// eight writers add animals through a network that cuts connections.
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { MongoProxy } from '../../build/test/adapters/mongodb/mongo-proxy.js';
import { Mongod } from '../../build/test/adapters/mongodb/mongod.js';
import { MISSING, MongoWriters } from './support/mongo-writers.mjs';

const WRITERS = 8;

export async function attack({ short, show, random }) {
  const binary = process.env.MONGOMS_SYSTEM_BINARY;
  if (binary === undefined) return MISSING;
  const server = await (await Mongod.create(binary)).start();
  const proxy = await new MongoProxy({ uri: server.uri('admin') }).open();
  const client = new MongoClient(server.uri('animals'), { useBigInt64: true });
  const writers = new MongoWriters();
  try {
    for (let round = 0; round < (short ? 5 : 50); round += 1) {
      // A new store takes its ids from the counter as it is then.
      const store = await openMongoStore(proxy.uri('animals'));
      proxy.fateOf = fates(random);
      const names = Array.from({ length: WRITERS }, (_, index) => `${round}-${index}`);
      await writers.writeDuring(() => delay(1000), store, names);
      proxy.fateOf = () => 'passes';
      await store.close();
      // Sets the counter back by up to 49 ids, all in use.
      const last = writers.acknowledged.at(-1).id - BigInt(Math.floor(random() * 50));
      await client.db().collection('counters').updateOne({}, { $set: { last } });
    }
    const store = await openMongoStore(server.uri('animals'));
    await writers.judge(store, show);
    await store.close();
  } finally {
    await client.close();
    proxy.close();
    await server.remove();
  }
  return undefined;
}

/** What becomes of commands: a tenth of the inserts, and the two after each, lose their connection. */
function fates(random) {
  // The driver tries twice: three cuts in a row reach the store's own retry.
  let cuts = 0;
  return (command) => {
    if (!('insert' in command)) return 'passes';
    if (cuts === 0 && random() < 0.1) cuts = 3;
    if (cuts === 0) return 'passes';
    cuts -= 1;
    return random() < 0.5 ? 'is lost' : 'loses its reply';
  };
}

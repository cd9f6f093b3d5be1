// The counter of ids of a MongoDB store is set back again and again, as a restore of it alone does, while writers add
// animals through a network that cuts connections at their first tries. No animal may be acknowledged that is not stored.
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { MongoProxy } from '../../build/test/adapters/mongodb/mongo-proxy.js';
import { Mongod } from '../../build/test/adapters/mongodb/mongod.js';
import { tryToAdd } from './support/mongo-creates.mjs';

const WRITERS = 8;

/** Adds animals until it is stopped. Every second one has an idempotency key. */
async function write(store, writer, stop, { acknowledged, refused }) {
  for (let number = 0; !stop.aborted; number += 1) {
    const added = await tryToAdd(store, `${writer}-${number}`, number % 2 > 0, refused);
    if (added) acknowledged.push(added);
    await delay(5);
  }
}

export async function attack({ short, show, random }) {
  const binary = process.env.MONGOMS_SYSTEM_BINARY;
  if (binary === undefined) return 'a mongod, which MONGOMS_SYSTEM_BINARY names';
  const server = await (await Mongod.create(binary)).start();
  const proxy = await new MongoProxy({ uri: server.uri('admin') }).open();
  const client = new MongoClient(server.uri('animals'), { useBigInt64: true });
  const seen = { acknowledged: [], refused: {} };
  try {
    for (let round = 0; round < (short ? 5 : 50); round += 1) {
      // A new store takes its ids from the counter as it is then.
      const store = await openMongoStore(proxy.uri('animals'));
      const stop = new AbortController();
      // The driver tries twice: three cuts in a row reach our own retry.
      let cuts = 0;
      proxy.fateOf = (command) => {
        if ('insert' in command && cuts === 0 && random() < 0.1) cuts = 3;
        if (!('insert' in command) || cuts === 0) return 'passes';
        cuts -= 1;
        return random() < 0.5 ? 'is lost' : 'loses its reply';
      };
      const writing = Array.from({ length: WRITERS }, (_, index) =>
        write(store, `${round}-${index}`, stop.signal, seen),
      );
      await delay(1000);
      stop.abort();
      await Promise.all(writing);
      proxy.fateOf = () => 'passes';
      await store.close();
      // Sets the counter back by up to 49 ids, all in use.
      const last = seen.acknowledged.at(-1).id - BigInt(Math.floor(random() * 50));
      await client.db().collection('counters').updateOne({}, { $set: { last } });
    }
    const names = new Map();
    for await (const { _id, name } of client.db().collection('pets').find()) names.set(_id, name);
    const lost = seen.acknowledged.filter(({ id, name }) => names.get(id) !== name);
    const ids = new Set(seen.acknowledged.map(({ id }) => id));
    console.log(`${seen.acknowledged.length} animals acknowledged; calls refused:`, seen.refused);
    show('acknowledged animals lost', lost.length);
    show('animals acknowledged twice', seen.acknowledged.length - ids.size);
  } finally {
    await client.close();
    proxy.close();
    await server.remove();
  }
  return undefined;
}

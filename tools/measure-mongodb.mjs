// Measures what the MongoDB store costs beside the bare driver: CPU time of this process per operation, for a
// find of 20 and an insert of 1, in turn in one run. Usage: MONGODB_TEST_URI=... node tools/measure-mongodb.mjs
// [ROUNDS], after npm run build. The bare driver is given the same concerns and the same client options.
import { randomUUID } from 'node:crypto';
import { MongoClient, ReadConcern } from 'mongodb';
import { openMongoStore } from '../build/src/adapters/mongodb/index.js';

const OPERATIONS = 200;

/** CPU time per call, in microseconds, of so many calls one after the other. */
async function cpuOf(call) {
  const before = process.cpuUsage();
  for (let count = 0; count < OPERATIONS; count += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / OPERATIONS;
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

async function measure(uri, rounds) {
  const database = `animals-${randomUUID()}`;
  const url = new URL(uri);
  url.pathname = `/${database}`;
  // Without repeating by the driver: some servers keep every write that could be repeated, and slow down.
  url.searchParams.set('retryWrites', 'false');
  const client = new MongoClient(url.href, { useBigInt64: true });
  const bare = client.db().collection('bare', {
    readConcern: new ReadConcern('majority'),
    writeConcern: { w: 'majority', journal: true },
  });
  const store = await openMongoStore(url.href);
  const pet = { name: 'Bella', categoryId: 7n, status: 'available' };
  let id = 0n;
  const projection = { _id: 1, name: 1, categoryId: 1, status: 1 };
  const pairs = {
    'insert of 1': [() => bare.insertOne({ _id: (id += 1n), ...pet }), () => store.pets.add(pet)],
    'find of 20': [
      () => bare.find({ _id: { $gt: 0n } }, { sort: { _id: 1 }, limit: 20, projection }).toArray(),
      () => store.pets.list({ limit: 20 }),
    ],
  };
  try {
    for (const [operation, calls] of Object.entries(pairs)) {
      const figures = [[], []];
      for (let round = -1; round < rounds; round += 1) {
        for (const [index, call] of calls.entries()) {
          const cpu = await cpuOf(call);
          if (round >= 0) figures[index].push(cpu); // the first round warms up
        }
      }
      const [driver, adapter] = figures.map(median);
      console.log(
        `${operation.padEnd(12)} driver ${driver.toFixed(0)} us, store ${adapter.toFixed(0)} us CPU each: ` +
          `${(adapter / driver).toFixed(2)} times`,
      );
    }
  } finally {
    await store.close();
    await client.db().dropDatabase();
    await client.close();
  }
}

const uri = process.env.MONGODB_TEST_URI;
if (uri === undefined) throw new Error('MONGODB_TEST_URI is not set: name a server to measure with');
await measure(uri, Number(process.argv[2] ?? 7));

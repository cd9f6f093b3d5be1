// Measures what the MongoDB store costs beside the bare driver and Mongoose: CPU time of this process per operation,
// for a find of 20 and an insert of 1, in turn in one run, medians of all rounds. All have the same concerns and
// types of integers. Usage: npm run build && MONGODB_TEST_URI=... node tools/measure-mongodb.mjs [ROUNDS]. Mongoose
// is no dependency: npm install --prefix tools/peers brings it; without it the others are measured.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { MongoClient, ReadConcern } from 'mongodb';
import { openMongoStore } from '../build/src/adapters/mongodb/index.js';
import { median } from './median.mjs';

const OPERATIONS = 200;

/** How many animals there are when they are listed. */
const SEEDED = 40;

const PET = { name: 'Bella', categoryId: 7n, status: 'available' };
const PROJECTION = { _id: 1, name: 1, categoryId: 1, status: 1 };
const WRITE_CONCERN = { w: 'majority', journal: true };

/** CPU time per call, in microseconds, of so many calls one after the other. */
async function cpuOf(call) {
  const before = process.cpuUsage();
  for (let count = 0; count < OPERATIONS; count += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / OPERATIONS;
}

/** Each has a collection of its own, so that none reads more than it wrote. */
const MAKERS = {
  async driver(url) {
    const client = new MongoClient(url, { useBigInt64: true });
    const pets = client
      .db()
      .collection('bare', { readConcern: new ReadConcern('majority'), writeConcern: WRITE_CONCERN });
    let id = 0n;
    return {
      'insert of 1': () => pets.insertOne({ _id: (id += 1n), ...PET }),
      'find of 20': () =>
        pets.find({ _id: { $gt: 0n } }, { sort: { _id: 1 }, limit: 20, projection: PROJECTION }).toArray(),
      close: () => client.close(),
    };
  },
  async store(url) {
    const { pets, close } = await openMongoStore(url);
    return {
      'insert of 1': () => pets.add(PET),
      'find of 20': () => pets.list({ limit: 20 }),
      close,
    };
  },
  async mongoose(url) {
    const mongoose = createRequire(new URL('./peers/package.json', import.meta.url))('mongoose');
    const connection = await mongoose.createConnection(url, { useBigInt64: true }).asPromise();
    const schema = new mongoose.Schema(
      {
        _id: { type: BigInt, required: true },
        name: { type: String, required: true },
        categoryId: { type: BigInt, required: true },
        status: { type: String, enum: ['available', 'pending', 'sold'], required: true },
      },
      { versionKey: false, writeConcern: { w: 'majority', j: true } },
    );
    const Pet = connection.model('Pet', schema, 'mongoose');
    await Pet.init();
    let id = 0n;
    const find = () =>
      Pet.find({ _id: { $gt: 0n } }, PROJECTION)
        .sort({ _id: 1 })
        .limit(20)
        .readConcern('majority');
    return {
      'insert of 1': () => Pet.create({ _id: (id += 1n), ...PET }),
      'find of 20': () => find(),
      'find of 20, lean': () => find().lean(),
      close: () => connection.close(),
    };
  },
};

async function measure(uri, rounds) {
  const url = new URL(uri);
  url.pathname = `/animals-${randomUUID()}`;
  // Without repeating by the driver: some servers keep every write that could be repeated, and slow down.
  url.searchParams.set('retryWrites', 'false');
  const subjects = {};
  for (const [name, make] of Object.entries(MAKERS)) {
    try {
      subjects[name] = await make(url.href);
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
      console.log(`${name} is not measured: npm install --prefix tools/peers`);
    }
  }
  try {
    for (const subject of Object.values(subjects)) {
      for (let count = 0; count < SEEDED; count += 1) await subject['insert of 1']();
    }
    for (const operation of ['find of 20', 'find of 20, lean', 'insert of 1']) {
      const figures = new Map();
      for (const [name, subject] of Object.entries(subjects)) {
        // What only one of them has is measured beside the others' nearest.
        const call = subject[operation] ?? subject[operation.split(',')[0]];
        figures.set(name, { call, rounds: [] });
      }
      for (let round = -1; round < rounds; round += 1) {
        for (const figure of figures.values()) {
          const cpu = await cpuOf(figure.call);
          if (round >= 0) figure.rounds.push(cpu); // the first round warms up
        }
      }
      const driver = median(figures.get('driver').rounds);
      const told = [...figures].map(([name, figure]) => {
        const cpu = median(figure.rounds);
        return `${name} ${cpu.toFixed(0)} us (${(cpu / driver).toFixed(2)})`;
      });
      console.log(`${operation.padEnd(16)} ${told.join(', ')} CPU each, and how often the driver's`);
    }
  } finally {
    for (const { close } of Object.values(subjects)) await close();
    const client = new MongoClient(url.href);
    await client.db().dropDatabase();
    await client.close();
  }
}

const uri = process.env.MONGODB_TEST_URI;
if (uri === undefined) throw new Error('MONGODB_TEST_URI is not set: name a server to measure with');
await measure(uri, Number(process.argv[2] ?? 7));

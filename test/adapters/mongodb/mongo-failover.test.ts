import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoConnection } from '../../../src/adapters/mongodb/mongo-connection.js';
import { MongoPetRepository } from '../../../src/adapters/mongodb/mongo-pet-repository.js';
import { clientFor } from '../../../src/adapters/mongodb/mongo-url.js';
import { describeOnMongo, withDatabase, type MongoServer } from './mongo-server.js';
import { inDatabase } from './mongo-store-tests.js';
import { ReplicaSetIllusion } from './replica-set-illusion.js';

const STEP_DOWNS = 20;
const WRITERS = 8;

interface Ledger {
  /** The ids answered, by the names of the animals. */
  readonly acknowledged: ReadonlyMap<string, bigint>;
  readonly failed: readonly unknown[];
  /** How many documents there are of each name. */
  readonly stored: ReadonlyMap<unknown, bigint[]>;
  readonly slowest: number;
}

/** Adds from all writers without a pause, while one primary after the other steps down. */
async function addThroughElections(
  server: MongoServer,
  database: string,
  { retry }: { retry: boolean },
): Promise<Ledger> {
  const illusion = await new ReplicaSetIllusion(server).open();
  const uri = `${illusion.uriFor(database)}${retry ? '' : '&retryWrites=false&retryReads=false'}`;
  const pets = new MongoPetRepository(
    new MongoConnection(clientFor(uri), database, {
      timeout: 5000,
      tell: () => {},
      ...(!retry && { attempts: 1 }),
    }),
  );
  const acknowledged = new Map<string, bigint>();
  const failed: unknown[] = [];
  let slowest = 0;
  const over = new AbortController();
  const write = async (writer: number): Promise<void> => {
    for (let number = 0; !over.signal.aborted; number += 1) {
      const name = `Rex ${number} of ${writer}`;
      const began = performance.now();
      try {
        const { pet } = await pets.add({ name, categoryId: 7n, status: 'sold' });
        acknowledged.set(name, pet.id);
      } catch (error) {
        failed.push(error);
      }
      slowest = Math.max(slowest, performance.now() - began);
    }
  };
  try {
    await pets.check();
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    for (let election = 1; election <= STEP_DOWNS; election += 1) {
      const before = acknowledged.size;
      while (acknowledged.size - before < 20) await delay(10);
      illusion.stepDown();
      await delay(50 + Math.random() * 100);
      illusion.elect(election);
    }
    await delay(200);
    over.abort();
    await Promise.all(writers);
  } finally {
    over.abort();
    await pets.close();
    await illusion.close();
  }
  const stored = new Map<unknown, bigint[]>();
  await withDatabase(server, database, async (client) => {
    for await (const { name, _id } of client.db().collection('pets').find()) {
      stored.set(name, [...(stored.get(name) ?? []), BigInt(String(_id))]);
    }
  });
  return { acknowledged, failed, stored, slowest };
}

describeOnMongo('A MongoDB store in a replica set that elects a new primary again and again', (server) => {
  it(
    `loses no animal it acknowledged, keeps none twice and refuses none: ${STEP_DOWNS} step-downs under ${WRITERS} writers`,
    inDatabase(server, async (database) => {
      const { acknowledged, failed, stored, slowest } = await addThroughElections(server, database, {
        retry: true,
      });
      const lost = [...acknowledged].filter(([name, id]) => !stored.get(name)?.includes(id));
      const twice = [...stored.values()].filter((ids) => ids.length > 1);
      console.log(
        `      ${acknowledged.size} acknowledged, ${lost.length} lost, ${twice.length} kept twice, ` +
          `${failed.length} failed, slowest ${Math.round(slowest)} ms`,
      );
      expect({ lost, twice, failed }).to.deep.equal({ lost: [], twice: [], failed: [] });
      expect(new Set(acknowledged.values()).size).to.equal(acknowledged.size);
      expect(stored.size).to.equal(acknowledged.size);
      expect(slowest).to.be.below(5000);
    }),
  ).timeout(300_000);

  it(
    'refuses some in the same run when nothing is tried again',
    inDatabase(server, async (database) => {
      const { acknowledged, failed, stored } = await addThroughElections(server, database, { retry: false });
      console.log(
        `      ${acknowledged.size} acknowledged, ${failed.length} failed, ` +
          `${stored.size - acknowledged.size} of them kept nevertheless`,
      );
      expect(failed).to.not.be.empty;
    }),
  ).timeout(300_000);
});

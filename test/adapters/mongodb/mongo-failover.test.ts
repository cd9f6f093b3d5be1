import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoConnection } from '../../../src/adapters/mongodb/mongo-connection.js';
import { MongoPetRepository } from '../../../src/adapters/mongodb/mongo-pet-repository.js';
import { clientFor } from '../../../src/adapters/mongodb/mongo-url.js';
import { describeOnMongo, withDatabase, type MongoServer } from './mongo-server.js';
import { inDatabase } from './mongo-store-tests.js';
import { ReplicaSetIllusion } from './replica-set-illusion.js';
import { WriteLedger } from './write-ledger.js';

const STEP_DOWNS = 20;

/** Adds from many writers without a pause, while one primary after the other steps down. */
async function addThroughElections(
  server: MongoServer,
  database: string,
  { retry }: { retry: boolean },
): Promise<WriteLedger> {
  const illusion = await new ReplicaSetIllusion(server).open();
  const uri = `${illusion.uriFor(database)}${retry ? '' : '&retryWrites=false&retryReads=false'}`;
  const pets = new MongoPetRepository(
    new MongoConnection(clientFor(uri), database, {
      timeout: 5000,
      tell: () => {},
      ...(!retry && { attempts: 1 }),
    }),
  );
  const ledger = new WriteLedger();
  try {
    await pets.check();
    await ledger.addWhile(pets, async () => {
      for (let election = 1; election <= STEP_DOWNS; election += 1) {
        await ledger.another(20);
        illusion.stepDown();
        await delay(50 + Math.random() * 100);
        illusion.elect(election);
      }
    });
  } finally {
    await pets.close();
    await illusion.close();
  }
  return ledger;
}

describeOnMongo('A MongoDB store in a replica set that elects a new primary again and again', (server) => {
  if (server.name.endsWith('standalone')) {
    it('is not run: a standalone server knows no retryable writes, which the driver sends to a replica set');
    return;
  }

  it(
    `loses no animal it acknowledged, keeps none twice and refuses none: ${STEP_DOWNS} step-downs under 8 writers`,
    inDatabase(server, async (database) => {
      const ledger = await addThroughElections(server, database, { retry: true });
      ledger.expectWhole(await withDatabase(server, database, (client) => ledger.audit(client)));
      expect(ledger.slowest).to.be.below(5000);
    }),
  ).timeout(300_000);

  it(
    'refuses some in the same run when nothing is tried again',
    inDatabase(server, async (database) => {
      const ledger = await addThroughElections(server, database, { retry: false });
      await withDatabase(server, database, (client) => ledger.audit(client));
      expect(ledger.failed).to.not.be.empty;
    }),
  ).timeout(300_000);
});

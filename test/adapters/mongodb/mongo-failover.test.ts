import { setTimeout as delay } from 'node:timers/promises';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { clientOf, describeOnMongo, inDatabase } from './mongo-server.js';
import { ReplicaSetIllusion } from './replica-set-illusion.js';
import { WriteLedger } from './write-ledger.js';

const STEP_DOWNS = process.env['LONG'] === '1' ? 20 : 4;

describeOnMongo('A MongoDB store that a proxy shows elections', (server) => {
  it(
    `loses, duplicates and refuses no animal during ${STEP_DOWNS} step-downs under 8 writers`,
    inDatabase(server, async (database) => {
      const illusion = await new ReplicaSetIllusion(server).open();
      const { pets, close } = await openMongoStore(illusion.uriFor(database), { timeout: 20_000 });
      const ledger = new WriteLedger();
      try {
        await pets.list({ limit: 1 });
        await ledger.addWhile(pets, async () => {
          for (let election = 1; election <= STEP_DOWNS; election += 1) {
            await ledger.another(20);
            illusion.stepDown();
            await delay(50 + Math.random() * 100);
            illusion.elect(election);
          }
        });
      } finally {
        await close();
        await illusion.close();
      }
      await ledger.expectWhole(clientOf(server).db(database));
    }),
  ).timeout(300_000);
});

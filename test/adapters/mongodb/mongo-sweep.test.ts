import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { openMongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { unlessStandIn } from './mongo-server.js';
import { claimOn, rex } from './mongo-store-tests.js';
import { describeOnOwnServer } from './own-server.js';

const HOUR = 60 * 60 * 1000;

/** Has the server look for what has lapsed every second, not every minute. */
const EVERY_SECOND = ['--setParameter', 'ttlMonitorSleepSecs=1'];

/** Until when claims are kept, in milliseconds from now, and whether the next sweep takes them. */
const CLAIMS = {
  'lapsed a day ago': { at: -24 * HOUR, swept: true },
  'lapsed an hour and a second ago': { at: -HOUR - 1000, swept: true },
  'lapsed almost an hour ago': { at: -HOUR + 5 * 60_000, swept: false },
  'lapsed just now': { at: -1, swept: false },
  'lapses in a day': { at: 24 * HOUR, swept: false },
};

unlessStandIn('The claims on a MongoDB server that sweeps', 'it sweeps at times of its own', (title) =>
  describeOnOwnServer(title, (open) => {
    it('are gone an hour after they lapsed, and no sooner', async () => {
      const server = await open();
      await server.start(...EVERY_SECOND);
      const client = new MongoClient(server.uri('animals'));
      const store = await openMongoStore(server.uri('animals'));
      try {
        const passes = async (): Promise<number> => {
          const { metrics } = await client.db().command({ serverStatus: 1 });
          return Number(metrics.ttl.passes);
        };
        const kept = async (): Promise<string[]> => {
          const documents = await client.db().collection<{ _id: string }>('claims').find().toArray();
          return documents.map(({ _id }) => (JSON.parse(_id) as string[])[1] ?? '').sort();
        };
        // Two more begin after what was written before.
        const swept = async (): Promise<void> => {
          const until = (await passes()) + 2;
          while ((await passes()) < until) await delay(20);
        };
        await store.pets.check();
        while ((await client.db().collection('claims').indexes()).length < 2) await delay(20);

        const now = Date.now();
        // When it is missed for the first time, its hour is over.
        const closing = new Date(now - HOUR + 3000);
        await store.pets.add(rex, { claim: claimOn('closing', { now: new Date(0), keepUntil: closing }) });
        for (const [token, { at }] of Object.entries(CLAIMS)) {
          const claim = claimOn(token, { now: new Date(0), keepUntil: new Date(now + at) });
          await store.pets.add(rex, { claim });
        }
        const lasting = Object.entries(CLAIMS).flatMap(([token, { swept: gone }]) => (gone ? [] : token));

        while ((await kept()).includes('closing')) await delay(20);
        expect(Date.now() - closing.getTime()).to.be.at.least(HOUR);
        await swept();
        expect(await kept()).to.deep.equal([...lasting].sort());
      } finally {
        await store.close();
        await client.close();
      }
    }).timeout(120_000);
  }),
);

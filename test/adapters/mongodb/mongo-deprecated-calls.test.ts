import { expect } from 'chai';
import type { Document } from 'mongodb';
import { openMongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import type {
  DeprecatedCallBatch,
  DeprecatedCalls,
} from '../../../src/application/ports/deprecated-call-repository.js';
import { times } from '../../contract/samples.js';
import { describeOnMongo, uriOf, withDatabase } from './mongo-server.js';
import { inDatabase, rejection, throughProxy } from './mongo-store-tests.js';

const counted = (keyId: string, calls = 1): DeprecatedCalls => ({
  day: '2026-11-20',
  operationId: 'getPet',
  keyId,
  calls,
  lastAt: new Date('2026-11-20T10:00:00.123Z'),
});

let batches = 0;
const batchOf = (...counts: readonly DeprecatedCalls[]): DeprecatedCallBatch => {
  batches += 1;
  return { id: `batch ${batches}`, counts };
};

const ID = '["2026-11-20","getPet","k1"]';

describeOnMongo('MongoDeprecatedCallRepository', (server) => {
  it(
    'keeps one document for each day, operation and key, its id their text',
    inDatabase(server, async (database) => {
      const store = await openMongoStore(uriOf(server, database));
      const batch = batchOf(counted('k1', 3), counted('"\ud800'));
      await store.deprecatedCalls.record(batch);
      await store.close();
      await withDatabase(server, database, async (client) => {
        const documents = await client.db().collection('deprecatedCalls').find().sort({ _id: 1 }).toArray();
        expect(documents.map(({ _id }) => String(_id))).to.deep.equal([
          String.raw`["2026-11-20","getPet","\"\ud800"]`,
          ID,
        ]);
        expect(documents[1]).to.deep.include({ lastAt: counted('k1').lastAt, batches: [batch.id] });
      });
    }),
  );

  it(
    'adds a batch once though its answers are lost, again and again',
    throughProxy(server, async ({ deprecatedCalls }, proxy) => {
      const keys = times(50, (number) => counted(`k${100 + number}`));
      await deprecatedCalls.record(batchOf(...keys.slice(0, 25)));
      for (let turn = 0; turn < 3; turn += 1) {
        proxy.dropReplies.set('update', 3);
        await deprecatedCalls.record(batchOf(...keys));
        expect(proxy.dropReplies.get('update')).to.equal(0);
      }
      expect((await deprecatedCalls.list()).map(({ calls }) => calls)).to.deep.equal(
        keys.map((_, index) => (index < 25 ? 4 : 3)),
      );
    }),
  );

  it(
    'adds a batch once that was rejected because no answer came, and given again after 19 others',
    throughProxy(
      server,
      async ({ deprecatedCalls }, proxy) => {
        await deprecatedCalls.record(batchOf(counted('k1')));
        const unanswered = batchOf(counted('k1'), counted('k2'));
        proxy.dropReplies.set('update', 1000);
        expect(await rejection(deprecatedCalls.record(unanswered))).to.have.property(
          'code',
          'service_unavailable',
        );
        proxy.dropReplies.clear();
        for (let others = 0; others < 19; others += 1) await deprecatedCalls.record(batchOf(counted('k1')));
        await deprecatedCalls.record(unanswered);
        expect(await deprecatedCalls.list()).to.deep.equal([counted('k1', 21), counted('k2', 1)]);
      },
      { timeout: 1000 },
    ),
  );

  it(
    'writes with the journals of a majority, a hundred documents by a command, known to the server if it comes twice',
    throughProxy(server, async ({ deprecatedCalls }, proxy) => {
      await deprecatedCalls.record(batchOf(...times(300, (number) => counted(`k${number}`))));
      await deprecatedCalls.list({ since: '2026-11-01' });
      const commands = (name: string): Document[] =>
        proxy.commands.filter((command) => command[name] === 'deprecatedCalls');
      // More where the server is too slow for an attempt.
      expect(commands('update').length).to.be.at.least(3);
      for (const update of commands('update')) {
        expect(update['writeConcern']).to.include({ w: 'majority', j: true });
        expect(Number(update['maxTimeMS'])).to.equal(2000);
        if (!server.name.includes('standalone')) expect(update).to.include.keys('lsid', 'txnNumber');
      }
      const [find] = commands('find');
      expect(find?.['readConcern']).to.include({ level: 'majority' });
      expect(find?.['filter']).to.deep.equal({ _id: { $gte: '["2026-11-01' } });
      expect(find?.['projection']).to.have.all.keys('calls', 'lastAt');
    }),
  );

  it(
    'passes over what another program wrote in its place, tells of it once, and counts everything else',
    inDatabase(server, async (database) => {
      const told: string[] = [];
      const store = await openMongoStore(uriOf(server, database), { tell: (line) => void told.push(line) });
      try {
        await store.deprecatedCalls.list();
        await withDatabase(server, database, async (client) => {
          const lastAt = new Date(0);
          await client
            .db()
            .collection<{ _id: string; [field: string]: unknown }>('deprecatedCalls')
            .insertMany(
              [
                { _id: ID, calls: 'many', lastAt, batches: [] },
                { _id: '["2026-11-20","getPet","k2"]', calls: 1n, lastAt, batches: 'none' },
                { _id: '["2026-11-20","getPet","k3"]', calls: 5, lastAt },
                { _id: '["2026-11-20","getPet"]', calls: 5n, lastAt },
                { _id: '["2026-11-20", "getPet", "k3"]', calls: 5n, lastAt },
                { _id: '["2026-11-20","getPet",7]', calls: 5n, lastAt },
                { _id: '["2026-11-20', calls: 5n, lastAt },
                { _id: '["2026-11-20","getPet","k5"]', calls: 0n, lastAt },
                { _id: '["2026-11-20","getPet","k6"]', calls: 1.5, lastAt },
                { _id: '["2026-11-20","getPet","k7"]', calls: 2n ** 60n, lastAt },
                { _id: '["2026-11-20","getPet","k8"]', calls: 1n, lastAt: 'never' },
              ],
              { bypassDocumentValidation: true },
            );
        });
        told.length = 0;
        const batch = batchOf(...['k1', 'k2', 'k3', 'k4'].map((keyId) => counted(keyId)));
        await store.deprecatedCalls.record(batch);
        const listed = [{ ...counted('k2'), lastAt: new Date(0) }, counted('k3', 6), counted('k4')];
        expect(await store.deprecatedCalls.list()).to.deep.equal(listed);
        expect(await store.deprecatedCalls.list()).to.deep.equal(listed);
        // On a busy machine it may tell of the server, too.
        const passedOver = told.filter((line) =>
          /^the document .* in deprecatedCalls is passed over/.test(line),
        );
        expect(passedOver.filter((line) => line.includes('getPet","k1"'))).to.have.length(1);
        expect(passedOver).to.have.length(10);
      } finally {
        await store.close();
      }
    }),
  );
});

import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient, type Document } from 'mongodb';
import { openMongoStore, type MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { read } from '../../docs/code-blocks.js';
import { inShell } from '../../docs/in-shell.js';
import { unlessStandIn } from './mongo-server.js';
import { claimOn, openMadeStore, rex } from './mongo-store-tests.js';
import { describeOnOwnServer, type OwnServer } from './own-server.js';

const WRITERS = 8;

/** What the page has an operator say to MongoDB's shell, so that no id is assigned again. */
const [, AHEAD = ''] = /`(db\.counters\.updateOne[^`]*)`/.exec(read('docs/operations/mongodb.md')) ?? [];

/** The ids answered, by the tokens of the creates; every second create may be repeated. */
type Ledger = Map<string, bigint>;

const mayRepeat = (token: string): boolean => token.startsWith('claim');

const add = ({ pets }: MongoStore, token: string) =>
  pets.add({ ...rex, name: token }, mayRepeat(token) ? { claim: claimOn(token) } : {});

/** Adds from all writers without a pause. */
async function write(store: MongoStore, ledger: Ledger, over: AbortSignal): Promise<void> {
  const writer = async (): Promise<void> => {
    for (let count = 0; !over.aborted; count += 1) {
      const token = `${count % 2 === 0 ? 'claim' : 'plain'} ${randomUUID()}`;
      const { pet } = await add(store, token);
      ledger.set(token, pet.id);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

/** A server writes to its diagnosis even when it is locked. */
const isData = (path: string): boolean => !/diagnostic\.data|mongod\.lock/.test(path);

/** Copies the files of a server that runs, as the page says; resolves to what was answered when it began. */
async function backUp(server: OwnServer, folder: string, ledger: Ledger): Promise<Ledger> {
  await server.administer({ fsync: 1, lock: true });
  try {
    const before = new Map(ledger);
    await cp(server.folder, folder, { recursive: true, filter: isData });
    return before;
  } finally {
    await server.administer({ fsyncUnlock: 1 });
  }
}

unlessStandIn('A MongoDB server that is restored', 'it has no lock for a backup', (title) =>
  describeOnOwnServer(title, (open) => {
    let backup: string;
    beforeEach(async () => {
      backup = await mkdtemp(join(tmpdir(), 'animal-store-backup-'));
    });
    afterEach(() => rm(backup, { recursive: true, maxRetries: 3 }));

    it('has every animal and claim from before the backup, and no id twice once the counter is set ahead', async () => {
      const server = await open();
      await server.start();
      const ledger: Ledger = new Map();
      const over = new AbortController();
      const store = await openMadeStore(server.uri('animals'), { timeout: 60_000 });
      let before: Ledger;
      try {
        const writing = write(store, ledger, over.signal);
        const more = async (count: number): Promise<void> => {
          const until = ledger.size + count;
          while (ledger.size < until) await delay(10);
        };
        await more(300);
        before = await backUp(server, backup, ledger);
        // More than what is left of the blocks of ids at hand.
        await more(1200);
        over.abort();
        await writing;
      } finally {
        over.abort();
        await store.close();
      }

      await server.kill();
      await rm(server.folder, { recursive: true });
      await cp(backup, server.folder, { recursive: true });
      await server.start();

      const client = new MongoClient(server.uri('animals'), { useBigInt64: true });
      try {
        const [[, filter, update] = []] = inShell(AHEAD);
        const counters = client.db().collection('counters');
        const { modifiedCount } = await counters.updateOne(filter as Document, update as Document);
        expect(modifiedCount).to.equal(1);
      } finally {
        await client.close();
      }

      const restored = await openMongoStore(server.uri('animals'));
      try {
        const pets = await restored.pets.list({ limit: 10_000 });
        const kept = new Map(pets.map(({ id, name }) => [name, id]));
        const lost = [...before].filter(([token, id]) => kept.get(token) !== id);
        expect(lost).to.deep.equal([]);
        expect(kept.size).to.equal(pets.length).and.to.be.lessThan(ledger.size);
        for (const [token, id] of [...kept].filter(([name]) => mayRepeat(name)).slice(0, 100)) {
          expect(await add(restored, token))
            .to.deep.include({ replayed: true })
            .and.nested.include({ 'pet.id': id });
        }
        const greatest = [...ledger.values()].reduce((one, other) => (one > other ? one : other));
        const { pet } = await add(restored, 'plain and new');
        expect(pet.id > greatest, `${pet.id} after ${greatest}`).to.equal(true);
      } finally {
        await restored.close();
      }
    }).timeout(180_000);
  }),
);

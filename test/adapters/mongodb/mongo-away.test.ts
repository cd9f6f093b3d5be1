import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { openMongoStore, type MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { describeOnMongo, uriOf } from './mongo-server.js';
import { MongoProxy } from './mongo-proxy.js';
import { claimOn, inDatabase, rejection, rex, throughProxy } from './mongo-store-tests.js';

/** What a call takes, in milliseconds, and what it rejects with. */
async function timed(call: Promise<unknown>): Promise<{ error: unknown; took: number }> {
  const began = performance.now();
  const error = await rejection(call);
  return { error, took: performance.now() - began };
}

/** How long it takes until the check passes, in milliseconds. */
async function untilReady({ pets }: MongoStore): Promise<number> {
  const began = performance.now();
  for (;;) {
    try {
      await pets.check({ signal: AbortSignal.timeout(1000) });
      return performance.now() - began;
    } catch {
      if (performance.now() - began > 10_000) throw new Error('it did not come back');
      await delay(50);
    }
  }
}

const OPERATIONS: Readonly<Record<string, (store: MongoStore, signal: AbortSignal) => Promise<unknown>>> = {
  add: ({ pets }, signal) => pets.add(rex, { signal }),
  'add with a claim': ({ pets }, signal) => pets.add(rex, { signal, claim: claimOn('t') }),
  findById: ({ pets }, signal) => pets.findById(1n, { signal }),
  list: ({ pets }, signal) => pets.list({ limit: 20 }, { signal }),
  check: ({ pets }, signal) => pets.check({ signal }),
  'findById of a key': ({ apiKeys }, signal) => apiKeys.findById('k', { signal }),
  'record of deprecated calls': ({ deprecatedCalls }, signal) =>
    deprecatedCalls.record(
      {
        id: 'b',
        counts: [{ day: '2026-11-20', operationId: 'getPet', keyId: 'k', calls: 1, lastAt: new Date(0) }],
      },
      { signal },
    ),
  'list of deprecated calls': ({ deprecatedCalls }, signal) => deprecatedCalls.list({}, { signal }),
  'update of a key': ({ apiKeys }, signal) => apiKeys.update('k', (key) => key, { signal }),
};

describeOnMongo('A MongoDB store whose database is away', (server) => {
  it(
    'opens nevertheless, says that it is not available, and serves once the database is there',
    inDatabase(server, async (database) => {
      const proxy = await new MongoProxy(server).open();
      await proxy.close();
      const told: string[] = [];
      const store = await openMongoStore(uriOf(server, database, { host: proxy.host }), {
        timeout: 1000,
        tell: (line) => void told.push(line),
      });
      try {
        const { error, took } = await timed(store.pets.add(rex));
        expect(error).to.have.property('code', 'service_unavailable');
        expect(took).to.be.below(6000);
        expect(await rejection(store.pets.check())).to.have.property('code', 'service_unavailable');
        while (told.length === 0) await delay(10);
        expect(told[0]).to.match(
          /^the database is not prepared yet, and will be tried again: .*ECONNREFUSED/,
        );
        await proxy.open();
        expect(await untilReady(store)).to.be.below(8000);
        expect((await store.pets.add(rex)).replayed).to.equal(false);
        while (!told.some((line) => line.includes('made the index'))) await delay(10);
      } finally {
        await store.close();
        await proxy.close();
      }
    }),
  );

  it(
    'says why when the login is refused, at once, and without the password',
    inDatabase(server, async (database) => {
      const uri = uriOf(server, database).replace(/^([^:]+:\/\/)(?:[^/?]*@)?/, '$1nobody:hunter2@');
      const told: string[] = [];
      const store = await openMongoStore(`${uri}&authSource=admin`, { tell: (line) => void told.push(line) });
      const { error, took } = await timed(store.pets.check());
      expect(error).to.have.property('code', 'service_unavailable');
      expect(error).to.have.nested.property('cause.code', 18);
      expect(took).to.be.below(6000);
      while (told.length === 0) await delay(10);
      expect(told[0]).to.match(
        /^the database is not prepared yet, and will be tried again: .*[Aa]uthentication failed/,
      );
      expect(inspect([error, told, store], { depth: null })).to.not.include('hunter2');
      await store.close();
    }),
  );

  it(
    'comes back by itself when the database was away in between, refused or silent',
    throughProxy(server, async (store, proxy) => {
      const { pet } = await store.pets.add(rex);
      await proxy.close();
      const refused = await timed(store.pets.check({ signal: AbortSignal.timeout(1000) }));
      expect(refused.took).to.be.below(4000);
      await proxy.open();
      expect(await untilReady(store)).to.be.below(8000);
      expect(await store.pets.findById(pet.id)).to.deep.equal(pet);

      proxy.silent = true;
      const silent = await timed(store.pets.check({ signal: AbortSignal.timeout(1000) }));
      expect(silent.took).to.be.below(4000);
      proxy.silent = false;
      await proxy.close();
      await proxy.open();
      expect(await untilReady(store)).to.be.below(8000);
      expect(await store.pets.findById(pet.id)).to.deep.equal(pet);
    }),
  );

  it(
    'waits with a create for a database that is away for a second, and adds it once',
    throughProxy(server, async ({ pets }, proxy) => {
      await pets.check();
      await proxy.close();
      const adding = pets.add(rex);
      await delay(1000);
      await proxy.open();
      const { pet } = await adding;
      expect(await pets.list({ limit: 5 })).to.deep.equal([pet]);
    }),
  );

  for (const [operation, call] of Object.entries(OPERATIONS)) {
    it(
      `ends by its signal, with the signal's reason, on a connection that is silent: ${operation}`,
      throughProxy(server, async (store, proxy) => {
        await store.pets.check();
        proxy.silent = true;
        const controller = new AbortController();
        const reason = new Error('given up');
        setTimeout(() => controller.abort(reason), 200);
        const { error, took } = await timed(call(store, controller.signal));
        expect(error).to.equal(reason);
        expect(took).to.be.within(150, 4000);
        await proxy.close();
      }),
    );
  }

  it(
    'ends by its own deadline when nothing answers and there is no signal',
    throughProxy(
      server,
      async ({ pets }, proxy) => {
        await pets.check();
        proxy.silent = true;
        const { error, took } = await timed(pets.list({ limit: 5 }));
        expect(error).to.have.property('code', 'service_unavailable');
        expect(took).to.be.within(550, 5000);
        await proxy.close();
      },
      { timeout: 600 },
    ),
  );

  it(
    'closes also while nothing answers, with calls on their way',
    throughProxy(server, async (store, proxy) => {
      await store.pets.check();
      proxy.silent = true;
      const adding = rejection(store.pets.add(rex));
      const began = performance.now();
      await store.close();
      expect(performance.now() - began).to.be.below(15_000);
      expect(await adding).to.have.property('code', 'service_unavailable');
    }),
  );

  it(
    'leaves no call behind that was given up while it waited: it never reaches the database',
    throughProxy(server, async ({ pets }, proxy) => {
      await pets.check();
      await proxy.close();
      const signal = AbortSignal.timeout(100);
      await rejection(pets.add({ ...rex, name: 'given up' }, { signal }));
      await proxy.open();
      await pets.add(rex);
      expect((await pets.list({ limit: 5 })).map(({ name }) => name)).to.deep.equal(['Rex']);
    }),
  );
});

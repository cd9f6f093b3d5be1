import type { CallOptions } from '../../src/application/call-options.js';
import { petWithId } from '../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { checkRejectsWhenAborted } from './rejection.js';
import { claimed, sampleApiKey, samplePet } from './samples.js';
import type { StoreSubject } from './store-cases.js';
import type { PortName } from './store-suite.js';

type Calls = Readonly<Record<string, (options?: CallOptions) => Promise<unknown>>>;

/** Calls of the operations of each port. `id` is that of a stored animal. */
const CALLS: Readonly<Record<PortName, (subject: StoreSubject, id: bigint) => Calls>> = {
  pets: ({ pets }, id) => ({
    add: (options) => pets.add(samplePet(), options),
    addOnce: (options) => pets.addOnce(samplePet(), ...claimed({ key: 'new' }), options),
    findById: (options) => pets.findById(id, options),
    list: (options) => pets.list({ limit: 100 }, options),
  }),
  changes: ({ changes }, id) => ({
    change: (options) => changes.change(id, { status: 'sold' }, undefined, options),
    remove: (options) => changes.remove(id, undefined, options),
  }),
  apiKeys: ({ apiKeys }) => ({
    add: (options) => apiKeys.add(sampleApiKey({ id: 'k2' }), options),
    findById: (options) => apiKeys.findById('k1', options),
    list: (options) => apiKeys.list(options),
    revoke: (options) => apiKeys.revoke('k1', 5, options),
  }),
  transfer: ({ transfer }, id) => ({
    lastId: (options) => transfer.lastId(options),
    // Not id + 1n, which `pets.add` may be assigning.
    writePets: (options) =>
      transfer.writePets([petWithId(id + 100n, samplePet())], id + 100n, options),
  }),
};

/** Calls of every operation of every port that the store has. */
export const callsOf = (subject: StoreSubject, id: bigint): Calls =>
  Object.fromEntries(
    (Object.keys(CALLS) as PortName[])
      .filter((port) => subject[port] !== undefined)
      .flatMap((port) =>
        Object.entries(CALLS[port](subject, id)).map(
          ([name, call]) => [`${port}.${name}`, call] as const,
        ),
      ),
  );

/** Stores an animal with a claim, and an API key; resolves to the animal's id. */
export async function storeOneOfEach(subject: Partial<StoreSubject>): Promise<bigint> {
  const created = await subject.pets?.addOnce(samplePet(), ...claimed());
  await subject.apiKeys?.add(sampleApiKey());
  return created?.pet.id ?? 1n;
}

/** What a store shows of its contents. No port lists claims. */
const contentsOf = (subject: Partial<StoreSubject>): Promise<readonly unknown[]> =>
  Promise.all([
    subject.pets?.list({ limit: 1000 }),
    subject.apiKeys?.list(),
    subject.transfer?.lastId(),
  ]);

/**
 * Checks that every operation of a port rejects with the reason of an aborted signal, even if it knows the result, and
 * changes nothing. A settled call must leave no listener on its signal.
 */
export async function checkAborts(subject: StoreSubject, port: PortName): Promise<void> {
  const id = await storeOneOfEach(subject);
  for (const [name, call] of Object.entries(CALLS[port](subject, id))) {
    const { signal } = new AbortController();
    for (const time of ['before', 'after']) {
      const contents = await contentsOf(subject);
      await checkRejectsWhenAborted(
        (aborted) => [call(aborted)],
        `${name}, aborted ${time} the same call`,
      );
      assert.deepEqual(await contentsOf(subject), contents, `what an aborted ${name} changed`);
      await call({ signal });
    }
    await new Promise((resolve) => setTimeout(resolve)); // listeners may be removed a turn later
    const left = getEventListeners(signal, 'abort').length;
    assert.equal(left, 0, `listeners that two calls of ${name} left on their signal`);
  }
}

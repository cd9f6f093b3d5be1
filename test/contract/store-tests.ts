import assert from 'node:assert/strict';
import { apiKeyRepositoryTests } from './api-key-repository-tests.js';
import { catalogueTransferTests } from './catalogue-transfer-tests.js';
import { petChangesTests } from './pet-changes-tests.js';
import { petRepositoryTests } from './pet-repository/pet-repository-tests.js';
import {
  checkCode,
  outcomesOf,
  checkRejectsWhenAborted,
  checkRejectsWithCode,
} from './rejection.js';
import { samplePet, times } from './samples.js';
import { callsOf, storeOneOfEach } from './store-operations.js';
import { storeCases } from './store-cases.js';
import type { StoreSuite } from './store-suite.js';
import { listAll } from './stored-animals.js';

/**
 * The clauses of `Store`, and of all its ports. Name the ports that the store lacks in `without`, and `reopen` if it is
 * not durable, `another` if it cannot be shared.
 */
export function storeTests(suite: StoreSuite): void {
  const cases = storeCases(suite);
  const test = cases('store');
  const durable = cases('store', 'reopen');
  const shared = cases('store', 'another');

  suite.describe('Store', () => {
    test('passes its check while it is open, and rejects an aborted check', async ({ store }) => {
      await store.check();
      await checkRejectsWhenAborted((options) => [store.check(options)], 'check, aborted');
      await store.check();
    });

    test('closes twice, and rejects every call of every port after it with service_unavailable', async (subject) => {
      const id = await storeOneOfEach(subject);
      await Promise.all([subject.store.close(), subject.store.close()]);
      await checkRejectsWithCode(subject.store.check(), 'service_unavailable', 'check');
      for (const [name, call] of Object.entries(callsOf(subject, id)))
        await checkRejectsWithCode(call(), 'service_unavailable', name);
      await subject.store.close();
    });

    test('finishes calls that are in progress at close, or rejects them with service_unavailable', async (subject) => {
      const id = await storeOneOfEach(subject);
      const checking = Object.entries(callsOf(subject, id)).map(async ([name, call]) => {
        const { errors } = await outcomesOf([call()]);
        for (const error of errors) checkCode(error, 'service_unavailable', name);
      });

      await Promise.all([subject.store.close(), ...checking]);
    });

    durable('has every animal whose add resolved while it was closing', async (subject) => {
      const adding = outcomesOf(times(20, () => subject.pets.add(samplePet())));
      await subject.store.close();
      const { pets } = await subject.reopen();
      const { values } = await adding;
      for (const pet of values) assert.deepEqual(await pets.findById(pet.id), pet);
    });

    shared('stays open when another handle is closed', async ({ pets, store, another }) => {
      const other = await another();
      await other.pets.add(samplePet());
      await other.close();
      await store.check();
      await pets.add(samplePet());
      assert.equal((await listAll(pets)).length, 2, 'animals of both handles');
    });

    petRepositoryTests(suite);
    petChangesTests(suite);
    apiKeyRepositoryTests(suite);
    catalogueTransferTests(suite);
  });
}

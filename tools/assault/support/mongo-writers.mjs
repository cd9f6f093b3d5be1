// What the attacks on MongoDB share: writers, and what must hold when they have ended.
import { setTimeout as delay } from 'node:timers/promises';
import { petPages } from '../../../build/src/application/pet-pages.js';
import { isAnimalStoreError } from '../../../build/src/index.js';

/** A create that is not acknowledged after this many milliseconds fails the attack. Elections are far shorter. */
const LONGEST = 120_000;

export const MISSING = 'a mongod, which MONGOMS_SYSTEM_BINARY names';

export class MongoWriters {
  acknowledged = [];
  #refusals = {}; // counted by reason, without ids

  /** Adds animals to the store until `work` has ended. The names begin with those of the writers, which must be new. */
  async writeDuring(work, store, writers) {
    let isOver = false;
    const write = async (writer) => {
      for (let number = 0; !isOver; number += 1) {
        // Every second animal has an idempotency key: its create is retried until it is acknowledged.
        if (number % 2 > 0) await this.#add(store, `${writer}-${number}`);
        else await this.#addOnce(store, `keyed-${writer}-${number}`);
        await delay(5);
      }
    };
    const working = work().finally(() => (isOver = true));
    await Promise.all([working, ...writers.map(write)]);
  }

  /** Reads all animals of the store. */
  async judge(store, show) {
    const names = new Map();
    for await (const page of petPages(store.pets))
      for (const { id, name } of page) names.set(id, name);
    const ids = new Set(this.acknowledged.map(({ id }) => id));
    const keyed = [...names.values()].filter((name) => name.startsWith('keyed'));
    const lost = this.acknowledged.filter(({ id, name }) => names.get(id) !== name);
    console.log(`${this.acknowledged.length} animals acknowledged; calls refused:`, this.#refusals);
    show('acknowledged animals lost', lost.length);
    show('ids acknowledged twice', this.acknowledged.length - ids.size);
    show('animals stored twice for one key', keyed.length - new Set(keyed).size);
  }

  async #addOnce(store, name) {
    const began = Date.now();
    const claim = { scope: 's', key: name, fingerprint: name, keepUntil: began + 3_600_000 };
    while (!(await this.#add(store, name, claim))) {
      if (Date.now() - began > LONGEST) throw new Error(`${name} is never acknowledged`);
      await delay(100);
    }
  }

  /** Resolves to whether the store has acknowledged the animal. */
  async #add({ pets }, name, claim) {
    const animal = { name, categoryId: 1n, status: 'available' };
    try {
      if (claim) this.acknowledged.push((await pets.addOnce(animal, claim, Date.now())).pet);
      else this.acknowledged.push(await pets.add(animal));
      return true;
    } catch (error) {
      if (!isAnimalStoreError(error)) throw error; // a bug
      const reason = `${error.code}: ${error.cause?.message}`.replaceAll(/\d+/g, 'N');
      this.#refusals[reason] = (this.#refusals[reason] ?? 0) + 1;
      return false;
    }
  }
}

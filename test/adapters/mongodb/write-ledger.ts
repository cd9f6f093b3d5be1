import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';

const WRITERS = 8;

/** What became of animals that several writers added at once, each under a name of its own. */
export class WriteLedger {
  /** The acknowledged ids, by the names of the animals. */
  readonly acknowledged = new Map<string, bigint>();
  readonly #failed: unknown[] = [];
  readonly #over = new AbortController();

  /** Adds from all writers without a pause, while something disturbs the database. */
  async addWhile(pets: PetRepository, disturb: () => Promise<void>): Promise<void> {
    const writers = Array.from({ length: WRITERS }, (_, writer) => this.#write(pets, writer));
    try {
      await disturb();
      await this.another(20);
    } finally {
      this.#over.abort();
      await Promise.all(writers);
    }
  }

  /** Resolves when so many more were acknowledged. */
  async another(count: number): Promise<void> {
    for (const wanted = this.acknowledged.size + count; this.acknowledged.size < wanted; await delay(5));
  }

  async #write(pets: PetRepository, writer: number): Promise<void> {
    for (let number = 0; !this.#over.signal.aborted; number += 1) {
      const name = `Rex ${number} of ${writer}`;
      try {
        const { pet } = await pets.add({ name, categoryId: 7n, status: 'sold' });
        this.acknowledged.set(name, pet.id);
      } catch (error) {
        this.#failed.push(error);
      }
    }
  }

  /** No add was refused; the majority has every animal that was acknowledged once, and no other. */
  async expectWhole(db: Db): Promise<void> {
    const stored = new Map<unknown, bigint[]>();
    const pets = db.collection('pets', { readConcern: { level: 'majority' } });
    for await (const { name, _id } of pets.find()) {
      stored.set(name, [...(stored.get(name) ?? []), BigInt(String(_id))]);
    }
    const lost = [...this.acknowledged].filter(([name, id]) => !stored.get(name)?.includes(id));
    const twice = [...stored.values()].filter((ids) => ids.length > 1);
    expect({ failed: this.#failed, lost, twice }).to.deep.equal({ failed: [], lost: [], twice: [] });
    expect(new Set(this.acknowledged.values()).size).to.equal(this.acknowledged.size);
    expect(stored.size).to.equal(this.acknowledged.size);
  }
}

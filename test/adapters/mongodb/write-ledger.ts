import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';

const WRITERS = 8;

/** What became of animals that many writers added at once, each under a name of its own. */
export class WriteLedger {
  /** The ids answered, by the names of the animals. */
  readonly acknowledged = new Map<string, bigint>();
  readonly failed: unknown[] = [];
  /** How long the slowest add took, in milliseconds. */
  slowest = 0;
  readonly #over = new AbortController();

  /** Adds from all writers without a pause, while something is done to the database. */
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
      const began = performance.now();
      try {
        const { pet } = await pets.add({ name, categoryId: 7n, status: 'sold' });
        this.acknowledged.set(name, pet.id);
      } catch (error) {
        this.failed.push(error);
      }
      this.slowest = Math.max(this.slowest, performance.now() - began);
    }
  }

  /** Compares what was answered with what the majority has, and says so in one line for whoever reads the tests' output. */
  async audit(client: MongoClient): Promise<Audit> {
    const stored = new Map<unknown, bigint[]>();
    const pets = client.db().collection('pets', { readConcern: { level: 'majority' } });
    for await (const { name, _id } of pets.find()) {
      stored.set(name, [...(stored.get(name) ?? []), BigInt(String(_id))]);
    }
    const lost = [...this.acknowledged].filter(([name, id]) => !stored.get(name)?.includes(id));
    const twice = [...stored.values()].filter((ids) => ids.length > 1);
    console.log(
      `      ${this.acknowledged.size} acknowledged, ${lost.length} lost, ${twice.length} kept twice, ` +
        `${this.failed.length} failed, ${stored.size - this.acknowledged.size + lost.length} of them kept nevertheless, ` +
        `slowest ${Math.round(this.slowest)} ms`,
    );
    return { stored: stored.size, lost, twice };
  }

  /** Nothing was refused, nothing that was acknowledged is lost, nothing is there twice, and no two got one id. */
  expectWhole({ stored, lost, twice }: Audit): void {
    expect({ failed: this.failed, lost, twice }).to.deep.equal({ failed: [], lost: [], twice: [] });
    expect(new Set(this.acknowledged.values()).size).to.equal(this.acknowledged.size);
    expect(stored).to.equal(this.acknowledged.size);
  }
}

interface Audit {
  /** How many names there are. */
  readonly stored: number;
  readonly lost: readonly (readonly [string, bigint])[];
  readonly twice: readonly (readonly bigint[])[];
}

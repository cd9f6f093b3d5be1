import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { Fetch } from '../../../../src/adapters/http/client/client-options.js';
import type { Pet } from '../../../../src/domain/pet.js';
import { times } from '../../../contract/samples.js';
import { inFolder } from '../../sqlite/temporary-store.js';
import { KEY, startAnimalService } from './client-subject.js';

/** Numbers from 0 to 1, the same every time (a linear congruential generator). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('AnimalStoreClient of a service on SQLite', () => {
  afterEach(() => mock.restoreAll());

  it(
    'creates 300 animals for 300 calls when three responses in ten are lost and the service restarts',
    inFolder(async (folder) => {
      const start = () => startAnimalService(`sqlite:${join(folder, 'animals.db')}`);
      let service = await start();
      mock.method(Math, 'random', () => 0.05); // short pauses
      const random = numbers(5);
      let lost = 0;
      const fetch: Fetch = async (url, init) => {
        const response = await globalThis.fetch(url.replace('http://animals.example/v1', service.url), init);
        await response.clone().arrayBuffer();
        if (random() >= 0.3) return response;
        lost += 1;
        throw new TypeError('the connection is lost');
      };
      const baseUrl = 'http://animals.example/v1';
      // Retries for as long as it takes.
      const client = new AnimalStoreClient({
        baseUrl,
        apiKey: KEY,
        fetch,
        retries: 1000,
        callDeadline: 60_000,
      });
      const created = new Map<string, Pet>();
      let restarted: Promise<void> | undefined;
      const restart = async (): Promise<void> => {
        await service.stop();
        service = await start();
      };
      const names = times(300, (number) => `Pet ${number}`).values();
      const work = async (): Promise<void> => {
        for (const name of names) {
          const { pet, replayed } = await client.createPet({ name, categoryId: 2n ** 63n - 1n });
          expect(replayed).to.equal(false);
          created.set(name, pet);
          if (created.size === 100) restarted = restart();
        }
      };
      await Promise.all(times(20, work));
      await restarted;
      expect(lost).to.be.greaterThan(60);
      const stored: Pet[] = [];
      for await (const pet of client.allPets()) stored.push(pet);
      expect(stored.map(({ name }) => name)).to.have.members([...created.keys()]);
      expect(stored).to.have.length(300);
      for (const pet of stored) expect(created.get(pet.name)).to.deep.equal(pet);
      await service.stop();
    }),
  ).timeout(60_000);
});

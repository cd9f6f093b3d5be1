import { join } from 'node:path';
import { expect } from 'chai';
import { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { Service } from '../../../../src/bootstrap/service.js';
import type { Pet } from '../../../../src/domain/pet.js';
import { times } from '../../../contract/samples.js';
import { LossyProxy, numbers } from './lossy-proxy.js';
import { temporaryFolder } from '../../sqlite/temporary-store.js';
import { KEY, startAnimalService } from './client-subject.js';

/** Retries for as long as it takes. */
const PATIENT = { apiKey: KEY, retries: 1000, callDeadline: 60_000 };

describe('AnimalStoreClient of a service on SQLite whose responses get lost', function () {
  this.timeout(120_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service;
  let proxy: LossyProxy;
  /** Where the service is by way of the proxy. */
  let url: string;
  /** The probability that an answer is lost; half of those get out in part. */
  let loss: number;

  const start = (): Promise<Service> => startAnimalService(`sqlite:${join(folder.path, 'animals.db')}`);

  beforeEach(async () => {
    folder = await temporaryFolder();
    service = await start();
    loss = 0;
    const random = numbers(5);
    proxy = new LossyProxy(service.url, () => random() < loss && (random() < 0.5 || 'the end'));
    url = await proxy.open();
  });

  afterEach(async () => {
    await proxy.close();
    await service.stop();
    await folder.remove();
  });

  async function restart(): Promise<void> {
    proxy.target = undefined;
    await service.stop();
    service = await start();
    proxy.target = new URL(service.url);
  }

  /** Creates animals, twenty at a time; resolves to what the calls resolved to, by name. */
  async function createAnimals(count: number, onCreated: (created: number) => void = () => {}) {
    const client = new AnimalStoreClient({ baseUrl: url, ...PATIENT });
    const created = new Map<string, Pet>();
    const names = times(count, (number) => `Pet ${number}`).values();
    const work = async (): Promise<void> => {
      for (const name of names) {
        const { pet, replayed } = await client.createPet({ name, categoryId: 2n ** 63n - 1n });
        expect(replayed).to.equal(false);
        created.set(name, pet);
        onCreated(created.size);
      }
    };
    await Promise.all(times(20, work));
    return created;
  }

  async function expectJustThese(created: ReadonlyMap<string, Pet>, count: number): Promise<void> {
    const stored: Pet[] = [];
    const client = new AnimalStoreClient({ baseUrl: service.url, apiKey: KEY });
    for await (const pet of client.allPets()) stored.push(pet);
    expect(created.size).to.equal(count);
    expect(stored).to.have.length(count);
    for (const pet of stored) expect(created.get(pet.name)).to.deep.equal(pet);
  }

  it('creates 300 animals for 300 calls when three responses in ten are lost', async () => {
    loss = 0.3;
    const created = await createAnimals(300);
    expect(proxy.lost.length).to.be.greaterThan(60);
    await expectJustThese(created, 300);
  });

  it('creates 200 animals for 200 calls when the service restarts meanwhile', async () => {
    const restarted = Promise.withResolvers<void>();
    const created = await createAnimals(200, (count) => {
      if (count === 60) restart().then(restarted.resolve, restarted.reject);
    });
    await restarted.promise;
    await expectJustThese(created, 200);
  });
});

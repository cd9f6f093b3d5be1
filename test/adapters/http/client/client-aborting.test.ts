import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { CallOptions } from '../../../../src/application/animal-store.js';
import { UnavailableError } from '../../../../src/domain/errors.js';
import { rejectionOf } from '../../../contract/rejection.js';
import {
  BELLA,
  bella,
  fakeService,
  html,
  json,
  never,
  useIdleTime,
  type Sent,
} from './fake-service.js';

const OPERATIONS: Readonly<
  Record<string, (client: AnimalStoreClient, call: CallOptions) => Promise<unknown>>
> = {
  listPets: (client, call) => client.listPets({}, call),
  createPet: (client, call) => client.createPet(bella, call),
  getPet: (client, call) => client.getPet(1n, call),
  allPets: (client, call) => client.allPets({}, call).next(),
};

const REASONS = [new Error('given up'), 'given up', null, new UnavailableError('of the caller')];

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('A signal ends a call of AnimalStoreClient', () => {
  useIdleTime();

  for (const [operation, call] of Object.entries(OPERATIONS)) {
    it(`that waits for its response, with its reason, and aborts fetch: ${operation}`, async () => {
      for (const reason of REASONS) {
        const controller = new AbortController();
        const begun = Promise.withResolvers<Sent>();
        const { client, sent, timing } = fakeService((request) => {
          begun.resolve(request);
          return new Promise(() => {});
        });
        const calling = call(client(), controller);

        const { init } = await begun.promise;
        controller.abort(reason);

        expect(await rejectionOf(calling)).to.equal(reason);
        expect(init.signal?.aborted).to.equal(true);
        expect(sent, 'requests').to.have.length(1);
        expect([listenersOf(controller.signal), timing.running], 'listeners, timers').to.deep.equal(
          [0, 0],
        );
      }
    });
  }

  it('that pauses before a retry', async () => {
    const controller = new AbortController();
    const { client, sent, timing } = fakeService(html(503, { 'Retry-After': '5' }));
    const calling = client().listPets({}, controller);

    while (timing.running < 2) await setImmediate(); // beside the deadline's timer
    controller.abort('given up');

    expect(await rejectionOf(calling)).to.equal('given up');
    expect(sent, 'requests').to.have.length(1);
    expect([listenersOf(controller.signal), timing.running], 'listeners, timers').to.deep.equal([
      0, 0,
    ]);
  });

  it('that waits for the API key', async () => {
    const controller = new AbortController();
    const asked = Promise.withResolvers<void>();
    const key = Promise.withResolvers<string>();
    const apiKey = (): Promise<string> => {
      asked.resolve();
      return key.promise;
    };
    const { client, sent } = fakeService(json(200, '[]'));
    const calling = client({ apiKey }).listPets({}, controller);

    await asked.promise;
    controller.abort('given up');

    expect(await rejectionOf(calling)).to.equal('given up');

    key.resolve('a-key-that-comes-too-late');
    await setImmediate();

    expect(sent, 'requests').to.deep.equal([]);
  });

  it('that has not started, without a request', async () => {
    const { client, sent, timing } = fakeService(never);
    const signal = AbortSignal.abort('given up');

    expect(await rejectionOf(client().listPets({}, { signal }))).to.equal('given up');
    expect(sent, 'requests').to.deep.equal([]);
    expect([listenersOf(signal), timing.running], 'listeners, timers').to.deep.equal([0, 0]);
  });

  it('and keeps no listener after the call', async () => {
    const { signal } = new AbortController();
    const { client, timing } = fakeService(html(502), json(200, '[]'));
    const one = client();

    for (let count = 0; count < 50; count += 1) await one.listPets({}, { signal });

    const { client: failing } = fakeService(html(200));

    await rejectionOf(failing().listPets({}, { signal }));

    expect([listenersOf(signal), timing.running], 'listeners, timers').to.deep.equal([0, 0]);
  });

  it('between two animals of a page', async () => {
    const controller = new AbortController();
    const { client, sent } = fakeService(
      json(200, `[${BELLA},${BELLA.replace('"id":1', '"id":2')}]`),
    );
    const met: bigint[] = [];

    const walk = async (): Promise<void> => {
      for await (const { id } of client().allPets({}, controller)) {
        met.push(id);
        controller.abort('given up');
      }
    };

    expect(await rejectionOf(walk())).to.equal('given up');
    expect(met).to.deep.equal([1n]);
    expect(sent, 'requests').to.have.length(1);
  });
});

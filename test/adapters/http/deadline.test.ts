import { expect } from 'chai';
import { mock } from 'node:test';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import type { Authenticator } from '../../../src/application/ports/authenticator.js';
import type { PetChanges } from '../../../src/application/ports/pet-changes.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import {
  HeldPetRepository,
  KEY,
  KeptLog,
  REX,
  anyKey,
  createWith,
  httpInterface,
  keepAlive,
  leaving,
  outcome,
  requestWith,
  settled,
} from './fixtures.js';

const LIST = requestWith(KEY);
const TOO_SLOW = '503 service_unavailable';
const REQUEST_TIMEOUT = '408 request_timeout';

describe('A request that takes too long', () => {
  keepAlive();
  const settings = { requestDeadline: 50 };

  it("gets 503 when the store does not finish, and the store's signal is aborted", async () => {
    const pets = new HeldPetRepository();

    const late = await httpInterface({ pets, settings }).handle(LIST);

    expect(outcome(late)).to.equal(TOO_SLOW);
    expect(late.headers).to.include({ 'Retry-After': '1' });
    expect(pets.calls[0]?.signal?.reason).to.be.instanceOf(UnavailableError);
  });

  it('gets 503 when the authenticator does not finish, and then never reaches the animal store', async () => {
    const pets = new HeldPetRepository();
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const authenticator: Authenticator = {
      async authenticate(credential) {
        await promise;
        return anyKey.authenticate(credential);
      },
    };

    const late = await httpInterface({ pets, settings, authenticator }).handle(LIST);
    finish();
    await settled();

    expect(outcome(late)).to.equal(TOO_SLOW);
    expect(pets.calls, 'calls of the store').to.deep.equal([]);
  });

  it('does not count the time to receive its body', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, settings });
    let whileReading = '';
    let read = 0;
    const readBody = async (): Promise<string> => {
      // The deadline of another request that began later passes.
      whileReading = outcome(await http.handle(LIST));
      read = performance.now();
      return REX;
    };

    const late = await http.handle(createWith(REX, { readBody }));

    expect(performance.now() - read, 'milliseconds after its body').to.be.greaterThan(45);
    expect([whileReading, outcome(late)]).to.deep.equal([TOO_SLOW, TOO_SLOW]);
    expect(pets.calls, 'calls of the store').to.have.length(2);
  });

  it('is ended also where timers are numbers, as outside Node.js', async () => {
    const { setTimeout: original } = globalThis;
    const numbers = (...timer: Parameters<typeof original>): number => Number(original(...timer));
    const timers = mock.method(globalThis, 'setTimeout', numbers as unknown as typeof original);

    const late = await httpInterface({ pets: new HeldPetRepository(), settings }).handle(LIST);
    timers.mock.restore();

    expect(outcome(late)).to.equal(TOO_SLOW);
  });
});

describe('A request that is in time', () => {
  it('leaves no timer behind', async () => {
    const started = mock.method(globalThis, 'setTimeout');
    const ended = mock.method(globalThis, 'clearTimeout');

    const handled = httpInterface().handle(createWith(REX));
    await handled.finally(() => mock.restoreAll());

    const timers = started.mock.calls.map(({ result }) => result);
    const cleared = ended.mock.calls.map(({ arguments: [timer] }) => timer);
    expect(timers, 'timers that were started').to.have.length.above(0);
    expect(cleared).to.include.members(timers);
  });
});

describe('A client that disconnects', () => {
  it('before its request is handled is not waited for, even if the work ignores the signal', async () => {
    const authenticator: Authenticator = { authenticate: () => new Promise(() => {}) };
    const http = httpInterface({ authenticator });

    const response = await http.handle({ ...LIST, onDisconnect: (listener) => listener() });

    expect(outcome(response)).to.equal(REQUEST_TIMEOUT);
  });

  const path = '/v1/pets/1';
  for (const [operation, sent] of [
    ['listPets', LIST],
    ['createPet', createWith(REX)],
    ['getPet', { ...LIST, path }],
    ['changePet', createWith('{"status":"sold"}', { method: 'PATCH', path })],
    ['removePet', { ...LIST, method: 'DELETE', path }],
  ] as const)
    it(`aborts the work of the store in ${operation}, and is not a failure for the log`, async () => {
      const pets = new HeldPetRepository();
      const changes: PetChanges = {
        change: (id, _change, _from, call) => pets.findById(id, call),
        remove: async (id, _from, call) => (await pets.findById(id, call)) !== undefined,
      };
      const animalStore = createAnimalStore({ pets, changes });
      const settings = { experimental: ['changePet', 'removePet'] } as const;
      const log = new KeptLog();
      const { request, leave } = leaving(sent);

      const response = httpInterface({ animalStore, log, settings }).handle(request);
      await pets.called(1);
      const signal = pets.calls[0]?.signal;
      expect(signal?.aborted, 'aborted before').to.equal(false);
      leave();

      expect(outcome(await response)).to.equal(REQUEST_TIMEOUT);
      expect(signal?.aborted, 'aborted after').to.equal(true);
      expect(log.failures).to.deep.equal([]);
    });
});

import { expect } from 'chai';
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnimalStoreClient } from '../../../../src/adapters/http/client/index.js';
import type { CallOptions } from '../../../../src/application/call-options.js';
import { UnavailableError } from '../../../../src/domain/errors.js';
import { rejectionOf } from '../../../contract/rejection.js';
import {
  BELLA,
  bella,
  broken,
  errorJson,
  fakeService,
  html,
  json,
  never,
  skipPauses,
  type ClientCall,
  type Sent,
  type Step,
} from './fake-service.js';

const REPEATABLE: Readonly<Record<string, readonly [ClientCall, Response]>> = {
  listPets: [(client) => client.listPets(), json(200, '[]')],
  createPet: [(client) => client.createPet(bella), json(201, BELLA)],
  changePet: [(client) => client.changePet(1n, { status: 'available' }), json(200, BELLA)],
};

/** A retry could find the effect of the first attempt, and take it for that of another caller. */
const ONCE: Readonly<Record<string, ClientCall>> = {
  'changePet with from': (client) =>
    client.changePet(1n, { status: 'sold' }, { from: 'available' }),
  removePet: (client) => client.removePet(1n),
};

const RETRIED: ReadonlyArray<readonly [what: string, step: Step, isBeforeWork: boolean]> = [
  ['a network failure', new TypeError('fetch failed'), false],
  ['a response that breaks off', broken, false],
  ['502 of a proxy', html(502), false],
  ['503 of the service', errorJson(503, 'service_unavailable'), false],
  ['429', html(429), true],
  ['408', errorJson(408, 'request_timeout'), true],
];

const FINAL: ReadonlyArray<readonly [string, Step]> = [
  ['401', errorJson(401, 'invalid_api_key')],
  ['409 with another code', errorJson(409, 'a_code_of_later')],
  ['500', errorJson(500, 'internal_error')],
];

describe('The client retries', () => {
  const pauses = skipPauses();

  for (const [operation, [call, success]] of Object.entries(REPEATABLE)) {
    for (const [what, step] of RETRIED)
      it(`${operation} after ${what}`, async () => {
        const { client, sent } = fakeService(step, step, success);

        await call(client());

        expect(sent, 'requests').to.have.length(3);
        // The same animal under the same key: that is what makes it safe.
        for (const part of [
          (request: Sent) => request.url,
          ({ init }: Sent) => init.body,
          ({ headers }: Sent) => headers.get('idempotency-key'),
        ])
          expect(new Set(sent.map(part)).size).to.equal(1);
      });

    for (const [what, step] of FINAL)
      it(`${operation} never after ${what}`, async () => {
        const { client, sent } = fakeService(step, success);
        await rejectionOf(call(client()));
        expect(sent, 'requests').to.have.length(1);
      });
  }

  for (const [operation, call] of Object.entries(ONCE))
    it(`${operation} only if it was refused before any work`, async () => {
      for (const [what, step, isBeforeWork] of RETRIED) {
        const { client, sent } = fakeService(step, new Response(null, { status: 418 }));
        await rejectionOf(call(client()));
        expect(sent, what).to.have.length(isBeforeWork ? 2 : 1);
      }
    });

  it('three times by default, with growing pauses, then rejects with the last failure', async () => {
    const { client, sent } = fakeService(new TypeError('fetch failed'));

    const error = await rejectionOf(client().listPets());

    expect(error).to.be.instanceOf(UnavailableError);
    expect(sent, 'requests').to.have.length(4);
    expect(pauses).to.deep.equal([100, 200, 400]);
  });

  it('as often as the option says', async () => {
    const { client, sent } = fakeService(html(503));
    await rejectionOf(client({ retries: 5 }).listPets());
    expect(sent, 'requests').to.have.length(6);
  });

  for (const [retryAfter, pause] of [
    ['3', 3100],
    ['soon', 100],
    ['9'.repeat(400), 2 ** 31 - 1],
  ] as const)
    it(`after a pause of ${pause} ms where Retry-After is ${retryAfter.slice(0, 9)}`, async () => {
      const conflict = errorJson(409, 'idempotency_conflict', { 'Retry-After': retryAfter });
      await fakeService(conflict, json(201, BELLA)).client().createPet(bella);
      expect(pauses).to.deep.equal([pause]);
    });

  it('with the API key of the first attempt', async () => {
    const { client, sent } = fakeService(html(503), json(201, BELLA));
    const keys = ['first-key', 'second-key'];

    await client({ apiKey: async () => keys.shift() ?? '' }).createPet(bella);

    const used = sent.map(({ headers }) => headers.get('authorization'));
    expect(used).to.deep.equal(['Bearer first-key', 'Bearer first-key']);
  });
});

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('A signal ends a call of the client', () => {
  for (const [operation, call] of Object.entries({
    listPets: (client, options) => client.listPets({}, options),
    createPet: (client, options) => client.createPet(bella, options),
    allPets: (client, options) => client.allPets({}, options).next(),
  } as Record<string, (client: AnimalStoreClient, options: CallOptions) => Promise<unknown>>))
    it(`that waits for its response, with its reason, and aborts fetch: ${operation}`, async () => {
      for (const reason of ['given up', new UnavailableError('of the caller')]) {
        const controller = new AbortController();
        const begun = Promise.withResolvers<Sent>();
        const { client, sent } = fakeService((request) => {
          begun.resolve(request);
          return never(request);
        });
        const calling = call(client(), controller);

        const { init } = await begun.promise;
        controller.abort(reason);

        expect(await rejectionOf(calling)).to.equal(reason);
        await nextTurn();
        expect(init.signal?.aborted).to.equal(true);
        expect(sent, 'requests').to.have.length(1);
        expect(listenersOf(controller.signal), 'listeners').to.equal(0);
      }
    });

  it('that pauses before a retry, and leaves no timer', async () => {
    const controller = new AbortController();
    const started = mock.method(globalThis, 'setTimeout');
    const ended = mock.method(globalThis, 'clearTimeout');
    const { client, sent } = fakeService(html(503, { 'Retry-After': '3600' }));
    const calling = client().listPets({}, controller);

    while (started.mock.callCount() === 0) await nextTurn();
    controller.abort('given up');

    expect(await rejectionOf(calling)).to.equal('given up');
    await nextTurn();
    mock.restoreAll();
    expect(sent, 'requests').to.have.length(1);
    expect(ended.mock.calls.map(({ arguments: [timer] }) => timer)).to.deep.equal(
      started.mock.calls.map(({ result }) => result),
    );
    expect(listenersOf(controller.signal), 'listeners').to.equal(0);
  });

  it('that waits for the API key, without a request', async () => {
    const controller = new AbortController();
    const asked = Promise.withResolvers<void>();
    const key = Promise.withResolvers<string>();
    const apiKey = (): Promise<string> => {
      asked.resolve();
      return key.promise;
    };
    const { client, sent } = fakeService(never);
    const calling = client({ apiKey }).listPets({}, controller);

    await asked.promise;
    controller.abort('given up');

    expect(await rejectionOf(calling)).to.equal('given up');
    key.resolve('a-key-that-comes-too-late');
    await nextTurn();
    expect(sent, 'requests').to.deep.equal([]);
  });

  it('that has not started, whatever its arguments are', async () => {
    const { client, sent } = fakeService(never);
    const signal = AbortSignal.abort('given up');

    expect(await rejectionOf(client().listPets({ limit: 0 }, { signal }))).to.equal('given up');
    expect(sent, 'requests').to.deep.equal([]);
  });

  it('and without one it ends as unavailable after 30 seconds', async () => {
    const limit = new AbortController();
    const timeout = mock.method(AbortSignal, 'timeout', () => limit.signal);
    const { client } = fakeService(never);

    const calling = client().listPets();
    limit.abort(new DOMException('too late', 'TimeoutError'));
    const error = await rejectionOf(calling);
    mock.restoreAll();

    expect(error).to.be.instanceOf(UnavailableError);
    expect(timeout.mock.calls.map(({ arguments: [time] }) => time)).to.deep.equal([30_000]);
  });
});

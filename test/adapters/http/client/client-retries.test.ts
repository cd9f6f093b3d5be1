import { expect } from 'chai';
import { ServiceError } from '../../../../src/adapters/http/client/service-error.js';
import { UnavailableError, isAnimalStoreError } from '../../../../src/domain/errors.js';
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
  useIdleTime,
  type ClientCall,
  type Step,
} from './fake-service.js';
import { petWithId, unsavedPet } from '../../../../src/domain/pet.js';

const OPERATIONS: Readonly<Record<string, readonly [ClientCall, Response]>> = {
  listPets: [(client) => client.listPets(), json(200, '[]')],
  getPet: [(client) => client.getPet(1n), json(200, BELLA)],
  createPet: [(client) => client.createPet(bella), json(201, BELLA)],
  changePet: [(client) => client.changePet(1n, { status: 'available' }), json(200, BELLA)],
};

/** A retry could find the effect of the first attempt, and take it for that of another caller. */
const ONCE: Readonly<Record<string, ClientCall>> = {
  'changePet with a status to start from': (client) =>
    client.changePet(1n, { status: 'sold' }, { from: 'available' }),
  'changePet with an animal to start from': (client) =>
    client.changePet(1n, { name: 'Max' }, { from: petWithId(1n, unsavedPet(bella)) }),
  removePet: (client) => client.removePet(1n),
};

const RETRIED: ReadonlyArray<readonly [string, Step]> = [
  ['a network failure', new TypeError('fetch failed')],
  ['a response that breaks off', broken],
  ['502 of a proxy', html(502)],
  ['503 of a proxy', html(503)],
  ['504 of a proxy', html(504)],
  ['503 of the service', errorJson(503, 'service_unavailable')],
  ['503 with a code of later', errorJson(503, 'maintenance')],
  ['429', errorJson(429, 'rate_limited')],
  ['408', errorJson(408, 'request_timeout')],
];

const FINAL: ReadonlyArray<readonly [string, Step]> = [
  ['400', errorJson(400, 'invalid_parameter')],
  ['401', errorJson(401, 'invalid_api_key')],
  ['404', errorJson(404, 'pet_not_found')],
  ['409 with another code', errorJson(409, 'a_code_of_later')],
  ['500', errorJson(500, 'internal_error')],
  ['a page of a proxy with status 200', html(200)],
];

describe('AnimalStoreClient retries', () => {
  useIdleTime();

  for (const [operation, [call, success]] of Object.entries(OPERATIONS)) {
    for (const [what, step] of RETRIED) {
      it(`${operation} after ${what}`, async () => {
        const { client, sent } = fakeService(step, step, success);

        await call(client());

        expect(sent, 'requests').to.have.length(3);
        expect(new Set(sent.map(({ url }) => url)).size).to.equal(1);
        expect(new Set(sent.map(({ init }) => init.body)).size).to.equal(1);
        // The same animal under the same key: that is what makes it safe.
        expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size).to.equal(1);
      });
    }

    for (const [what, step] of FINAL) {
      it(`${operation} never after ${what}`, async () => {
        const { client, sent } = fakeService(step, success);

        await rejectionOf(call(client()));

        expect(sent, 'requests').to.have.length(1);
      });
    }
  }

  for (const [operation, call] of Object.entries(ONCE)) {
    it(`${operation} only if it was refused before any work`, async () => {
      for (const [what, step] of RETRIED) {
        const { client, sent } = fakeService(step, new Response(null, { status: 418 }));

        await rejectionOf(call(client()));

        expect(sent, what).to.have.length(/^4(?:08|29)$/.test(what) ? 2 : 1);
      }
    });
  }

  it('a create whose key is in progress, after the pause that the service asks for', async () => {
    const conflict = errorJson(409, 'idempotency_conflict', { 'Retry-After': '2' });
    const { client, timing } = fakeService(conflict, json(201, BELLA));
    timing.chance = 0;

    await client().createPet(bella);

    expect(timing.passed, 'pauses').to.deep.equal([2000]);
  });

  it('as often as the option says, then rejects with the last failure', async () => {
    for (const retries of [0, 1, 5, 7]) {
      const { client, sent } = fakeService(
        ...Array.from({ length: retries }, () => new TypeError('fetch failed')),
        errorJson(429, 'rate_limited'),
      );

      const error = await rejectionOf(client({ retries }).listPets());

      expect(error).to.be.instanceOf(ServiceError).with.property('code', 'rate_limited');
      expect(sent, 'requests').to.have.length(retries + 1);
    }

    const { client } = fakeService(new TypeError('fetch failed'));

    const { message } = (await rejectionOf(client().listPets())) as Error;

    expect(message).to.equal('The service is not available (reaching https://animals.example).');
  });

  it('by default until the deadline, with growing pauses', async () => {
    const recovering = fakeService(async () => {
      if (recovering.timing.elapsed >= 20_000) return json(200, '[]');
      throw new TypeError('fetch failed');
    });
    expect(await recovering.client().listPets(), 'after 20 s').to.deep.equal({ pets: [] });

    const unreachable = fakeService(new TypeError('fetch failed'));
    await rejectionOf(unreachable.client().listPets());

    expect(unreachable.timing.elapsed).to.be.within(25_000, 30_000);
    expect(unreachable.sent.length, 'requests').to.be.within(10, 20);
  });
});

const header = (date: number): string => new Date(date).toUTCString();

describe('AnimalStoreClient pauses before a retry', () => {
  useIdleTime();

  for (const chance of [0, 0.25, 1]) {
    it(`a random part of up to twice as long each time, up to 5 s: ${chance}`, async () => {
      const { client, timing } = fakeService(new TypeError('fetch failed'));
      timing.chance = chance;

      await rejectionOf(client({ retries: 7, callDeadline: 60_000 }).listPets());
      const longest = [200, 400, 800, 1600, 3200, 5000, 5000];

      expect(timing.passed, 'pauses').to.deep.equal(longest.map((pause) => pause * chance));
    });
  }

  for (const [form, value, expected] of [
    ['in seconds', '3', 3100],
    ['of nothing', '0', 100],
    ['of no number, which counts as none', 'soon', 100],
  ] as const) {
    it(`a Retry-After ${form}, and a random part more`, async () => {
      const step = html(503, { 'Retry-After': value }); // of a proxy
      const { client, timing } = fakeService(step, json(200, '[]'));

      await client().listPets();

      expect(timing.passed, 'pauses').to.deep.equal([expected]);
    });
  }

  it('as long as a Retry-After that is a date says, by the clock of whoever sent it', async () => {
    const now = Date.UTC(1994, 10, 6, 8, 49, 37);

    for (const [retryAfter, date, expected] of [
      [header(now + 7000), header(now), 7100],
      ['Sunday, 06-Nov-94 08:49:44 GMT', header(now), 7100],
      ['Sun Nov  6 08:49:44 1994', header(now), 7100],
      [header(now - 7000), header(now), 100],
      [header(Date.now() - 60_000), undefined, 100],
    ] as const) {
      const sent = { 'Retry-After': retryAfter, ...(date && { Date: date }) };
      const { client, timing } = fakeService(html(503, sent), json(200, '[]'));

      await client().listPets();

      expect(timing.passed, retryAfter).to.deep.equal([expected]);
    }

    const inAMinute = { 'Retry-After': header(Date.now() + 60_000) };

    const error = (await rejectionOf(
      fakeService(html(503, inAMinute)).client().listPets(),
    )) as UnavailableError;

    expect(error.retryAfter, 'without a Date').to.be.within(55, 60);
  });

  it('and rejects at once when the pause would outlast the deadline', async () => {
    for (const retryAfter of ['30', '9'.repeat(400)]) {
      const { client, timing, sent } = fakeService(
        errorJson(503, 'service_unavailable', { 'Retry-After': retryAfter }),
      );

      const error = await rejectionOf(client({ callDeadline: 30_000 }).listPets());

      expect(isAnimalStoreError(error) && error.code).to.equal('service_unavailable');
      expect(sent, 'requests').to.have.length(1);
      expect(timing.elapsed, 'milliseconds').to.equal(0);
    }
  });
});

/** A response whose body never comes. Only the signal ends it. */
const withoutBody: Step = async ({ init }) =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        init.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
      },
    }),
  );

/** A network failure after 400 ms. */
const slow: Step = async () => {
  await new Promise((resolve) => {
    setTimeout(resolve, 400);
  });
  throw new TypeError('fetch failed');
};

describe('The deadline of a call of AnimalStoreClient', () => {
  useIdleTime();

  it('includes the API key, the response and its body, and aborts fetch', async () => {
    for (const [step, options] of [
      [never, {}],
      [withoutBody, {}],
      [() => new Promise<Response>(() => {}), {}],
      [json(200, '[]'), { apiKey: () => new Promise<string>(() => {}) }],
    ] as const) {
      const { client, timing, sent } = fakeService(step);

      const error = await rejectionOf(client({ callDeadline: 300, ...options }).listPets());

      expect(sent.every(({ init }) => init.signal?.aborted)).to.equal(true);
      expect(error)
        .to.be.instanceOf(UnavailableError)
        .with.property('message')
        .that.equals('The service is not available (responding within 300 ms).');
      expect(timing.elapsed, 'milliseconds').to.equal(300);
    }
  });

  it('includes all attempts and pauses', async () => {
    const { client, timing, sent } = fakeService(slow);
    timing.chance = 0;

    const error = await rejectionOf(client({ callDeadline: 1000 }).listPets());

    expect(error).to.be.instanceOf(UnavailableError);
    expect(timing.elapsed, 'milliseconds').to.equal(1000);
    expect(sent, 'requests').to.have.length(3);
  });

  it('is 30 seconds by default', async () => {
    const { client, timing } = fakeService(never);

    await rejectionOf(client().listPets());

    expect(timing.elapsed, 'milliseconds').to.equal(30_000);
  });
});

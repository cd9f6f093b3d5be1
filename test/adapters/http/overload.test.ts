import { expect } from 'chai';
import type { HttpRequest, RespondedRequest } from '../../../src/adapters/http/index.js';
import type { Authenticator } from '../../../src/application/ports/authenticator.js';
import { Turns } from '../../../src/adapters/http/turns.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import {
  HeldPetRepository,
  KEY,
  REX,
  anyKey,
  createWith,
  httpInterface,
  keepAlive,
  outcome,
  requestWith,
} from './fixtures.js';

const LIST = requestWith(KEY);

/** A request whose client disconnects when the test says so. */
function leaving(request: HttpRequest): { readonly request: HttpRequest; readonly leave: () => void } {
  const listeners: Array<() => void> = [];
  return {
    request: { ...request, onGone: (listener) => void listeners.push(listener) },
    leave: () => listeners.forEach((listener) => listener()),
  };
}

/** The same request of another key. */
const OTHER_KEY = { authorization: 'Bearer other' };
const other = (request: HttpRequest): HttpRequest => ({
  ...request,
  header: (name) => requestWith(OTHER_KEY).header(name),
});

/** Lets everything that can go on go on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Requests beyond maxInFlight', () => {
  keepAlive();

  it('get 503 with Retry-After before their key is checked, except health checks', async () => {
    const ready = Promise.withResolvers<void>();
    let checked = 0;
    const authenticator: Authenticator = {
      async authenticate(credential, call) {
        checked += 1;
        await ready.promise;
        return anyKey.authenticate(credential, call);
      },
    };
    const http = httpInterface({ authenticator, settings: { maxInFlight: 2 } });
    const inFlight = [http.handle(LIST), http.handle(LIST)];
    for (const request of [LIST, requestWith({}, { path: '/nowhere' }), createWith(REX)]) {
      const refused = await http.handle(request);
      expect(outcome(refused)).to.equal('503 service_unavailable');
      expect(refused.headers['Retry-After']).to.equal('1');
    }
    expect(checked).to.equal(2);
    for (const path of ['/livez', '/readyz']) {
      expect(outcome(await http.handle(requestWith({}, { path })))).to.equal('200');
    }
    ready.resolve();
    expect((await Promise.all(inFlight)).map(outcome)).to.deep.equal(['200', '200']);
  });

  for (const ending of ['a response', 'a failure', 'a client that disconnects', 'a deadline']) {
    it(`are served again after ${ending}`, async () => {
      const pets = new HeldPetRepository();
      const requestDeadline = ending === 'a deadline' ? 50 : 60_000;
      const http = httpInterface({ pets, settings: { maxInFlight: 1, requestDeadline } });
      const { request, leave } = leaving(LIST);
      const first = http.handle(request);
      await pets.called(1);
      expect(outcome(await http.handle(LIST))).to.equal('503 service_unavailable');
      if (ending === 'a response') pets.calls[0]?.resolve();
      if (ending === 'a failure') pets.calls[0]?.reject(new Error('broken'));
      if (ending === 'a client that disconnects') leave();
      await first;
      const next = http.handle(LIST);
      await pets.called(2);
      pets.calls[1]?.resolve();
      expect(outcome(await next)).to.equal('200');
    });
  }

  it('are served again after a client that disconnects within its body, which then is not stored', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, settings: { maxInFlight: 1 } });
    const body = Promise.withResolvers<Uint8Array>();
    const { request, leave } = leaving(createWith(REX, { readBody: () => body.promise }));
    const first = http.handle(request);
    await settled();
    leave();
    expect(outcome(await first)).to.equal('408 request_timeout');
    body.resolve(new TextEncoder().encode(REX));
    const next = await http.handle(requestWith(KEY, { path: '/v1/orders' }));
    expect([outcome(next), pets.calls]).to.deep.equal(['404 route_not_found', []]);
  });
});

describe('The places for requests', () => {
  keepAlive();
  it('are left in part by each key to the others', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, settings: { maxInFlight: 4 } });
    const served = [LIST, LIST, LIST].map((request) => http.handle(request));
    await pets.called(3);
    expect(outcome(await http.handle(LIST))).to.equal('503 service_unavailable');
    served.push(http.handle(other(LIST)));
    await pets.called(4);
    expect(outcome(await http.handle(other(LIST)))).to.equal('503 service_unavailable');
    for (const call of pets.calls) call.resolve();
    expect((await Promise.all(served)).map(outcome)).to.deep.equal(['200', '200', '200', '200']);
  });

  it('are not taken by bodies that come slowly, which have places of their own', async () => {
    const http = httpInterface({ settings: { maxInFlight: 4 } });
    const body = Promise.withResolvers<Uint8Array>();
    const slow = createWith(REX, { readBody: () => body.promise });
    const creates = [slow, slow, slow].map((request) => http.handle(request));
    await settled();
    expect(outcome(await http.handle(slow))).to.equal('503 service_unavailable');
    expect(outcome(await http.handle(LIST))).to.equal('200');
    expect(outcome(await http.handle(other(createWith(REX))))).to.equal('201');
    body.resolve(new TextEncoder().encode(REX));
    expect((await Promise.all(creates)).map(outcome)).to.deep.equal(['201', '201', '201']);
  });

  it('are held until the response is out where the transport sees that, but not without a key', async () => {
    const http = httpInterface({ settings: { maxInFlight: 1 } });
    const { request, leave } = leaving({ ...LIST, seesSent: true });
    expect(outcome(await http.handle(request))).to.equal('200');
    expect(outcome(await http.handle(LIST))).to.equal('503 service_unavailable');
    leave();
    await http.handle({ ...requestWith({}, { path: '/openapi.json' }), seesSent: true });
    expect(outcome(await http.handle(LIST))).to.equal('200');
  });
});

describe('The turns of requests', () => {
  keepAlive();
  const PER_TURN = 64;

  it('go to one key after the other, however many requests each sends', async () => {
    const http = httpInterface({ settings: { maxInFlight: 1_000 } });
    const done: string[] = [];
    const of = (key: string) => (response: unknown) => void done.push(key, outcome(response as never));
    const greedy = Array.from({ length: 5 * PER_TURN }, () => http.handle(LIST).then(of('greedy')));
    const modest = http.handle(other(LIST)).then(of('modest'));
    await Promise.all([...greedy, modest]);
    expect(new Set(done)).to.deep.equal(new Set(['greedy', 'modest', '200']));
    expect(done.indexOf('modest') / 2).to.be.within(PER_TURN, 3 * PER_TURN);
  });

  it('are not waited for by health checks', async () => {
    const http = httpInterface({ settings: { maxInFlight: 1_000 } });
    let waiting = 5 * PER_TURN;
    const lists = Array.from({ length: waiting }, () => http.handle(LIST).then(() => (waiting -= 1)));
    await http.handle(requestWith({}, { path: '/livez' }));
    expect(waiting).to.be.above(3 * PER_TURN);
    await Promise.all(lists);
  });

  it('come too late after maxWait: then the request gets 503', async () => {
    const http = httpInterface({ settings: { maxWait: -1 } });
    const lists = await Promise.all(Array.from({ length: PER_TURN + 12 }, () => http.handle(LIST)));
    const late = lists.filter((response) => outcome(response) === '503 service_unavailable');
    expect(late).to.have.length(12); // the others wait for nothing
    expect(late[0]?.headers['Retry-After']).to.equal('1');
  });

  it('go to the newest request of a key once its oldest is late, of which one in four is refused', async () => {
    const turns = new Turns(1, { maxWait: 200 });
    const done: string[] = [];
    const defer = (names: string): void => {
      for (const name of names) {
        const start = (isLate: boolean): boolean => {
          done.push(isLate ? `${name} late` : name);
          return !isLate;
        };
        turns.defer({ caller: 'greedy', isDeferred: false, isGone: name === 'x', start });
      }
    };
    defer('abc');
    for (const began = performance.now(); performance.now() - began < 210;);
    defer('123456x'); // x is gone
    while (done.length < 9) await settled();
    expect(done.join(' ')).to.equal('6 5 4 a late 3 2 1 b late c late');
  });

  it('are waited for by all while several come together, and by none that come alone', async () => {
    const turns = new Turns(8, { gathers: true });
    const room: boolean[] = [];
    for (const together of [1, 2, 1]) {
      for (let count = 0; count < together; count += 1)
        turns.defer({ isDeferred: false, caller: '', isGone: false, start: () => true });
      await settled();
      room.push(turns.hasRoom());
    }
    expect(room).to.deep.equal([true, false, true]);
  });

  it('are given up by a client that disconnects', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets });
    const others = Array.from({ length: PER_TURN + 1 }, () => http.handle(LIST));
    const { request, leave } = leaving(LIST);
    const given = http.handle(request);
    await pets.called(PER_TURN);
    leave();
    expect(outcome(await given)).to.equal('408 request_timeout');
    await pets.called(PER_TURN + 1);
    await settled();
    expect(pets.calls).to.have.length(PER_TURN + 1);
    for (const call of pets.calls) call.resolve();
    await Promise.all(others);
  });
});

describe('A request that takes too long', () => {
  keepAlive();
  const settings = { requestDeadline: 50 };

  for (const [what, request] of [
    ['a list', LIST],
    ['a create', createWith(REX)],
    ['a get', requestWith(KEY, { path: '/v1/pets/1' })],
  ] as const) {
    it(`gets 503 when the store does not finish ${what}, and the store's signal is aborted`, async () => {
      const pets = new HeldPetRepository();
      const late = await httpInterface({ pets, settings }).handle(request);
      expect(outcome(late)).to.equal('503 service_unavailable');
      expect(late.headers['Retry-After']).to.equal('1');
      expect(pets.calls[0]?.signal?.reason).to.be.instanceOf(UnavailableError);
    });
  }

  it('gets 503 when the authenticator does not finish, and then never reaches the animal store', async () => {
    const pets = new HeldPetRepository();
    const late = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const authenticator: Authenticator = {
      async authenticate(credential, call) {
        signal = call?.signal;
        await late.promise;
        return anyKey.authenticate(credential);
      },
    };
    const response = await httpInterface({ pets, settings, authenticator }).handle(LIST);
    expect(outcome(response)).to.equal('503 service_unavailable');
    expect(signal?.reason).to.be.instanceOf(UnavailableError);
    late.resolve();
    await settled();
    expect(pets.calls).to.deep.equal([]);
  });

  it('is not one whose client takes long to send its body', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, settings });
    const body = Promise.withResolvers<Uint8Array>();
    const slow = http.handle(createWith(REX, { readBody: () => body.promise }));
    // The deadline of another request that began later passes.
    expect(outcome(await http.handle(LIST))).to.equal('503 service_unavailable');
    body.resolve(new TextEncoder().encode(REX));
    await pets.called(2);
    pets.calls[1]?.resolve();
    expect(outcome(await slow)).to.equal('201');
  });

  it('gets its whole time anew after its body', async () => {
    const pets = new HeldPetRepository();
    const began = performance.now();
    let read = began;
    const readBody = async (): Promise<Uint8Array> => {
      await httpInterface({ pets, settings }).handle(LIST);
      read = performance.now();
      return new TextEncoder().encode(REX);
    };
    const late = await httpInterface({ pets, settings }).handle(createWith(REX, { readBody }));
    expect(outcome(late)).to.equal('503 service_unavailable');
    expect(performance.now() - read).to.be.greaterThan(45);
  });

  it('ends where timers are numbers, as outside Node.js', async () => {
    const { setTimeout: original } = globalThis;
    const numbers = (...timer: Parameters<typeof original>): number => Number(original(...timer));
    Object.assign(globalThis, { setTimeout: numbers });
    try {
      const late = await httpInterface({ pets: new HeldPetRepository(), settings }).handle(LIST);
      expect(outcome(late)).to.equal('503 service_unavailable');
    } finally {
      Object.assign(globalThis, { setTimeout: original });
    }
  });
});

describe('A client that disconnects', () => {
  it('aborts the work of the store, and is not a failure for the log', async () => {
    const pets = new HeldPetRepository();
    const failed: unknown[] = [];
    const log = {
      responded: ({ error }: RespondedRequest) => void (error !== undefined && failed.push(error)),
    };
    const { request, leave } = leaving(LIST);
    const response = httpInterface({ pets, log }).handle(request);
    await pets.called(1);
    expect(pets.calls[0]?.signal?.aborted).to.equal(false);
    leave();
    expect(outcome(await response)).to.equal('408 request_timeout');
    expect(pets.calls[0]?.signal?.aborted).to.equal(true);
    expect(failed).to.deep.equal([]);
  });

  it('after its response changes nothing', async () => {
    const pets = new HeldPetRepository();
    const { request, leave } = leaving(LIST);
    const response = httpInterface({ pets }).handle(request);
    await pets.called(1);
    pets.calls[0]?.resolve();
    await response;
    leave();
    expect(pets.calls[0]?.signal?.aborted).to.equal(false);
  });
});

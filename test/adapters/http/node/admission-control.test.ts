import { expect } from 'chai';
import * as fc from 'fast-check';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mock } from 'node:test';
import {
  BusyError,
  type HttpInterface,
  type HttpRequest,
} from '../../../../src/adapters/http/index.js';
import { FairScheduler } from '../../../../src/adapters/http/node/fair-scheduler.js';
import { AdmissionControl } from '../../../../src/adapters/http/node/index.js';
import type { Authenticator } from '../../../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../../../src/domain/errors.js';
import { until } from '../../../until.js';
import { closeServers, echoTarget, head, listening } from './listening-server.js';
import { RawConnection } from './raw-connection.js';
import {
  HeldPetRepository,
  KEY,
  REX,
  anyKey,
  createWith,
  httpInterface,
  keepAlive,
  leaving,
  memoryAnimalStore,
  outcome,
  requestWith,
  settled,
} from '../fixtures.js';

/** As many requests as start in one turn of the event loop: the next ones wait for theirs. */
const PER_TURN = 64;
const BUSY = '503 service_unavailable';
const LIST = requestWith(KEY);

/** The same request with another key. */
const by = (key: string, request: HttpRequest): HttpRequest => ({
  ...request,
  header: (name) => (name === 'authorization' ? `Bearer ${key}` : undefined),
});

const most = (maxInFlight: number): AdmissionControl => new AdmissionControl({ maxInFlight });
const times = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);

describe('The places for requests', () => {
  keepAlive();

  it('are given before the key is checked: beyond maxUnchecked there is none', async () => {
    const ready = Promise.withResolvers<void>();
    const authenticate = mock.fn(async (credential: string) => {
      await ready.promise;
      return anyKey.authenticate(credential);
    });
    const admission = new AdmissionControl({ maxUnchecked: 2 });
    const http = httpInterface({ authenticator: { authenticate }, admission });
    const inFlight = [http.handle(LIST), http.handle(LIST)];
    for (const request of [LIST, requestWith({}, { path: '/nowhere' }), createWith(REX)]) {
      expect(outcome(await http.handle(request))).to.equal(BUSY);
    }
    expect(authenticate.mock.callCount()).to.equal(2);
    ready.resolve();
    expect((await Promise.all(inFlight)).map(outcome)).to.deep.equal(['200', '200']);
  });

  it('are left in part by each key to the others', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, admission: most(4) });
    const served = times(3, () => http.handle(LIST));
    await pets.called(3);
    expect(outcome(await http.handle(LIST))).to.equal(BUSY);
    served.push(http.handle(by('other', LIST)));
    await pets.called(4);
    expect(outcome(await http.handle(by('other', LIST)))).to.equal(BUSY);
    for (const call of pets.calls) call.resolve();
    expect(new Set((await Promise.all(served)).map(outcome))).to.deep.equal(new Set(['200']));
  });

  it('of checked requests are not taken by unchecked ones, however many come of any key', async () => {
    const late = Promise.withResolvers<never>();
    const authenticate: Authenticator['authenticate'] = (credential) =>
      credential === 'wrong' ? late.promise : anyKey.authenticate(credential);
    const http = httpInterface({ authenticator: { authenticate }, admission: most(4) });
    const strangers = times(400, () => http.handle(by('wrong', LIST)));
    for (let count = 0; count < 10; count += 1)
      expect(outcome(await http.handle(by('right', LIST)))).to.equal('200');
    late.reject(new UnavailableError('rejected'));
    await Promise.all(strangers);
  });

  for (const [name, request] of [
    ['in progress', LIST],
    ['that sends its body', createWith(REX)],
  ] as const) {
    it(`are left to a key that has no request ${name}, however many other keys hold together`, async () => {
      const pets = new HeldPetRepository();
      const http = httpInterface({ pets, admission: most(4) });
      const held = Promise.withResolvers<Uint8Array>();
      held.promise.catch(() => {});
      const readBody = (): Promise<Uint8Array> => held.promise;
      const crowd = ['one', 'two', 'three'].flatMap((key) =>
        times(3, () => http.handle(by(key, { ...request, readBody }))),
      );
      await settled();
      const before = pets.calls.length;
      const last = http.handle(by('last', request));
      await Promise.race([last, pets.called(before + 1)]);
      pets.calls[before]?.resolve();
      expect(outcome(await last)).to.match(/^20[01]$/);
      held.reject(new UnavailableError('rejected'));
      for (const call of pets.calls) call.resolve();
      await Promise.all(crowd);
    });
  }

  it('of calls that go on after a 503 at the deadline are free once those settle, or a minute later', async () => {
    const timers = mock.method(globalThis, 'setTimeout');
    const pets = new HeldPetRepository();
    const admission = most(4);
    const http = httpInterface({ pets, admission, settings: { requestDeadline: 20 } });
    const late = await Promise.all(times(3, () => http.handle(LIST)));
    expect(late.map(outcome)).to.deep.equal([BUSY, BUSY, BUSY]);
    expect([admission.inFlight, pets.calls.length]).to.deep.equal([0, 3]);
    expect(outcome(await http.handle(LIST))).to.equal(BUSY);
    expect(pets.calls, 'a fourth call of the key reached the store').to.have.length(3);
    void http.handle(by('other', LIST));
    await pets.called(4);
    pets.calls[0]?.resolve();
    await settled();
    void http.handle(LIST);
    await pets.called(5);
    await until('those are late, too', () => admission.inFlight === 0);
    for (const {
      arguments: [end, milliseconds],
    } of timers.mock.calls)
      if (milliseconds === 60_000) end();
    timers.mock.restore();
    await settled();
    void http.handle(LIST);
    await pets.called(6);
  });

  it('are not taken by bodies that come slowly, which have places of their own', async () => {
    const http = httpInterface({ admission: most(4) });
    const body = Promise.withResolvers<Uint8Array>();
    const slow = createWith(REX, { readBody: () => body.promise });
    const creates = times(3, () => http.handle(slow));
    await settled();
    expect(outcome(await http.handle(slow))).to.equal(BUSY);
    expect(outcome(await http.handle(LIST))).to.equal('200');
    expect(outcome(await http.handle(by('other', createWith(REX))))).to.equal('201');
    body.resolve(new TextEncoder().encode(REX));
    expect(new Set((await Promise.all(creates)).map(outcome))).to.deep.equal(new Set(['201']));
  });

  it('are taken again after a body, and after a turn', async () => {
    const pets = new HeldPetRepository();
    const admission = most(100);
    const http = httpInterface({ pets, admission });
    const created = http.handle(createWith(REX));
    await pets.called(1);
    expect(admission.inFlight).to.equal(1);
    const lists = times(PER_TURN + 6, () => http.handle(LIST));
    await pets.called(PER_TURN + 7);
    expect(admission.inFlight).to.equal(PER_TURN + 7);
    for (const call of pets.calls) call.resolve();
    await Promise.all([created, ...lists]);
  });

  it('are not taken once a permit has ended, and given back once', async () => {
    const admission = new AdmissionControl({ maxUnchecked: 1 });
    const permit = admission.admit();
    permit.end(0);
    expect(permit.admitCaller('a')).to.equal(undefined);
    await permit.whileClient(async () => {});
    permit.end(0);
    expect(admission.inFlight).to.equal(0);
    admission.admit();
    expect(() => admission.admit()).to.throw(BusyError);
  });
});

describe('The turns of requests', () => {
  afterEach(closeServers);
  afterEach(() => mock.restoreAll());
  keepAlive();

  it('go to one key after the other, however many requests each sends', async () => {
    const http = httpInterface({ admission: most(1_000) });
    const done: string[] = [];
    const handle = (key: string) => http.handle(by(key, LIST)).then(() => done.push(key));
    await Promise.all([...times(5 * PER_TURN, () => handle('greedy')), handle('modest')]);
    expect(done.indexOf('modest')).to.be.within(PER_TURN, 3 * PER_TURN);
  });

  it('are not waited for by health checks', async () => {
    const http = httpInterface({ admission: most(1_000) });
    let waiting = 5 * PER_TURN;
    const lists = times(waiting, () => http.handle(LIST).then(() => (waiting -= 1)));
    await http.handle(requestWith({}, { path: '/livez' }));
    expect(waiting).to.be.above(3 * PER_TURN);
    await Promise.all(lists);
  });

  for (const [waited, refusal] of [
    [250, undefined],
    [251, 'The service is busy (too busy to answer soon).'],
  ] as const) {
    it(`are ${refusal ? 'not ' : ''}waited for by default for ${waited} ms`, async () => {
      const clock = mock.method(performance, 'now', () => 1000);
      const admission = new AdmissionControl();
      let turn: Promise<void> | undefined;
      while (turn === undefined) turn = admission.admit().admitCaller('a');
      clock.mock.mockImplementation(() => 1000 + waited);
      const refused = await turn.catch(({ message }: Error) => message);
      expect(refused).to.equal(refusal);
    });
  }

  it('start fewer requests at once while responses are long', async () => {
    const admission = most(1_000);
    const permits = [admission.admit()];
    while (permits.at(-1)?.admitCaller('a') === undefined) permits.push(admission.admit());
    expect(permits).to.have.length(PER_TURN + 1);
    for (const started of permits.slice(0, PER_TURN)) started.end(28 * 1024); // costs as much as 8 requests
    await settled();
    let started = 0;
    while (admission.admit().admitCaller('a') === undefined) started += 1;
    expect(started).to.be.below(PER_TURN / 4);
  });

  it('are given up by a client that disconnects', async () => {
    const pets = new HeldPetRepository();
    const take = mock.fn(async () => ({ allowed: true, remaining: 1, resetsIn: 1 }));
    const rateLimiter = { limit: { requests: 1, seconds: 1 }, take };
    const http = httpInterface({ pets, rateLimiter, admission: new AdmissionControl() });
    const others = times(PER_TURN + 1, () => http.handle(LIST));
    const { request, leave } = leaving(LIST);
    const given = http.handle(request);
    await pets.called(PER_TURN);
    leave();
    expect(outcome(await given)).to.equal('408 request_timeout');
    await pets.called(PER_TURN + 1);
    await settled();
    expect(take.mock.callCount()).to.equal(PER_TURN + 1);
    for (const call of pets.calls) call.resolve();
    await Promise.all(others);
  });

  it('are passed on while connections come, so that those are accepted, but at most 16 in a row', async () => {
    const turns = new FairScheduler(1);
    void turns.takeTurn('a');
    let turn = 0;
    const started: number[] = [];
    for (let count = 0; count < 2; count += 1)
      void turns.takeTurn('a')?.then(() => started.push(turn));
    for (; started.length < 2; turn += 1) {
      turns.accepted();
      await settled();
    }
    expect(started).to.deep.equal([16, 33]);
  });

  it('start together what came together, and alone what came alone', async () => {
    const turns = new FairScheduler(8);
    const waits: boolean[] = [];
    for (const together of [1, 2, 1]) {
      let waiting = turns.takeTurn('a');
      while (waiting === undefined) waiting = turns.takeTurn('a'); // the budget is spent
      if (together === 2) waiting = turns.takeTurn('a');
      await waiting;
      waits.push(turns.takeTurn('a') !== undefined);
      await settled();
      await settled();
    }
    expect(waits).to.deep.equal([false, true, false]);
  });

  it('are passed on by a server that accepts connections', async () => {
    const admission = new AdmissionControl();
    const accepted = mock.method(admission, 'accepted');
    const { port } = await listening(echoTarget, { admission });
    for (let count = 0; count < 2; count += 1)
      await (await RawConnection.open(port, head('GET /'))).responses(1);
    expect(accepted.mock.callCount()).to.equal(2);
  });

  it('are not overtaken: while something waits, everything does, and then nothing', async () => {
    const turns = new FairScheduler(2);
    const started = [turns.takeTurn('a'), turns.takeTurn('a')];
    const waiting = [turns.takeTurn('a'), turns.takeTurn('b')];
    expect(started).to.deep.equal([undefined, undefined]);
    expect(waiting).to.not.include(undefined);
    for (const turn of waiting) await turn;
    expect(turns.takeTurn('a'), 'the budget of that turn is spent').to.not.equal(undefined);
    await settled();
    expect(turns.takeTurn('a')).to.equal(undefined);
  });
});

/** The steps that a request waits for, in this order. A list reads no body. */
const STEPS = ['key', 'quota', 'body', 'store'] as const;
type Step = (typeof STEPS)[number];

/** A request, and what happens to it at one of its steps. */
const PLANNED = fc.record({
  isCreate: fc.boolean(),
  caller: fc.constantFrom('a', 'b', 'c'),
  step: fc.constantFrom(...STEPS),
  moment: fc.constantFrom('before', 'after'),
  fate: fc.constantFrom('goes on', 'rejects', 'never ends', 'client gone'),
});
type Planned = typeof PLANNED extends fc.Arbitrary<infer T> ? T : never;

interface Fated extends Planned {
  readonly leave: () => void;
}

/** A world in which planned requests meet their fates. To all others nothing happens. */
class World {
  readonly #current = new AsyncLocalStorage<Fated>();
  readonly http: HttpInterface;

  constructor(admission: AdmissionControl) {
    const memory = memoryAnimalStore();
    this.http = httpInterface({
      admission,
      settings: { requestDeadline: 15, bodyDeadline: 15 },
      authenticator: {
        authenticate: async (credential) =>
          this.#passes('key').then(() => anyKey.authenticate(credential)),
      },
      rateLimiter: {
        limit: { requests: 1, seconds: 1 },
        take: async () =>
          this.#passes('quota').then(() => ({ allowed: true, remaining: 1, resetsIn: 1 })),
      },
      animalStore: {
        ...memory,
        listPets: async (query, call) =>
          this.#passes('store').then(() => memory.listPets(query, call)),
        createPet: async (pet, call) =>
          this.#passes('store').then(() => memory.createPet(pet, call)),
      },
    });
  }

  handle(planned: Planned): Promise<unknown> {
    const readBody = async () => this.#passes('body').then(() => Buffer.from(REX));
    const { request, leave } = leaving(planned.isCreate ? createWith('', { readBody }) : LIST);
    return this.#current.run({ ...planned, leave }, () =>
      this.http.handle(by(planned.caller, request)),
    );
  }

  /** The current request takes a turn at a step, and meets its fate there. */
  async #passes(step: Step): Promise<void> {
    const planned = this.#current.getStore();
    if (planned === undefined) return;
    await this.#meets(planned, step, 'before');
    await settled();
    await this.#meets(planned, step, 'after');
  }

  async #meets({ fate, leave, ...at }: Fated, step: Step, moment: string) {
    if (at.step !== step || at.moment !== moment) return;
    if (fate === 'client gone') leave();
    if (fate === 'rejects') throw new UnavailableError('rejected');
    if (fate === 'never ends') await new Promise(() => {});
  }
}

describe('Permits', () => {
  keepAlive();
  const MOST = 80;

  it('hold nothing in the end, whatever happens to a request before and after each step', async function () {
    this.timeout(60_000);
    const property = fc.asyncProperty(
      fc.array(PLANNED, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (requests, isCrowded) => {
        const admission = new AdmissionControl({ maxInFlight: MOST, maxWait: 60_000 });
        const world = new World(admission);
        const crowd = times(isCrowded ? PER_TURN : 0, () => world.http.handle(LIST));
        await Promise.all([...requests.map((planned) => world.handle(planned)), ...crowd]);
        expect(admission.inFlight).to.equal(0);
        for (let turn = 0; turn < 4; turn += 1) await settled();
        expect(admission.inFlight).to.equal(0);
        // As many of one key as it may have, in progress and reading. Their deadline is longer than any pause of the machine.
        const patient = httpInterface({ admission });
        const after = await Promise.all(times(MOST * 0.75, () => patient.handle(createWith(REX))));
        expect(new Set(after.map(outcome))).to.deep.equal(new Set(['201']));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

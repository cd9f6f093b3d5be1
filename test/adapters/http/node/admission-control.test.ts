import { expect } from 'chai';
import * as fc from 'fast-check';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mock } from 'node:test';
import {
  type HttpInterface,
  type HttpRequest,
  type HttpResponse,
  type Permit,
} from '../../../../src/adapters/http/index.js';
import { FairScheduler } from '../../../../src/adapters/http/node/fair-scheduler.js';
import { AdmissionControl } from '../../../../src/adapters/http/node/index.js';
import type { Authenticator } from '../../../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../../../src/domain/errors.js';
import { until } from '../../../until.js';
import { closeServers, echoTarget, head, listening } from './listening-server.js';
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

/** So many requests start together. */
const GROUP = 24;
const BUSY = '503 service_unavailable';
const LIST = requestWith(KEY);

/** The same request with another key. */
const by = (key: string, request: HttpRequest): HttpRequest => ({
  ...request,
  header: (name) => (name === 'authorization' ? `Bearer ${key}` : undefined),
});

const most = (maxInFlight: number): AdmissionControl =>
  new AdmissionControl({ maxInFlight, maxWait: Infinity });
/** Why a permit is refused to its caller, if it is. */
const refusalOf = (permit: Permit): Promise<string | undefined> =>
  Promise.resolve(permit.admitCaller('a')).then(
    () => undefined,
    ({ message }: Error) => message,
  );
/** Checks that every response has this outcome. */
const expectAll = async (expected: string, responses: ReadonlyArray<Promise<HttpResponse>>) =>
  expect(new Set((await Promise.all(responses)).map(outcome))).to.deep.equal(new Set([expected]));
const times = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);

/** Sets the clock forward whenever somebody looks: every group of requests seems to take 10 ms, more than a turn may. */
const withSlowGroups = (): void => {
  let now = 0;
  mock.method(performance, 'now', () => {
    now += 10;
    return now;
  });
};

/** How many tasks start in each turn of the event loop, if they take so many milliseconds. */
async function startsByTurn(milliseconds: readonly number[]): Promise<readonly number[]> {
  let now = 0;
  mock.method(performance, 'now', () => now);
  const turns = new FairScheduler();
  const starts: number[] = [];
  let turn = 0;
  const run = async (duration: number): Promise<void> => {
    await turns.takeTurn('a');
    now += duration;
    starts[turn] = (starts[turn] ?? 0) + 1;
  };

  const tasks = Promise.all(milliseconds.map(run));
  for (; turn < 8; turn += 1) await settled();
  await tasks;
  return starts;
}

describe('The places for requests', () => {
  afterEach(() => mock.reset());
  keepAlive();

  it('are left in part by each key to the others', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, admission: most(4) });
    const served = times(3, () => http.handle(LIST));
    await pets.called(3);

    const fourth = await http.handle(LIST);
    served.push(http.handle(by('other', LIST)));
    await pets.called(4);
    const fifth = await http.handle(by('other', LIST));

    expect([fourth, fifth].map(outcome)).to.deep.equal([BUSY, BUSY]);
    for (const call of pets.calls) call.resolve();
    await expectAll('200', served);
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
    it(`are left to a key that has no request ${name}, whatever others hold`, async () => {
      const pets = new HeldPetRepository();
      const http = httpInterface({ pets, admission: most(4) });
      const held = Promise.withResolvers<Uint8Array>();
      held.promise.catch(() => {});
      const readBody = (): Promise<Uint8Array> => held.promise;
      let refused = 0;
      const send = async (key: string): Promise<void> => {
        const response = await http.handle(by(key, { ...request, readBody }));
        if (outcome(response) === BUSY) refused += 1;
      };
      const crowd = ['one', 'two', 'three'].flatMap((key) => times(3, () => send(key)));
      await until('four of nine have the places', () => refused === 5, 10_000);
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

  it('of calls that outlive their 503 are free once those settle, or a minute later', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const pets = new HeldPetRepository();
    const admission = most(4);
    const http = httpInterface({ pets, admission, settings: { requestDeadline: 20 } });
    const late = times(3, () => http.handle(LIST));
    await pets.called(3);
    mock.timers.tick(20);
    await expectAll(BUSY, late);
    expect(admission.inFlight, 'requests in progress after three late ones').to.equal(0);

    expect(outcome(await http.handle(LIST))).to.equal(BUSY);
    expect(pets.calls, 'calls of the key that reached the store').to.have.length(3);
    void http.handle(by('other', LIST));
    await pets.called(4);

    pets.calls[0]?.resolve();
    await settled();
    void http.handle(LIST);
    await pets.called(5);

    mock.timers.tick(20);
    await settled();
    expect(admission.inFlight, 'requests in progress once those are late, too').to.equal(0);
    mock.timers.tick(60_000);
    void http.handle(LIST);
    await pets.called(6);
  });

  it('may be without a bound', async () => {
    const admission = most(Infinity);

    const refused = await Promise.all(times(500, () => refusalOf(admission.admit())));

    expect(refused.filter(Boolean)).to.deep.equal([]);
  });

  it('are refused with the true reason while calls of the store outlive their responses', async () => {
    const admission = most(1);
    const permit = admission.admit();
    await permit.admitCaller('a');
    permit.end(0, new Promise(() => {}));

    const refused = await refusalOf(admission.admit());

    expect(refused).to.match(/the store still works for too many earlier requests/);
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
    await expectAll('201', creates);
  });

  it('are taken again after a body, and after a turn', async () => {
    const pets = new HeldPetRepository();
    const admission = most(100);
    const http = httpInterface({ pets, admission });
    const created = http.handle(createWith(REX));
    await pets.called(1);
    expect(admission.inFlight, 'while the store works for a create').to.equal(1);

    const lists = times(70, () => http.handle(LIST));
    await pets.called(71);

    expect(admission.inFlight, 'with 70 lists more').to.equal(71);
    for (const call of pets.calls) call.resolve();
    await Promise.all([created, ...lists]);
  });

  it('are not taken once a permit has ended, and given back once', async () => {
    const admission = new AdmissionControl();
    const permit = admission.admit();

    permit.end(0);

    expect(await refusalOf(permit)).to.equal('The service is busy (too busy to answer soon).');
    await permit.whileClient(async () => {});
    permit.end(0);
    expect(admission.inFlight, 'after the permit has ended').to.equal(0);
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

    await Promise.all([...times(20 * GROUP, () => handle('greedy')), handle('modest')]);

    expect(done.indexOf('modest'), 'requests answered before the modest one').to.be.below(GROUP);
  });

  it('go to the requests of a key in the order in which they came', async () => {
    const turns = new FairScheduler();
    const started: number[] = [];
    const come = [1, 2, 3].map((each) => turns.takeTurn('a').then(() => started.push(each)));

    await Promise.all(come);

    expect(started).to.deep.equal([1, 2, 3]);
  });

  it('are not waited for by health checks', async () => {
    const http = httpInterface({ admission: most(1_000) });
    let waiting = 5 * GROUP;
    const list = async (): Promise<void> => {
      await http.handle(LIST);
      waiting -= 1;
    };
    const lists = times(waiting, list);

    await http.handle(requestWith({}, { path: '/livez' }));

    expect(waiting, 'lists that wait when the health check is answered').to.equal(5 * GROUP);
    await Promise.all(lists);
  });

  for (const [waited, refusal] of [
    [250, undefined],
    [251, 'The service is busy (too busy to answer soon).'],
  ] as const) {
    it(`are ${refusal ? 'not ' : ''}waited for by default for ${waited} ms`, async () => {
      let now = 0;
      mock.method(performance, 'now', () => now);
      const admission = new AdmissionControl();
      const others = times(GROUP, async () => {
        await admission.admit().admitCaller('a');
        now = waited;
      });

      const refused = await refusalOf(admission.admit());

      expect(refused).to.equal(refusal);
      await Promise.all(others);
    });
  }

  for (const [what, served] of [
    ['if nobody is served before', 0],
    ['also just after another is served', 1],
  ] as const)
    it(`are waited for while the process pauses, ${what}`, async () => {
      const clock = mock.method(performance, 'now', () => 0);
      const admission = new AdmissionControl();
      for (let count = 0; count < served; count += 1) await admission.admit().admitCaller('a');
      const refused = refusalOf(admission.admit());

      clock.mock.mockImplementation(() => 60_000);

      expect(await refused, 'why it was refused').to.equal(undefined);
    });

  it('start all that wait in one turn of the event loop if that takes less than 5 ms', async () => {
    const starts = await startsByTurn(times(64, () => 4 / 64));

    expect(starts).to.deep.equal([64]);
  });

  it('start fewer together while a group takes 5 ms or longer, and more afterwards', async () => {
    const long = times(48, () => 5);
    const short = times(33, () => 0);

    const starts = await startsByTurn([...long, ...short]);

    expect(starts).to.deep.equal([24, 12, 6, 3, 2, 1, 33]);
  });

  it('are given up by a client that disconnects', async () => {
    withSlowGroups();
    const pets = new HeldPetRepository();
    const take = mock.fn(async () => ({ allowed: true, remaining: 1, resetsIn: 1 }));
    const rateLimiter = { limit: { requests: 1, seconds: 1 }, take };
    const admission = new AdmissionControl({ maxWait: Infinity });
    const http = httpInterface({ pets, rateLimiter, admission });
    const others = times(GROUP, () => http.handle(LIST));
    const { request, leave } = leaving(LIST);
    const given = http.handle(request);
    await pets.called(GROUP);

    leave();

    expect(outcome(await given)).to.equal('408 request_timeout');
    await settled();
    expect(take.mock.callCount(), 'requests counted for the quota').to.equal(GROUP);
    for (const call of pets.calls) call.resolve();
    await Promise.all(others);
  });

  it('are passed on while connections come, but at most 16 in a row', async () => {
    withSlowGroups();
    const turns = new FairScheduler();
    let turn = 0;
    const started = new Set<number>();
    const tasks = times(2 * GROUP, () => turns.takeTurn('a').then(() => started.add(turn)));

    for (; started.size < 2 && turn < 100; turn += 1) {
      turns.accepted();
      await settled();
    }

    expect([...started], 'turns in which something started').to.deep.equal([16, 33]);
    await Promise.all(tasks);
  });

  it('are passed on by a server that accepts connections', async () => {
    const admission = new AdmissionControl();
    const accepted = mock.method(admission, 'accepted');
    const { open } = await listening(echoTarget, { admission });

    for (let count = 0; count < 2; count += 1) await (await open(head('GET /'))).responses(1);

    expect(accepted.mock.callCount(), 'calls for two connections').to.equal(2);
  });

  it('are taken by new connections, however many send their first request at once', async () => {
    withSlowGroups();
    let inThisTurn = 0;
    let mostInTurn = 0;
    const { open } = await listening((_request, response) => {
      if (inThisTurn === 0)
        setImmediate(() => {
          inThisTurn = 0;
        });
      inThisTurn += 1;
      mostInTurn = Math.max(mostInTurn, inThisTurn);
      response.end();
    });
    const connections = await Promise.all(times(60, () => open()));
    await settled();

    for (const connection of connections) connection.send(head('GET /'));
    await Promise.all(connections.map((connection) => connection.responses(1)));

    expect(mostInTurn, 'requests begun in one turn').to.be.within(2, GROUP);
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
  fate: fc.constantFrom('goes on', 'rejects', 'never ends', 'client gone'),
});
type Planned = typeof PLANNED extends fc.Arbitrary<infer T> ? T : never;

/** A world in which planned requests meet their fates. To all others nothing happens. */
class World {
  readonly #current = new AsyncLocalStorage<Planned & { readonly leave: () => void }>();
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

  /** The current request takes a turn at a step. At its own it meets its fate. */
  async #passes(step: Step): Promise<void> {
    const planned = this.#current.getStore();
    if (planned === undefined) return;
    await settled();
    if (planned.step !== step) return;
    if (planned.fate === 'client gone') planned.leave();
    if (planned.fate === 'rejects') throw new UnavailableError('rejected');
    if (planned.fate === 'never ends') await new Promise(() => {});
  }
}

describe('Permits', () => {
  keepAlive();
  const MOST = 80;

  it('hold nothing in the end, whatever happens to a request at each step', async () => {
    const property = fc.asyncProperty(
      fc.array(PLANNED, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (requests, isCrowded) => {
        const admission = new AdmissionControl({ maxInFlight: MOST, maxWait: 60_000 });
        const world = new World(admission);
        const crowd = times(isCrowded ? 64 : 0, () => world.http.handle(LIST));

        await Promise.all([...requests.map((planned) => world.handle(planned)), ...crowd]);

        expect(admission.inFlight, 'requests in progress after all responses').to.equal(0);
        for (let turn = 0; turn < 4; turn += 1) await settled();
        expect(admission.inFlight, 'requests in progress four turns later').to.equal(0);
        // As many of one key as it may have, in progress and reading. Their deadline is longer than any pause of the machine.
        const patient = httpInterface({ admission });
        const after = times(MOST * 0.75, () => patient.handle(createWith(REX)));
        await expectAll('201', after);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

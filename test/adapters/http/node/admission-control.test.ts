import { expect } from 'chai';
import * as fc from 'fast-check';
import type { RequestListener } from 'node:http';
import { mock } from 'node:test';
import {
  BusyError,
  type HttpInterface,
  type HttpRequest,
  type Permit,
} from '../../../../src/adapters/http/index.js';
import { createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import { AdmissionControl, createNodeListener } from '../../../../src/adapters/http/node/index.js';
import { FairScheduler } from '../../../../src/adapters/http/node/fair-scheduler.js';
import { NodeRequest } from '../../../../src/adapters/http/node/node-request.js';
import { openMemoryStore } from '../../../../src/adapters/memory/index.js';
import { createAnimalStore } from '../../../../src/application/create-animal-store.js';
import type { Authenticator } from '../../../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../../../src/domain/errors.js';
import {
  HeldPetRepository,
  KEY,
  REX,
  anyKey,
  createWith,
  httpInterface,
  keepAlive,
  leaving,
  outcome,
  requestWith,
  settled,
} from '../fixtures.js';
import { closeServers, echoTarget, head, inTime, listening } from './listening-server.js';
import { RawConnection } from './raw-connection.js';

const LIST = requestWith(KEY);

/** The same request of another key. */
const OTHER_KEY = { authorization: 'Bearer other' };
const other = (request: HttpRequest): HttpRequest => ({
  ...request,
  header: (name) => requestWith(OTHER_KEY).header(name),
});

const most = (maxInFlight: number): AdmissionControl => new AdmissionControl({ maxInFlight });

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
    const http = httpInterface({ authenticator, admission: most(2) });
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
});

describe('The places for requests', () => {
  keepAlive();
  it('are left in part by each key to the others', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, admission: most(4) });
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
    const http = httpInterface({ admission: most(4) });
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
});

describe('A request in progress', () => {
  keepAlive();

  it('has its place again after its body, and after its turn', async () => {
    const pets = new HeldPetRepository();
    const admission = most(100);
    const http = httpInterface({ pets, admission });
    const created = http.handle(createWith(REX));
    await pets.called(1);
    expect(admission.inFlight).to.equal(1);
    const lists = Array.from({ length: 70 }, () => http.handle(LIST));
    await pets.called(71);
    expect(admission.inFlight).to.equal(71);
    for (const call of pets.calls) call.resolve();
    await Promise.all([created, ...lists]);
    expect(admission.inFlight).to.equal(0);
  });
});

describe('The turns of requests', () => {
  keepAlive();
  const PER_TURN = 64;

  it('go to one key after the other, however many requests each sends', async () => {
    const http = httpInterface({ admission: most(1_000) });
    const done: string[] = [];
    const of = (key: string) => (response: unknown) => void done.push(key, outcome(response as never));
    const greedy = Array.from({ length: 5 * PER_TURN }, () => http.handle(LIST).then(of('greedy')));
    const modest = http.handle(other(LIST)).then(of('modest'));
    await Promise.all([...greedy, modest]);
    expect(new Set(done)).to.deep.equal(new Set(['greedy', 'modest', '200']));
    expect(done.indexOf('modest') / 2).to.be.within(PER_TURN, 3 * PER_TURN);
  });

  it('are not waited for by health checks', async () => {
    const http = httpInterface({ admission: most(1_000) });
    let waiting = 5 * PER_TURN;
    const lists = Array.from({ length: waiting }, () => http.handle(LIST).then(() => (waiting -= 1)));
    await http.handle(requestWith({}, { path: '/livez' }));
    expect(waiting).to.be.above(3 * PER_TURN);
    await Promise.all(lists);
  });

  it('come too late after maxWait: then the request gets 503', async () => {
    const http = httpInterface({ admission: new AdmissionControl({ maxWait: -1 }) });
    const lists = await Promise.all(Array.from({ length: PER_TURN + 12 }, () => http.handle(LIST)));
    const late = lists.filter((response) => outcome(response) === '503 service_unavailable');
    expect(late).to.have.length(12); // the others wait for nothing
    expect(late[0]?.headers['Retry-After']).to.equal('1');
  });

  it('are waited for by default for 250 ms', async () => {
    for (const [waited, refusal] of [
      [250, undefined],
      [251, 'The store is not available (too busy to answer soon).'],
    ] as const) {
      const clock = mock.method(performance, 'now', () => 1000);
      const admission = new AdmissionControl();
      let turn: Promise<void> | undefined;
      while (turn === undefined) turn = admission.admit(LIST, new AbortController().signal).admitCaller('a');
      clock.mock.mockImplementation(() => 1000 + waited);
      const refused = await turn.catch(({ message }: Error) => message);
      clock.mock.restore();
      expect(refused).to.equal(refusal);
    }
  });

  it('start fewer requests at once while responses are long', async () => {
    const admission = most(1_000);
    const admitted = (): Permit[] => {
      const permits: Permit[] = [];
      do permits.push(admission.admit(LIST, new AbortController().signal));
      while (permits.at(-1)?.admitCaller('a') === undefined);
      return permits;
    };
    const short = admitted();
    expect(short).to.have.length(PER_TURN + 1);
    for (const permit of short) permit.end(28 * 1024); // costs as much as 8 requests
    await settled();
    expect(admitted()).to.have.length.below(PER_TURN / 4);
  });

  it('leave time for accepting connections while more arrive', async () => {
    const turns = new FairScheduler(1);
    const done: string[] = [];
    const start = (): void => {
      for (const began = performance.now(); performance.now() - began < 5;);
      done.push('started');
    };
    for (let count = 0; count < 2; count += 1)
      turns.defer({ deferredAt: undefined, caller: '', isGone: false, start });
    while (done.lastIndexOf('started') === done.indexOf('started')) {
      turns.accepted();
      await settled();
      done.push('accepted');
    }
    const between = done.slice(done.indexOf('started') + 1, done.lastIndexOf('started'));
    expect(between).to.have.length.above(2);
  });

  it('go to the newest request of a key once its oldest is late, of which one in four is refused', async () => {
    let now = 0;
    const clock = performance.now.bind(performance);
    performance.now = () => now;
    const turns = new FairScheduler(1, { maxWait: 200 });
    const done: string[] = [];
    const defer = (names: string): void => {
      for (const name of names) {
        const start = (isLate: boolean): void => void done.push(isLate ? `${name} late` : name);
        turns.defer({ caller: 'greedy', deferredAt: undefined, isGone: name === 'x', start });
      }
    };
    try {
      defer('abc');
      now = 210;
      defer('123456x'); // x is gone
      while (done.length < 9) await settled();
    } finally {
      performance.now = clock;
    }
    expect(done.join(' ')).to.equal('6 5 4 a late 3 2 1 b late c late');
  });

  it('are not overtaken: nothing has room while something waits', async () => {
    const turns = new FairScheduler(8);
    expect(turns.hasRoom()).to.equal(true);
    turns.defer({ deferredAt: undefined, caller: '', isGone: false, start() {} });
    expect(turns.hasRoom()).to.equal(false);
    await settled();
    expect(turns.hasRoom()).to.equal(true);
  });

  it('are waited for by all while several come together, and by none that come alone', async () => {
    const turns = new FairScheduler(8, { gathers: true });
    const room: boolean[] = [];
    for (const together of [1, 2, 1]) {
      for (let count = 0; count < together; count += 1)
        turns.defer({ deferredAt: undefined, caller: '', isGone: false, start() {} });
      await settled();
      room.push(turns.hasRoom());
    }
    expect(room).to.deep.equal([true, false, true]);
  });

  it('are given up by a client that disconnects', async () => {
    const pets = new HeldPetRepository();
    const http = httpInterface({ pets, admission: new AdmissionControl() });
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

describe('Permits', () => {
  keepAlive();

  /** The steps that a request waits for, in this order. A list reads no body. */
  const STEPS = ['key', 'quota', 'body', 'store'] as const;
  type Step = (typeof STEPS)[number];
  const MOMENTS = ['before', 'during', 'after'] as const;
  const FATES = ['goes on', 'rejects', 'never ends', 'client gone'] as const;
  /** As many as start in one turn of the event loop: the next requests wait for theirs. */
  const PER_TURN = 64;
  const MOST = 80;

  const request = fc.record({
    isCreate: fc.boolean(),
    caller: fc.constantFrom('a', 'b', 'c'),
    /** Turns of the event loop that each step takes. */
    turns: fc.integer({ min: 1, max: 3 }),
    step: fc.constantFrom(...STEPS),
    moment: fc.constantFrom(...MOMENTS),
    fate: fc.constantFrom(...FATES),
  });

  it('take nothing once they have ended, and end once', async () => {
    const admission = most(1);
    const permit = admission.admit(LIST, new AbortController().signal);
    permit.end(0);
    expect(permit.admitCaller('a')).to.equal(undefined);
    await permit.whileClient(async () => {});
    expect(admission.inFlight).to.equal(0);
    permit.end(0);
    expect(admission.inFlight).to.equal(0);
    admission.admit(LIST, new AbortController().signal);
    expect(() => admission.admit(LIST, new AbortController().signal)).to.throw(BusyError);
  });

  it('hold nothing in the end, whatever happens to a request before, during and after each step', async function () {
    this.timeout(60_000);
    type Planned = typeof request extends fc.Arbitrary<infer T> ? T : never;
    const run = async (requests: readonly Planned[], isCrowded: boolean): Promise<void> => {
      const admission = new AdmissionControl({ maxInFlight: MOST, maxWait: 60_000 });
      const quotas: string[] = [];
      const fates = new Map<string, (step: Step) => Promise<void>>();
      const fateOf = (keyId: string, step: Step): Promise<void> =>
        fates.get(keyId)?.(step) ?? Promise.resolve();
      const memory = createAnimalStore(openMemoryStore());
      const http = httpInterface({
        admission,
        settings: { requestDeadline: 15, bodyDeadline: 15 },
        authenticator: {
          async authenticate(credential) {
            await fateOf(credential, 'key');
            quotas.push(credential);
            return anyKey.authenticate(credential.replace(/-.*/, '')); // several requests have one key
          },
        },
        rateLimiter: {
          limit: { requests: 1, seconds: 1 },
          take: () =>
            fateOf(quotas.shift() ?? '', 'quota').then(() => ({ allowed: true, remaining: 1, resetsIn: 1 })),
        },
        animalStore: {
          ...memory,
          listPets: ({ after = 0n } = {}, call) =>
            fateOf(`${requests[Number(after)]?.caller}-${after}`, 'store').then(() =>
              memory.listPets({}, call),
            ),
          createPet: (pet, options) => fateOf(pet.name, 'store').then(() => memory.createPet(pet, options)),
        },
      });
      const crowd = Array.from({ length: isCrowded ? PER_TURN : 0 }, () => http.handle(LIST));
      const handled = requests.map(({ isCreate, caller, turns, step, moment, fate }, index) => {
        const keyId = `${caller}-${index}`;
        const { request: sent, leave } = leaving(
          isCreate
            ? createWith('', {
                readBody: () =>
                  fateOf(keyId, 'body').then(() => Buffer.from(`{"name":"${keyId}","categoryId":1}`)),
              })
            : requestWith({}, { query: `after=${index}` }),
        );
        const meet = async (): Promise<void> => {
          if (fate === 'client gone') leave();
          if (fate === 'rejects') throw new UnavailableError('rejected');
          if (fate === 'never ends') await new Promise(() => {});
        };
        fates.set(keyId, async (now) => {
          if (now === step && moment === 'before') await meet();
          for (let turn = 0; turn < turns; turn += 1) {
            await settled();
            if (now === step && moment === 'during') await meet();
          }
          if (now === step && moment === 'after') await meet();
        });
        return http.handle({
          ...sent,
          header: (name) => (name === 'authorization' ? `Bearer ${keyId}` : undefined),
        });
      });
      await Promise.all([...handled, ...crowd]);
      expect(admission.inFlight).to.equal(0);
      for (let turn = 0; turn < 4; turn += 1) await settled();
      expect(admission.inFlight).to.equal(0);
      fates.clear();
      // As many of one key as it may have, in progress and reading. Their deadline is longer than any pause of the machine.
      const patient = httpInterface({ admission });
      const after = Promise.all(Array.from({ length: MOST * 0.75 }, () => patient.handle(createWith(REX))));
      expect(new Set((await after).map(outcome))).to.deep.equal(new Set(['201']));
    };
    const requests = fc.array(request, { minLength: 1, maxLength: 12 });
    await fc.assert(fc.asyncProperty(requests, fc.boolean(), run), { numRuns: 60 });
  });
});

const until = async (isSo: () => boolean): Promise<void> => {
  for (const began = performance.now(); !isSo(); await settled()) {
    if (performance.now() - began > 10_000) throw new Error('not within 10 s');
  }
};
const list = (key: string, limit: number): string =>
  head(`GET /v1/pets?limit=${limit}`, `Authorization: Bearer ${key}`);

describe('What clients leave unread', () => {
  afterEach(closeServers);
  keepAlive();

  /** Large enough that the buffers of the operating system do not take it. */
  const LARGE = 24 * 1024 * 1024;
  /** Characters of three bytes: what is counted is bytes. */
  const LARGE_NAME = '世'.repeat(LARGE / 3);

  const LISTENERS = {
    'the listener for node:http': createNodeListener,
    Koa: (http: HttpInterface) => createKoaApp(http).callback(),
  };

  /** A server with large lists. Its bound is one response for each key, or two. */
  async function serving(
    maxUnsent = 30 * 1024 * 1024,
    listenerOf: (http: HttpInterface) => RequestListener = createNodeListener,
  ) {
    const admission = new AdmissionControl({ maxUnsent });
    const pets = [{ id: 1n, name: LARGE_NAME, categoryId: 1n, status: 'available' as const }];
    const animalStore = {
      ...createAnimalStore(openMemoryStore()),
      listPets: async ({ limit = 20 } = {}) => ({ pets: limit === 1 ? pets : [] }),
    };
    const listener = listenerOf(httpInterface({ admission, animalStore }));
    return { admission, ...(await listening(listener, { admission })) };
  }
  for (const [name, listenerOf] of Object.entries(LISTENERS)) {
    it(`is counted until they read it or go: beyond its share a key gets 503, and no other key does (${name})`, async () => {
      const { admission, port } = await serving(undefined, listenerOf);
      const status = async (key: string): Promise<number | undefined> => {
        const connection = await RawConnection.open(port, list(key, 20));
        return (await inTime(connection.responses(1)))[0]?.status;
      };
      const reader = await RawConnection.open(port);
      reader.socket.pause();
      reader.send(list('greedy', 1));
      await until(() => admission.unsent > 0);
      expect(admission.unsent).to.be.within(LARGE / 2, LARGE + 1024);
      expect([await status('greedy'), await status('modest')]).to.deep.equal([503, 200]);
      reader.socket.resume();
      await until(() => admission.unsent === 0);
      expect(await status('greedy')).to.equal(200);
      reader.socket.pause();
      reader.send(list('greedy', 1));
      await until(() => admission.unsent > 0);
      reader.socket.destroy();
      await until(() => admission.unsent === 0);
    });
  }

  it('is counted for the key of its own request, not of the one before on the same connection', async () => {
    const admission = new AdmissionControl();
    const counted = new Set<string>();
    admission.countUnsent = (keyId, bytes) => void (bytes > 0 && counted.add(keyId));
    const { port } = await listening(
      (request, response) => {
        const isKeyed = request.url === '/keyed';
        if (isKeyed) new NodeRequest(request, response).onAuthenticated({ keyId: 'key', scopes: new Set() });
        response.end(isKeyed ? '' : Buffer.alloc(LARGE));
      },
      { admission },
    );
    const connection = await RawConnection.open(port, head('GET /keyed'));
    await connection.responses(1);
    connection.socket.pause();
    connection.send(head('GET /open'));
    await until(() => counted.size > 0);
    expect([...counted]).to.deep.equal(['']);
  });

  it('is only what the operating system does not take', async () => {
    const admission = new AdmissionControl();
    const counts: number[] = [];
    const { port } = await listening(
      (_request, response) => {
        response.end('some');
        counts.push(admission.unsent);
      },
      { admission },
    );
    await (await RawConnection.open(port, list('a', 1))).responses(1);
    expect(counts).to.deep.equal([0]);
  });

  it('is limited for all together: beyond it a key that leaves some gets 503, and a key that leaves none does not', async () => {
    const { admission, port } = await serving(40 * 1024 * 1024);
    const readers = await Promise.all(
      ['one', 'two'].map(async (key) => {
        const reader = await RawConnection.open(port);
        reader.socket.pause();
        reader.send(list(key, 1));
        return reader;
      }),
    );
    await until(() => admission.unsent > 40 * 1024 * 1024);
    const statuses: Array<number | undefined> = [];
    for (const key of ['one', 'two', 'three']) {
      const connection = await RawConnection.open(port, list(key, 20));
      statuses.push((await inTime(connection.responses(1)))[0]?.status);
    }
    expect(statuses).to.deep.equal([503, 503, 200]);
    for (const reader of readers) reader.socket.destroy();
    await until(() => admission.unsent === 0);
  });
});

describe('A server', () => {
  afterEach(closeServers);

  it('tells its scheduler and the admission of each connection that it accepts', async () => {
    const told: FairScheduler[] = [];
    const accepted = Object.getOwnPropertyDescriptor(FairScheduler.prototype, 'accepted') ?? {};
    FairScheduler.prototype.accepted = function (): void {
      told.push(this);
    };
    try {
      const { port } = await listening(echoTarget, { admission: new AdmissionControl() });
      for (let count = 0; count < 2; count += 1)
        await (await RawConnection.open(port, head('GET /'))).responses(1);
      expect(told).to.have.length(4);
      expect(new Set(told).size).to.equal(2);
    } finally {
      Object.defineProperty(FairScheduler.prototype, 'accepted', accepted);
    }
  });
});

describe('The default bound of unread responses', () => {
  it('is a quarter of the memory that the process may use', () => {
    const constrainedMemory = process.constrainedMemory.bind(process);
    process.constrainedMemory = () => 400;
    try {
      const admission = new AdmissionControl();
      admission.countUnsent('a', 74);
      const permit = (): unknown => admission.admit(LIST, new AbortController().signal).admitCaller('a');
      expect(permit()).to.equal(undefined);
      admission.countUnsent('a', 1); // three quarters of 100
      expect(permit).to.throw(BusyError);
    } finally {
      process.constrainedMemory = constrainedMemory;
    }
  });
});

import { expect } from 'chai';
import { mock } from 'node:test';
import {
  type HttpRequest,
  type HttpResponse,
  type Permit,
} from '../../../../src/adapters/http/index.js';
import { FairScheduler } from '../../../../src/adapters/http/node/fair-scheduler.js';
import { AdmissionControl, createNodeListener } from '../../../../src/adapters/http/node/index.js';
import type { Authenticator } from '../../../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../../../src/domain/errors.js';
import type { Pet } from '../../../../src/domain/pet.js';
import { times } from '../../../contract/samples.js';
import { until } from '../../../until.js';
import {
  HeldPetRepository,
  KEY,
  REX,
  anyKey,
  createWith,
  httpInterface,
  keepAlive,
  memoryAnimalStore,
  outcome,
  requestWith,
  settled,
} from '../fixtures.js';
import { closeServers, head, listening } from './listening-server.js';
import { expectStatuses, stalled } from './raw-connection.js';

const BUSY = '503 service_unavailable';
const LIST = requestWith(KEY);

/** The same request with another key. */
const by = (key: string, request: HttpRequest): HttpRequest => ({
  ...request,
  header: (name) => (name === 'authorization' ? `Bearer ${key}` : undefined),
});

const most = (maxInFlight: number): AdmissionControl =>
  new AdmissionControl({ maxInFlight, maxWait: Infinity });

/** Checks the outcome of every response. */
async function expectAll(
  expected: string,
  ...responses: ReadonlyArray<Promise<HttpResponse>>
): Promise<void> {
  for (const response of responses) expect(outcome(await response)).to.equal(expected);
}

/** An interface with four places, and its store, whose calls end when the test says so. */
function fourPlaces() {
  const pets = new HeldPetRepository();
  const admission = most(4);
  const http = httpInterface({ pets, admission, settings: { requestDeadline: 20 } });
  const list = (key: string) => http.handle(by(key, LIST));
  return { pets, admission, list };
}

describe('Admission control', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.reset());

  it('keeps some places free for other keys', async () => {
    const { pets, list } = fourPlaces();
    const served = times(3, () => list('one'));
    await pets.called(3);

    await expectAll(BUSY, list('one'));
    served.push(list('other'));
    await pets.called(4);
    await expectAll(BUSY, list('other'));

    for (const call of pets.calls) call.resolve();
    await expectAll('200', ...served);
  });

  it('gives one place to a key that has none, even when all are taken', async () => {
    const { pets, list } = fourPlaces();
    const served = ['one', 'one', 'two', 'two'].map(list);
    await pets.called(4);
    served.push(list('last'));
    await pets.called(5);

    await expectAll(BUSY, list('last'));
    for (const call of pets.calls) call.resolve();
    await expectAll('200', ...served);
  });

  it('counts calls that go on after their 503 until they settle, or for a minute', async () => {
    const { pets, admission, list } = fourPlaces();
    const late = times(3, () => list('one'));
    await pets.called(3);
    mock.timers.tick(20);
    await expectAll(BUSY, ...late);
    await expectAll(BUSY, list('one'));

    pets.calls[0]?.resolve();
    await settled();
    expect(admission.inFlight, 'once one call has settled').to.equal(2);
    mock.timers.tick(60_000);
    await settled();
    expect(admission.inFlight, 'a minute later').to.equal(0);
  });
});

describe('Requests that wait', () => {
  keepAlive();

  it('take no place while their key is being checked', async () => {
    const late = Promise.withResolvers<never>();
    const authenticate: Authenticator['authenticate'] = (credential) =>
      credential === 'wrong' ? late.promise : anyKey.authenticate(credential);
    const http = httpInterface({ authenticator: { authenticate }, admission: most(4) });
    const strangers = times(400, () => http.handle(by('wrong', LIST)));

    const served = times(3, () => http.handle(by('right', LIST)));

    await expectAll('200', ...served);
    late.reject(new UnavailableError('rejected'));
    await Promise.all(strangers);
  });

  it('use a separate pool while their body arrives', async () => {
    const http = httpInterface({ admission: most(4) });
    const body = Promise.withResolvers<Uint8Array>();
    const slow = createWith(REX, { readBody: () => body.promise });
    const creates = times(3, () => http.handle(slow));
    await settled();

    await expectAll(BUSY, http.handle(slow));
    await expectAll('200', http.handle(LIST));
    await expectAll('201', http.handle(by('other', createWith(REX))));

    body.resolve(new TextEncoder().encode(REX));
    await expectAll('201', ...creates);
  });
});

describe('A permit', () => {
  for (const body of ['none', 'read', 'missing']) {
    it(`gives back its places, at whatever stage it ends (body: ${body})`, async () => {
      const admission = most(8);
      const live = async (turns: number): Promise<void> => {
        const permit = admission.admit({});
        const work = async (): Promise<void> => {
          await permit.admitCaller('a');
          if (body !== 'none') await permit.whileReading(settled);
          if (body === 'missing') throw new Error('planned');
        };
        const working = work().catch(() => {});
        for (let turn = 0; turn < turns; turn += 1) await settled();
        permit.end(working);
        permit.end();
        await working;
      };

      await Promise.all([0, 1, 2, 3, 4, 5].map(live));

      await settled();
      expect(admission.inFlight, 'requests in progress').to.equal(0);
      const after = times(6, () => admission.admit({}));
      await Promise.all(after.map((permit) => permit.whileReading(settled)));
    });
  }
});

/** Why a permit is refused to its caller, if it is. */
const refusalOf = (permit: Permit): Promise<string | undefined> =>
  permit.admitCaller('a').then(
    () => undefined,
    ({ message }: Error) => message,
  );

describe('The turns of requests', () => {
  afterEach(() => mock.restoreAll());

  it('go to one key after the other, and to the requests of a key in their order', async () => {
    const turns = new FairScheduler();
    const started: string[] = [];
    const greedy = times(200, (number) => `greedy ${number}`);
    const take = async (name: string): Promise<void> => {
      await turns.takeTurn(name.slice(0, 6));
      started.push(name);
    };

    await Promise.all([...greedy, 'modest'].map(take));

    expect(started.indexOf('modest'), 'requests before the modest one').to.equal(1);
    expect(started.toSpliced(1, 1)).to.deep.equal(greedy);
  });

  for (const [waited, refusal] of [
    [250, undefined],
    [251, 'The service is busy (too busy to answer soon).'],
  ] as const) {
    it(`are ${refusal ? 'not ' : ''}waited for by default for ${waited} ms`, async () => {
      let now = 0;
      mock.method(performance, 'now', () => now);
      const admission = new AdmissionControl();
      const others = times(100, async () => {
        await refusalOf(admission.admit({}));
        now = waited;
      });

      expect(await refusalOf(admission.admit({}))).to.equal(refusal);
      await Promise.all(others);
    });
  }

  it('are waited for while the process pauses', async () => {
    const clock = mock.method(performance, 'now', () => 0);
    const refused = refusalOf(new AdmissionControl().admit({}));

    clock.mock.mockImplementation(() => 60_000);

    expect(await refused, 'why it was refused').to.equal(undefined);
  });

  it('are delayed by new connections, but not forever', async () => {
    const turns = new FairScheduler();
    let waited = 0;
    const accept = (): void => {
      turns.noteAccepted();
      waited += 1;
      if (waited < 1_000) setImmediate(accept);
    };
    accept();

    await turns.takeTurn('a');

    expect(waited, 'turns of the event loop').to.be.within(10, 100);
    waited = 1_000;
  });
});

/** Larger than the buffers of the operating system. */
const LARGE: Pet = { id: 1n, name: 'x'.repeat(2e7), categoryId: 1n, status: 'available' };

/** Asks for one animal, which is large, or for none. */
const list = (key: string, limit: 1 | 2): string =>
  head(`GET /v1/pets?limit=${limit}`, `Authorization: Bearer ${key}`);

/** A server with four places, of which one key gets three. */
async function fourPlaceServer() {
  const admission = new AdmissionControl({ maxInFlight: 4, maxWait: Infinity });
  const animalStore = {
    ...memoryAnimalStore(),
    listPets: async ({ limit = 1 } = {}) => ({ pets: limit > 1 ? [LARGE] : [] }),
  };
  const handle = createNodeListener(httpInterface({ admission, animalStore }));
  const { port, open } = await listening(handle);
  /** Checks what a further request of a key gets. */
  const expectStatus = async (key: string, expected: number): Promise<void> => {
    const connection = await open(list(key, 1));
    const responses = await connection.responses(1);
    expectStatuses(responses, expected);
  };
  /** Waits until so many requests hold a place. */
  const held = (count: number) => until('places are held', () => admission.inFlight === count);
  return { port, expectStatus, held };
}

describe('A request that is answered', () => {
  afterEach(closeServers);
  keepAlive();

  it('keeps its place until its client has read the response or disconnected', async () => {
    const { port, expectStatus, held } = await fourPlaceServer();
    const [reader, leaver] = await Promise.all([
      stalled(port, list('greedy', 2)),
      stalled(port, list('greedy', 2)),
      stalled(port, list('greedy', 2)),
    ]);
    await held(3);
    await expectStatus('greedy', 503);
    await expectStatus('modest', 200);

    reader.socket.resume();
    await held(2);
    leaver.socket.destroy();
    await held(1);

    await expectStatus('greedy', 200);
  });

  it('holds a place of its own key, not of the key before it on its connection', async () => {
    const { port, expectStatus, held } = await fourPlaceServer();
    for (let count = 0; count < 3; count += 1) {
      const connection = await stalled(port, list('first', 1) + list('second', 2));
      await held(count + 1);
      expect(connection.socket.destroyed).to.equal(false);
    }

    await expectStatus('first', 200);
    await expectStatus('second', 503);
  });
});

import { expect } from 'chai';
import type { HttpRequest } from '../../../../src/adapters/http/index.js';
import { AdmissionControl } from '../../../../src/adapters/http/node/index.js';
import { Turns } from '../../../../src/adapters/http/node/turns.js';
import type { Authenticator } from '../../../../src/application/ports/authenticator.js';
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

  for (const ending of ['a response', 'a failure', 'a client that disconnects', 'a deadline']) {
    it(`are served again after ${ending}`, async () => {
      const pets = new HeldPetRepository();
      const requestDeadline = ending === 'a deadline' ? 50 : 60_000;
      const http = httpInterface({ pets, admission: most(1), settings: { requestDeadline } });
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
    const http = httpInterface({ pets, admission: most(1) });
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

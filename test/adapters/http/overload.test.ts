import { expect } from 'chai';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import type { Authenticator } from '../../../src/application/ports/authenticator.js';
import { HttpInterface } from '../../../src/adapters/http/http-interface.js';
import type { HttpSettings } from '../../../src/adapters/http/http-settings.js';
import { createKoaApp } from '../../../src/adapters/http/koa/koa-transport.js';
import { Readiness } from '../../../src/adapters/http/routes/readiness.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { HeldPetRepository } from './held-pet-repository.js';
import { closeServers, head, inTime, listening } from './node/listening-server.js';
import {
  RawConnection,
  exchange,
  expectErrorShape,
  parseAnswers,
  type RawAnswer,
} from './node/raw-connection.js';

const openDoor: Authenticator = {
  authenticate: async () => ({
    ok: true,
    principal: { keyId: 'anyone', scopes: new Set(['pets:read', 'pets:write']) },
  }),
};
const KEY = 'Authorization: Bearer any';
const LIST = head('GET /v1/pets', KEY);
const REX = '{"name":"Rex","categoryId":1}';
const ADD = head('POST /v1/pets', KEY, `Content-Length: ${REX.length}`) + REX;

interface Setup {
  readonly settings?: Partial<HttpSettings>;
  readonly authenticator?: Authenticator;
}

async function service(
  setup: Setup = {},
): Promise<{ readonly pets: HeldPetRepository; readonly port: number }> {
  const { settings, authenticator = openDoor } = setup;
  const pets = new HeldPetRepository();
  const http = new HttpInterface({
    store: createAnimalStore({ pets }),
    authenticator,
    readiness: new Readiness((call) => pets.check(call)),
    settings,
  });
  const handle = createKoaApp(http).callback();
  const { port } = await listening((request, response) => void handle(request, response));
  return { pets, port };
}

const answer = async (port: number, sent: string): Promise<RawAnswer | undefined> => {
  const connection = await RawConnection.open(port, sent);
  const [first] = await connection.answers(1);
  connection.socket.destroy();
  return first;
};

const aborted = (signal: AbortSignal | undefined): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal === undefined || signal.aborted) resolve(signal?.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason));
  });

/** That both places are free: two requests reach the store, and the third does not. */
const expectTwoFree = async (pets: HeldPetRepository, port: number): Promise<void> => {
  const before = pets.calls.length;
  await RawConnection.open(port, LIST);
  await RawConnection.open(port, LIST);
  await inTime(5_000, pets.called(before + 2));
  expect((await answer(port, LIST))?.status).to.equal(503);
};

describe('Requests beyond MAX_IN_FLIGHT', () => {
  afterEach(closeServers);
  const settings = { maxInFlight: 2, requestDeadline: 60_000 };

  it('get 503 with Retry-After at once, before their key is looked at', async () => {
    const { pets, port } = await service({ settings });
    await RawConnection.open(port, LIST);
    await RawConnection.open(port, LIST);
    await pets.called(2);
    for (const sent of [LIST, head('GET /v1/pets'), head('GET /nowhere'), ADD]) {
      const refused = await inTime(5_000, answer(port, sent));
      expectErrorShape(refused, 503, 'service_unavailable');
      expect(refused?.headers.get('retry-after')).to.equal('1');
    }
    expect(pets.calls).to.have.lengthOf(2);
  });

  it('are never those to /livez and /readyz', async () => {
    const { pets, port } = await service({ settings });
    await RawConnection.open(port, LIST);
    await RawConnection.open(port, LIST);
    await pets.called(2);
    expect((await answer(port, head('GET /livez')))?.status).to.equal(200);
    expect((await answer(port, head('GET /readyz')))?.status).to.equal(200);
  });

  it('find the places free again after answers and after failures', async () => {
    const { pets, port } = await service({ settings });
    for (let round = 0; round < 5; round += 1) {
      const connection = await RawConnection.open(port, LIST);
      await pets.called(round + 1);
      if (round % 2 === 0) pets.calls[round]?.answer();
      else pets.calls[round]?.fail(new Error('broken'));
      expect((await connection.answers(1))[0]?.status).to.equal(round % 2 === 0 ? 200 : 500);
    }
    await expectTwoFree(pets, port);
  });

  it('find them free again after clients that went away, though the store never answers', async () => {
    const { pets, port } = await service({ settings });
    for (let round = 0; round < 5; round += 1) {
      const connection = await RawConnection.open(port, round % 2 === 0 ? LIST : ADD);
      await pets.called(round + 1);
      connection.socket.resetAndDestroy();
      await inTime(5_000, aborted(pets.calls[round]?.signal));
    }
    await expectTwoFree(pets, port);
  });

  it('find them free again after clients that went away in the middle of a body', async () => {
    const { pets, port } = await service({ settings });
    for (let round = 0; round < 5; round += 1) {
      const connection = await RawConnection.open(port, ADD.slice(0, -5));
      connection.socket.resetAndDestroy();
      await connection.closed;
    }
    await exchange(port, '@@\r\n\r\n'); // the server has heard of all of them by now
    expect(pets.calls).to.have.lengthOf(0);
    await expectTwoFree(pets, port);
  });

  it('find them free again after bodies whose chunks are none, which the server itself answers', async () => {
    const { pets, port } = await service({ settings });
    const chunked = head('POST /v1/pets', KEY, 'Transfer-Encoding: chunked', 'Expect: 100-continue');
    for (let round = 0; round < 5; round += 1) {
      const connection = await RawConnection.open(port, chunked);
      await connection.until((received) => received.includes(' 100 Continue')); // the body is being waited for
      connection.send(round % 2 === 0 ? 'zz\r\n' : '5\r\n{"nam\r\nzz\r\n');
      await connection.closed;
      const [refused] = parseAnswers(
        Buffer.from(connection.received.replace(/^HTTP.*? 100 Continue\r\n\r\n/, '')),
      ).answers;
      expectErrorShape(refused, 400, 'malformed_request');
    }
    expect(pets.calls).to.have.lengthOf(0);
    await expectTwoFree(pets, port);
  });

  it('find them free again after deadlines', async () => {
    const { pets, port } = await service({ settings: { maxInFlight: 2, requestDeadline: 50 } });
    for (let round = 0; round < 3; round += 1) {
      expect((await answer(port, LIST))?.status).to.equal(503);
    }
    await pets.called(3);
    const both = await Promise.all([answer(port, LIST), answer(port, LIST)]);
    expect(both.map((one) => one?.status)).to.deep.equal([503, 503]);
    expect(pets.calls, 'both reached the store').to.have.lengthOf(5);
  });
});

describe('A request that takes too long', () => {
  afterEach(closeServers);
  const settings = { requestDeadline: 100 };

  for (const [what, sent] of [
    ['a list', LIST],
    ['an add', ADD],
    ['a look-up', head('GET /v1/pets/1', KEY)],
  ] as const) {
    it(`gets 503 within its deadline when the store never answers ${what}, and the store is told`, async () => {
      const { pets, port } = await service({ settings });
      const late = await inTime(5_000, answer(port, sent));
      expectErrorShape(late, 503, 'service_unavailable');
      expect(late?.headers.get('retry-after')).to.equal('1');
      expect(await aborted(pets.calls[0]?.signal)).to.be.instanceOf(UnavailableError);
    });
  }

  it('gets 503 within its deadline when the authenticator never answers, which is told', async () => {
    const signals: Array<AbortSignal | undefined> = [];
    const authenticator: Authenticator = {
      authenticate: (_credential, call) => {
        signals.push(call?.signal);
        return new Promise(() => {});
      },
    };
    const { pets, port } = await service({ settings, authenticator });
    expectErrorShape(await inTime(5_000, answer(port, LIST)), 503, 'service_unavailable');
    expect(await aborted(signals[0])).to.be.instanceOf(UnavailableError);
    expect(pets.calls).to.have.lengthOf(0);
  });

  it('keeps its connection, on which the next is answered', async () => {
    const { port } = await service({ settings });
    const connection = await RawConnection.open(port, LIST + head('GET /livez'));
    expect((await connection.answers(2)).map(({ status }) => status)).to.deep.equal([503, 200]);
  });

  it('is not one whose client takes long to send its body', async () => {
    const { pets, port } = await service({ settings });
    const connection = await RawConnection.open(port, ADD.slice(0, -5));
    // The other's deadline, begun later, is over: so would be this one's.
    expect((await answer(port, LIST))?.status).to.equal(503);
    connection.send(ADD.slice(-5));
    await pets.called(2);
    pets.calls[1]?.answer();
    expect((await connection.answers(1))[0]?.status).to.equal(201);
  });
});

describe('A client that goes away', () => {
  afterEach(closeServers);

  it('has its work at the store aborted', async () => {
    const { pets, port } = await service();
    const connection = await RawConnection.open(port, LIST);
    await pets.called(1);
    expect(pets.calls[0]?.signal?.aborted).to.equal(false);
    connection.socket.destroy();
    await inTime(5_000, aborted(pets.calls[0]?.signal));
  });

  it('has no work begun for what it pipelined', async () => {
    const { pets, port } = await service();
    const connection = await RawConnection.open(port, LIST + ADD);
    await pets.called(1);
    connection.socket.destroy();
    await inTime(5_000, aborted(pets.calls[0]?.signal));
    await exchange(port, '@@\r\n\r\n');
    expect(pets.calls).to.have.lengthOf(1);
  });
});

describe('GET /readyz', () => {
  afterEach(closeServers);

  it('asks the store at most once for requests of the same second', async () => {
    const { pets, port } = await service();
    const began = performance.now();
    const connection = await RawConnection.open(port, head('GET /readyz').repeat(20));
    expect((await connection.answers(20)).every(({ status }) => status === 200)).to.equal(true);
    expect(pets.checks).to.be.within(1, 1 + Math.floor((performance.now() - began) / 1_000));
  });

  it('is 503 in the Error shape while the store is away, and 200 within a second of its return', async () => {
    const { pets, port } = await service();
    pets.health = async () => {
      throw new UnavailableError('secret of the inside');
    };
    const away = await answer(port, head('GET /readyz'));
    expectErrorShape(away, 503, 'service_unavailable');
    expect(away?.headers.get('retry-after')).to.equal('1');
    expect(away?.body).not.to.include('secret');
    pets.health = async () => {};
    const returned = performance.now();
    while ((await answer(port, head('GET /readyz')))?.status === 503) {
      expect(performance.now() - returned).to.be.below(5_000);
    }
  });

  it('is 503 within its second when the store does not answer, and /livez is 200 meanwhile', async () => {
    const { pets, port } = await service();
    pets.health = () => new Promise(() => {});
    const ready = answer(port, head('GET /readyz'));
    expect((await answer(port, head('GET /livez')))?.status).to.equal(200);
    expectErrorShape(await inTime(5_000, ready), 503, 'service_unavailable');
  });
});

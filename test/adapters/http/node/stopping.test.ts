import { expect } from 'chai';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { NodeServer } from '../../../../src/adapters/http/node/index.js';
import {
  closeServers,
  echoTarget,
  expectAllAnswered,
  head,
  holding,
  inTime,
  listening,
  withClock,
} from './listening-server.js';
import { stalled, untilRefused } from './raw-connection.js';

describe('A listening server that drains', () => {
  afterEach(closeServers);

  it('closes each connection after its next response, and takes new ones', async () => {
    const { server, ask } = await holding();
    const { connection, response } = await ask(head('GET /') + head('GET /'));

    server.drain();
    const fresh = await ask(head('GET /'), true);
    response.end('done');
    fresh.response.end('done');

    for (const each of [connection, fresh.connection])
      expect(await inTime(each.allBodies())).to.deep.equal(['done']);
    expect(connection.received).to.match(/^connection: close\r$/im);
  });
});

describe('A listening server that is closed', () => {
  afterEach(closeServers);

  it('ends connections without a request in order, and does not wait for them', async () => {
    const { server, open } = await listening(echoTarget);
    const idle = await open(head('GET /'));
    await idle.responses(1);
    const silent = await open();
    const slow = await open('GET / HTT');

    await expectAllAnswered(server.close(30_000));

    for (const { closed } of [idle, silent, slow])
      expect(await closed, 'the error that ended a connection').to.equal(undefined);
  });

  for (const [what, pause] of [
    ['', 0],
    [', also after a pause of the machine', 20_000],
  ] as const)
    it(`answers those that are connected, but not accepted yet${what}`, () =>
      withClock(async (forward) => {
        const { server, open } = await listening(echoTarget);
        const opening = Array.from({ length: 20 }, () => open(head('GET /')));
        await new Promise((resolve) => process.nextTick(resolve)); // the operating system has connected them

        const closed = server.close(30_000);
        forward(pause);

        for (const connection of await Promise.all(opening))
          expect(await connection.allBodies()).to.deep.equal(['/']);
        await expectAllAnswered(closed);
      }));

  it('answers clients that reconnect at once, until it refuses them', async () => {
    const { server, open } = await listening(echoTarget);
    const answered: unknown[] = [];
    const connect = () => open(head('GET /', 'Connection: close'));
    const reconnect = async (): Promise<void> => {
      for (;;) {
        const connection = await connect().catch(() => {});
        if (!connection) return;
        expect(await connection.allBodies()).to.deep.equal(['/']);
        answered.push(connection);
      }
    };
    const clients = Promise.all(Array.from({ length: 24 }, reconnect));
    while (answered.length < 48) await setImmediate();

    await expectAllAnswered(server.close(30_000));
    await clients;
  });

  it('answers a request that came while it was too busy to read', () =>
    withClock(async (forward) => {
      const limits = { stopGrace: 10_000 };
      const { server, port, open } = await listening(echoTarget, { limits });
      const connection = await open(head('GET /'));
      await connection.responses(1);
      const closed = server.close(30_000);
      await untilRefused(port);

      await setImmediate(); // timers are next, before input
      connection.send(head('GET /late'));
      forward(limits.stopGrace);
      for (const until = performance.now() + 50; performance.now() < until;); // it is time to look for idle connections

      expect(await connection.allBodies()).to.deep.equal(['/', '/late']);
      await expectAllAnswered(closed);
    }));

  it('answers for stopGrace on each connection, however long it was idle before', () =>
    withClock(async (forward) => {
      const limits = { stopGrace: 60_000, keepAliveTimeout: 3_600_000, headersTimeout: 3_600_000 };
      const { server, port, open } = await listening(echoTarget, { limits });
      const used = await open(head('GET /'));
      const unused = await open();
      const idle = await open();
      await used.responses(1);

      forward(600_000);
      const closed = server.close(300_000);
      await untilRefused(port);
      await delay(100); // a stopping server looks for idle connections several times

      for (const connection of [used, unused]) {
        connection.send(head('GET /late'));
        const answer = (await inTime(connection.allResponses())).at(-1);
        expect(answer?.body).to.equal('/late');
        expect(answer?.headers.get('connection')).to.equal('close');
      }
      forward(60_000);
      await inTime(idle.closed);
      await expectAllAnswered(closed);
    }));

  it('answers a request within stopGrace of a response that had begun before', () =>
    withClock(async (forward) => {
      const { held, server, port, ask } = await holding({ limits: { stopGrace: 60_000 } });
      const { connection, response } = await ask(head('GET /'));
      response.write('begun');
      const closed = server.close(300_000);
      await untilRefused(port);

      forward(70_000);
      response.end();
      await inTime(connection.responses(1));
      await delay(100); // a stopping server looks for idle connections several times
      connection.send(head('GET /late'));
      (await inTime(held.nth(1))).end('late');

      expect(await connection.allBodies()).to.deep.equal(['begun', 'late']);
      await expectAllAnswered(closed);
    }));

  it('waits until a slow client has all of its response', async () => {
    const { held, server, port } = await holding();
    const connection = await stalled(port, head('GET /'));
    (await held.nth(0)).end(Buffer.alloc(20_000_000));

    const closed = server.close(60_000);
    connection.socket.resume();

    await expectAllAnswered(closed);
    await connection.closed;
    expect(connection.received, 'what the slow client got').to.have.length.above(20_000_000);
  });

  it('cuts off at the deadline what is not answered, and reports it', async () => {
    const { server, ask, open } = await holding();
    const { connection } = await ask(head('GET /'));
    await open(); // the last connection has no request

    const closed = server.close(50);

    expect(await inTime(closed), 'whether every request was answered').to.equal(false);
    await connection.closed;
    expect(connection.received, 'what the client got').to.equal('');
  });

  it('may be closed twice, and without having listened', async () => {
    const { server, port } = await listening(echoTarget);
    const second = new NodeServer(echoTarget);
    const error: unknown = await second
      .listen(port, '127.0.0.1')
      .catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'EADDRINUSE');
    const closed = [second.close(1_000), server.close(1_000), server.close(1_000)];
    expect(await inTime(Promise.all(closed))).to.deep.equal([true, true, true]);
  });
});

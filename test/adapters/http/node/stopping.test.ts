import { expect } from 'chai';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { NodeServer } from '../../../../src/adapters/http/node/index.js';
import {
  closeServers,
  echoTarget,
  head,
  holding,
  inTime,
  listening,
  withClock,
} from './listening-server.js';
import { RawConnection, stalled } from './raw-connection.js';

/** Resolves when the port refuses connections. */
async function untilRefused(port: number): Promise<void> {
  for (;;) {
    try {
      const { socket } = await RawConnection.open(port);
      socket.destroy();
    } catch {
      return;
    }
    await delay(10);
  }
}

describe('A listening server that drains', () => {
  afterEach(closeServers);

  it('closes each connection after its next response, and takes new ones', async () => {
    const { held, server, port } = await holding();
    const connection = await RawConnection.open(port, head('GET /') + head('GET /'));
    const response = await held.nth(0);
    server.drain();
    const fresh = await RawConnection.open(port, head('GET /'), true);
    response.end('done');
    (await held.nth(1)).end('done');
    for (const each of [connection, fresh]) {
      expect((await inTime(each.allResponses())).map(({ body }) => body)).to.deep.equal(['done']);
    }
    expect(connection.received).to.match(/^connection: close\r$/im);
  });
});

describe('A listening server that is closed', () => {
  afterEach(closeServers);

  it('ends connections without a request in order, and does not wait for them', async () => {
    const { server, port } = await listening(echoTarget);
    const idle = await RawConnection.open(port, head('GET /'));
    await idle.responses(1);
    const connections = [
      idle,
      await RawConnection.open(port),
      await RawConnection.open(port, 'GET / HTT'),
    ];
    expect(await inTime(server.close(30_000)), 'whether every request was answered').to.equal(true);
    const reasons = await Promise.all(connections.map(({ closed }) => closed));
    expect(new Set(reasons)).to.deep.equal(new Set([undefined]));
  });

  it('answers those that are connected, but not accepted yet', async () => {
    const { server, port } = await listening(echoTarget);
    const opening = Array.from({ length: 20 }, () => RawConnection.open(port, head('GET /')));
    await new Promise((resolve) => process.nextTick(resolve)); // the operating system has connected them
    const closed = server.close(30_000);
    const answers = await Promise.all(opening.map(async (opened) => (await opened).allResponses()));
    expect(answers.map(([answer]) => answer?.body)).to.deep.equal(opening.map(() => '/'));
    expect(await inTime(closed), 'whether every request was answered').to.equal(true);
  });

  it('answers clients that reconnect at once after each response, until it refuses them', async () => {
    const { server, port } = await listening(echoTarget);
    const answered: unknown[] = [];
    const reconnect = async (): Promise<void> => {
      for (;;) {
        const connection = await RawConnection.open(port, head('GET /', 'Connection: close')).catch(
          () => {},
        );
        if (!connection) return;
        expect((await connection.allResponses()).map(({ body }) => body)).to.deep.equal(['/']);
        answered.push(connection);
      }
    };
    const clients = Promise.all(Array.from({ length: 24 }, reconnect));
    while (answered.length < 48) await setImmediate();
    expect(await inTime(server.close(30_000)), 'whether every request was answered').to.equal(true);
    await clients;
  });

  it('answers a request that came while it was too busy to read', async () => {
    const { server, port } = await listening(echoTarget, { limits: { stopGrace: 200 } });
    const connection = await RawConnection.open(port, head('GET /'));
    await connection.responses(1);
    const closed = server.close(30_000);
    await untilRefused(port);
    await setImmediate(); // timers are next, before input
    connection.send(head('GET /late'));
    for (const until = performance.now() + 300; performance.now() < until;);
    expect((await connection.allResponses()).map(({ body }) => body)).to.deep.equal(['/', '/late']);
    expect(await inTime(closed), 'whether every request was answered').to.equal(true);
  });

  it('answers a request on a connection that it had accepted for stopGrace, however long that was idle before', () =>
    withClock(async (forward) => {
      const limits = { stopGrace: 60_000, keepAliveTimeout: 3_600_000, headersTimeout: 3_600_000 };
      const { server, port } = await listening(echoTarget, { limits });
      const used = await RawConnection.open(port, head('GET /'));
      const unused = await RawConnection.open(port);
      const idle = await RawConnection.open(port);
      await used.responses(1);
      forward(600_000);
      const closed = server.close(300_000);
      await untilRefused(port);
      await delay(100); // a stopping server looks for idle connections several times
      for (const connection of [used, unused]) {
        connection.send(head('GET /late'));
        const answer = (await inTime(connection.allResponses())).at(-1);
        expect([answer?.body, answer?.headers.get('connection')]).to.deep.equal(['/late', 'close']);
      }
      forward(60_000);
      await inTime(idle.closed);
      expect(await inTime(closed), 'whether every request was answered').to.equal(true);
    }));

  it('answers a request within stopGrace of a response that had begun before', () =>
    withClock(async (forward) => {
      const { held, server, port } = await holding({ limits: { stopGrace: 60_000 } });
      const connection = await RawConnection.open(port, head('GET /'));
      const response = await held.nth(0);
      response.write('begun');
      const closed = server.close(300_000);
      await untilRefused(port);
      forward(70_000);
      response.end();
      await inTime(connection.responses(1));
      await delay(100); // a stopping server looks for idle connections several times
      connection.send(head('GET /late'));
      (await inTime(held.nth(1))).end('late');
      expect((await connection.allResponses()).map(({ body }) => body)).to.deep.equal([
        'begun',
        'late',
      ]);
      expect(await inTime(closed), 'whether every request was answered').to.equal(true);
    }));

  it('waits until a slow client has all of its response', async () => {
    const { held, server, port } = await holding();
    const connection = await stalled(port, head('GET /'));
    (await held.nth(0)).end(Buffer.alloc(20_000_000));
    const closed = server.close(60_000);
    connection.socket.resume();
    expect(await closed, 'whether every request was answered').to.equal(true);
    await connection.closed;
    expect(connection.received, 'what the slow client got').to.have.length.above(20_000_000);
  });

  it('cuts off at the deadline what is not answered, and reports it', async () => {
    const { held, server, port } = await holding();
    const connection = await RawConnection.open(port, head('GET /'));
    await held.nth(0);
    await RawConnection.open(port); // the last connection has no request
    expect(await inTime(server.close(50)), 'whether every request was answered').to.equal(false);
    await connection.closed;
    expect(connection.received).to.equal('');
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

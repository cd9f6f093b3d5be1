import { expect } from 'chai';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { scheduler } from '../../../../src/adapters/http/node/fair-scheduler.js';
import { NodeServer } from '../../../../src/adapters/http/node/index.js';
import {
  closeServers,
  echoTarget,
  expectAllAnswered,
  head,
  holding,
  listening,
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

    for (const each of [connection, fresh.connection]) await each.expectAllBodies('done');
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

    await expectAllAnswered(server.close(60_000));

    for (const { closed } of [idle, silent, slow])
      expect(await closed, 'the error that ended a connection').to.equal(undefined);
  });

  it('answers clients that are connected, but not accepted yet', async () => {
    const { server, open } = await listening(echoTarget);
    const opening = Array.from({ length: 20 }, () => open(head('GET /')));
    await new Promise((resolve) => process.nextTick(resolve)); // the operating system has connected them

    const closed = server.close(60_000);

    for (const connection of await Promise.all(opening)) await connection.expectAllBodies('/');
    await expectAllAnswered(closed);
  });

  it('still answers requests on idle connections for stopGrace', async () => {
    const { server, port, open } = await listening(echoTarget, { limits: { stopGrace: 5_000 } });
    const used = await open(head('GET /'));
    const unused = await open();
    const idle = await open();
    await used.responses(1);

    const closed = server.close(60_000);
    await untilRefused(port);

    for (const connection of [used, unused]) {
      connection.send(head('GET /late'));
      const answer = (await connection.allResponses()).at(-1);
      expect(answer?.body).to.equal('/late');
      expect(answer?.headers.get('connection')).to.equal('close');
    }
    expect(await idle.allResponses()).to.deep.equal([]);
    await expectAllAnswered(closed);
  });

  it('answers a request that waits for its turn longer than stopGrace', async () => {
    const { server, open } = await listening(echoTarget, { limits: { stopGrace: 10 } });
    const turn = Promise.withResolvers<boolean>();
    const waiting = mock.method(scheduler, 'takeTurn', () => turn.promise);
    const connection = await open(head('GET /'));
    while (waiting.mock.callCount() === 0) await delay(1);

    const closed = server.close(60_000);
    await delay(200);
    waiting.mock.restore();
    turn.resolve(true);

    await connection.expectAllBodies('/');
    await expectAllAnswered(closed);
  });

  it('ends a connection whose response had begun before, once the response is complete', async () => {
    const { server, ask } = await holding({ limits: { stopGrace: 10 } });
    const { connection, response } = await ask(head('GET /'));
    response.write('begun');

    const closed = server.close(600_000);
    await connection.until((received) => received.includes('begun'));
    await delay(100); // longer than the grace
    response.end();

    await expectAllAnswered(closed);
  });

  it('waits until a slow client has all of its response', async () => {
    const { nth, server, port } = await holding();
    const connection = await stalled(port, head('GET /'));
    (await nth(0)).end(Buffer.alloc(20_000_000));

    const closed = server.close(60_000);
    connection.socket.resume();

    await expectAllAnswered(closed);
    await connection.closed;
    expect(connection.received, 'what the slow client got').to.have.length.above(20_000_000);
  });

  it('closes unanswered connections at the deadline, and reports it', async () => {
    const { server, ask, open } = await holding();
    const { connection } = await ask(head('GET /'));
    await open(); // the last connection has no request

    expect(await server.close(50), 'whether every request was answered').to.equal(false);
    await connection.closed;
    expect(connection.received, 'what the client got').to.equal('');
  });

  it('may be closed twice, and without having listened', async () => {
    const { server, port } = await listening(echoTarget);
    const second = new NodeServer(echoTarget);
    const error = await second.listen(port, '127.0.0.1').catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'EADDRINUSE');

    const closed = [second.close(1_000), server.close(1_000), server.close(1_000)];

    expect(await Promise.all(closed)).to.deep.equal([true, true, true]);
  });
});

import { expect } from 'chai';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { totalmem } from 'node:os';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  SERVER_LIMITS,
  serverLimits,
  usableMemory,
} from '../../../../src/adapters/http/node/server-limits.js';
import { read } from '../../../docs/code-blocks.js';
import {
  closeServers,
  echoBody,
  echoTarget,
  head,
  holding,
  inTime,
  listening,
  serverHasRead,
  withClock,
} from './listening-server.js';
import { type RawConnection, exchange, expectError, stalled } from './raw-connection.js';

/** As published, but checked often. */
const usual = { limits: { connectionsCheckingInterval: 10 } };
/** More than the operating system takes from a server whose client does not read. */
const largeHeaders = () => ({ 'X-Large': 'x'.repeat(50_000_000) });
const throwing: RequestListener = () => {
  throw new Error('planned');
};
const someChecks = () => delay(50);

describe('The limits of the listening server', () => {
  afterEach(closeServers);

  it('are the published ones unless they are given', () => {
    const published = {
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
      writeTimeout: 20_000,
      maxHeaderSize: 16_384,
      maxConnections: 2_000,
      lingerTime: 1_000,
      stopGrace: 500,
    };
    expect(serverLimits({}, Infinity)).to.deep.equal(published);
    expect(serverLimits({ maxConnections: 1 })).to.deep.equal({ ...published, maxConnections: 1 });
  });

  it('are in the two pages that say when a slow request ends', () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout, writeTimeout } = SERVER_LIMITS;
    const decisions = read('docs/decisions.md');
    const listener = read('docs/listener.md').replaceAll(/ {2,}/g, ' ');

    expect(decisions)
      .to.include(
        `headers after ${headersTimeout / 1000} s, a body after ${requestTimeout / 1000} s`,
      )
      .and.include(`closed after ${headersTimeout / 1000} s, without a response`);
    expect(listener)
      .to.include(`first byte of a request | ${headersTimeout / 1000} s; closed without a response`)
      .and.include(`a further request | ${keepAliveTimeout / 1000} s; closed without a response`)
      .and.include(`end of the headers | ${headersTimeout / 1000} s: 408`)
      .and.include(
        `${requestTimeout / 1000} s for the body: 408. ${writeTimeout / 1000} s without`,
      );
  });

  it('allow as many connections as a quarter of the memory holds at 192 KiB each', () => {
    const MiB = 1024 ** 2;
    const memory = mock.method(process, 'constrainedMemory', () => 256 * MiB);
    const limited = serverLimits().maxConnections;
    memory.mock.mockImplementation(() => 0); // it knows no limit
    const usable = usableMemory();
    memory.mock.restore();

    expect(limited, 'connections of a process with 256 MiB').to.equal(341);
    expect(usable, 'memory of a process without a limit').to.equal(totalmem());
    expect(serverLimits({}, 1_500 * MiB).maxConnections).to.equal(2_000);
    expect(serverLimits({}, 1_499 * MiB).maxConnections).to.equal(1_998);
  });

  for (const [what, sent, answered, milliseconds] of [
    ['the headers do not end', 'GET / HTTP/1.1\r\nHost: a\r\n', 0, 10_000],
    [
      'the second request does not end',
      `${head('POST /', 'Content-Length: 4')}fourGET /`,
      1,
      10_000,
    ],
    ['the body does not end', `${head('POST /', 'Content-Length: 9')}four`, 0, 15_000],
    [
      'the last chunk does not come',
      `${head('POST /', 'Transfer-Encoding: chunked')}1\r\na\r\n`,
      0,
      15_000,
    ],
  ] as const) {
    it(`end the connection with 408 when ${what}`, () =>
      withClock(async (forward) => {
        const { port, open } = await listening(echoBody, usual);
        const connection = await open(sent);
        await connection.responses(answered);
        await serverHasRead(port);

        forward(milliseconds);

        expectError((await inTime(connection.allResponses())).at(-1), 408, 'request_timeout');
      }));
  }

  // A response could be taken for that of a later request.
  for (const sent of ['', '\r\n', '\r\n\r\n\r\n'])
    it(`close a connection that sent ${sent.length / 2} empty lines, without a response`, async () => {
      const limits = { headersTimeout: 100, connectionsCheckingInterval: 20 };
      const { port } = await listening(echoBody, { limits });

      const responses = await inTime(exchange(port, sent));

      expect(responses).to.deep.equal([]);
    });

  for (const lines of ['\r\n', '\r\n\r\n', '\r\n\r\n\r\n'])
    it(`leave a connection idle that sent ${lines.length / 2} empty lines after a request`, () =>
      withClock(async (forward) => {
        const { port, open } = await listening(echoTarget, usual);
        const connection = await open(head('GET /1') + lines);
        await connection.responses(1);
        await serverHasRead(port);

        forward(60_000);
        await someChecks();
        connection.send(head('GET /2'));

        expect(await connection.bodies(2)).to.deep.equal(['/1', '/2']);
      }));

  it('leave a listener as much time as it takes, and then its connection as long as any', () =>
    withClock(async (forward) => {
      const { held, ask } = await holding(usual);
      const { connection, response } = await ask(head('GET /'));

      forward(60_000);
      await someChecks();
      response.end('late');
      await connection.responses(1);
      forward(60_000);
      await someChecks();
      connection.send(head('GET /'));
      (await held.nth(1)).end('later');

      expect(await connection.bodies(2)).to.deep.equal(['late', 'later']);
    }));

  it('let a response out that was ended, however late the rest of the body is', () =>
    withClock(async (forward) => {
      const large = Buffer.alloc(20_000_000);
      const { port } = await listening((_request, response) => response.end(large), usual);
      const reader = await stalled(port, `${head('POST /', 'Content-Length: 9')}four`);
      await serverHasRead(port);

      forward(16_000);
      await someChecks();
      reader.socket.resume();

      const [body = ''] = await reader.allBodies();
      expect(body, 'the body of the response').to.have.lengthOf(large.length);
    }));

  it('give a request its time anew, however long its connection was idle', () =>
    withClock(async (forward) => {
      const { open } = await listening(echoTarget, usual);
      const connection = await open(head('GET /'));
      await connection.responses(1);

      forward(60_000);
      connection.send('GET /slow');
      await someChecks();
      connection.send(head(''));

      expect(await connection.bodies(2)).to.deep.equal(['/', '/slow']);
    }));

  it('close an idle connection without a word', async () => {
    const { open } = await listening(echoTarget, {
      limits: { keepAliveTimeout: 50, connectionsCheckingInterval: 10 },
    });
    const connection = await open(head('GET /'));

    expect(await inTime(connection.allBodies())).to.deep.equal(['/']);
  });

  for (const [title, write] of [
    ['cut off a client that does not read its response, though it goes on sending', 'end'],
    ['cut off a client that does not read a part of its response', 'write'],
  ] as const)
    it(title, async () => {
      const limits = { writeTimeout: 500, connectionsCheckingInterval: 10 };
      const { held, port } = await holding({ limits });
      const connection = await stalled(port, head('GET /'));
      const response = await held.nth(0);

      response[write](Buffer.alloc(50_000_000));
      const drip = setInterval(() => connection.send('G'), 5); // sending is not reading
      await inTime(once(response, 'close'));
      clearInterval(drip);
      connection.socket.resume();

      const reason = await connection.closed;
      // With Node.js 22 the client sees an end instead of the reset.
      if (Number(process.versions.node.split('.')[0]) >= 24)
        expect(reason, 'what the operating system holds is dropped').to.equal('ECONNRESET');
    });

  for (const [what, sent] of [
    ['to a malformed request', 'GET / HTTP/1.1\r\n\r\n'],
    ['for a listener that throws', head('GET /')],
  ] as const)
    it(`cut off a client that does not read the response of the server ${what}`, async () => {
      const limits = { lingerTime: 100, writeTimeout: 100, connectionsCheckingInterval: 10 };
      const { port, server } = await listening(throwing, { limits, headers: largeHeaders });
      await stalled(port, sent);

      const closed = server.close(30_000);

      expect(await inTime(closed), 'whether every connection was closed').to.equal(true);
    });

  it('leave a client that reads slowly, but steadily, all the time that it takes', () =>
    withClock(async (forward) => {
      const part = Buffer.alloc(10_000_000);
      const limits = { writeTimeout: 60_000, connectionsCheckingInterval: 5 };
      const { held, port } = await holding({ limits });
      const connection = await stalled(port, head('GET /'));
      let received = 0;
      let enough = 0;
      connection.socket.removeAllListeners('data').on('data', ({ length }: Buffer) => {
        received += length;
        if (received >= enough) connection.socket.pause();
      });
      const response = await held.nth(0);
      response.writeHead(200, { 'Content-Length': 5 * part.length }); // nothing small between the parts
      response.write(part);
      await delay(1); // Node.js writes at once what a listener writes in one turn
      // The operating system holds less than a part, so a further one is always on its way.
      for (let steps = 1; steps <= 4; steps += 1) {
        response.write(part);
        await delay(50); // the limits are checked several times
        forward(40_000);
        await delay(50);
        enough = steps * part.length;
        connection.socket.resume();
        while (response.writableLength > 1.5 * part.length) await delay(1);
        await delay(50);
      }
      expect(response.destroyed, 'whether the steady reader was cut off').to.equal(false);
    }));
});

/** A server that is full when one more connection has come. `finish` shows that its first request was not harmed. */
async function almostFull(maxConnections = 2) {
  const server = await holding({ limits: { maxConnections } });
  const { connection, response } = await server.ask(`${head('POST /', 'Content-Length: 4')}fo`);
  const finish = async (): Promise<void> => {
    response.end('done');
    expect(await connection.bodies(1), 'the response of before').to.deep.equal(['done']);
  };
  return { ...server, finish };
}

describe('A connection beyond the highest number', () => {
  afterEach(closeServers);

  it('closes the one that has waited longest for a request', async () => {
    const { ask, finish, open } = await almostFull(3);
    const slow = await open('GET / HTT');
    const idle = await open();

    const first = await ask(head('GET /'));
    await slow.closed;
    const second = await ask(head('GET /'));
    await idle.closed;

    for (const { connection, response } of [first, second]) {
      response.end('served');
      expect(await connection.bodies(1)).to.deep.equal(['served']);
    }
    await finish();
  });

  type Server = Awaited<ReturnType<typeof almostFull>>;
  const waiting: Readonly<Record<string, (server: Server) => Promise<RawConnection>>> = {
    'is idle after a response': async ({ ask }) => {
      const { connection, response } = await ask(head('GET /'));
      response.end();
      await connection.responses(1);
      return connection;
    },
    'leaves a response unread': async ({ port, held }) => {
      const unread = await stalled(port, head('GET /'));
      (await held.nth(1)).end(Buffer.alloc(50_000_000));
      return unread;
    },
    'pipelines, if every other has a request in work': async ({ ask }) =>
      (await ask(head('GET /').repeat(2))).connection,
  };
  for (const [what, open] of Object.entries(waiting)) {
    it(`closes one that ${what}`, async () => {
      const server = await almostFull();
      const closing = await open(server);

      const { connection, response } = await server.ask(head('GET /'));
      response.end('next');

      expect(await connection.bodies(1)).to.deep.equal(['next']);
      closing.socket.resume();
      await inTime(closing.closed);
      await server.finish();
    });
  }

  it('is none where the client of another has left before its response', async () => {
    const { ask, open } = await almostFull();
    const leaving = await ask(head('GET /'));
    leaving.connection.socket.resetAndDestroy();
    await inTime(once(leaving.response, 'close'));

    const next = await inTime(ask(head('GET /')));

    next.response.end();
    await next.connection.responses(1);
    await open();
    await inTime(next.connection.closed);
  });

  it('is dropped while every other has a request in work', async () => {
    const { held, ask, finish, open } = await almostFull();
    const idle = await open();
    idle.socket.end();
    await inTime(idle.closed);
    await ask(head('GET /'));

    const dropped = await open(head('GET /'));

    await inTime(dropped.closed);
    expect(held.responses, 'requests that reached the listener').to.have.lengthOf(2);
    await finish();
  });
});

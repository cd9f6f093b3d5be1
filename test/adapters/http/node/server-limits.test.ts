import { expect } from 'chai';
import { once } from 'node:events';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpError } from '../../../../src/adapters/http/index.js';
import { serverLimits } from '../../../../src/adapters/http/node/server-limits.js';
import {
  closeServers,
  echoBody,
  echoTarget,
  expectAllAnswered,
  head,
  holding,
  listening,
  post,
} from './listening-server.js';
import { type RawConnection, exchange, expectError, stalled } from './raw-connection.js';

const SHORT = { headersTimeout: 100, requestTimeout: 100 };
const CHUNKED = head('POST /', 'Transfer-Encoding: chunked');
const MiB = 1024 ** 2;
const largeHeaders = () => ({ 'X-Large': 'x'.repeat(50_000_000) });

describe('The limits of the listening server', function () {
  this.timeout(9_000); // less than every default
  afterEach(closeServers);

  it('allow as many connections as a quarter of the memory holds at 192 KiB each', () => {
    const memory = mock.method(process, 'constrainedMemory', () => 256 * MiB);
    const limited = serverLimits().maxConnections;
    memory.mock.restore();

    expect(limited, 'connections of a process with 256 MiB').to.equal(341);
    expect(serverLimits({}, 1_500 * MiB).maxConnections).to.equal(2_000);
  });

  for (const [what, sent, answered] of [
    ['the headers do not end', 'GET / HTTP/1.1\r\nHost: a\r\n', 0],
    ['the headers of a second request do not end', 'GET /', 1],
    ['the body does not end', `${head('POST /', 'Content-Length: 9')}four`, 0],
    ['the last chunk does not come', `${CHUNKED}1\r\na\r\n`, 0],
  ] as const) {
    it(`end the connection with 408 when ${what}`, async () => {
      const { open } = await listening(echoBody, { limits: SHORT });
      const connection = await open(answered > 0 ? post('four') : '');
      await connection.responses(answered);

      connection.send(sent);

      const responses = await connection.allResponses();
      expect(responses).to.have.lengthOf(answered + 1);
      expectError(responses.at(-1), 408, 'request_timeout');
    });
  }

  it('tell a listener that listens for errors that a body is late', async () => {
    const { port } = await listening(
      (request, response) =>
        request.on('error', (error) =>
          response.end(error instanceof HttpError ? error.code : 'unknown'),
        ),
      { limits: SHORT },
    );

    const [response] = await exchange(port, head('POST /', 'Content-Length: 9'));

    expect(response?.body).to.equal('request_timeout');
  });

  // A client would take an unasked response as that to its next request.
  for (const sent of ['', '\r\n', '\r\n\r\n\r\n']) {
    it(`close a connection that sent ${sent.length / 2} empty lines only, without a response`, async () => {
      const { port } = await listening(echoBody, { limits: SHORT });

      expect(await exchange(port, sent)).to.deep.equal([]);
    });
  }

  it("end neither a slow listener's request, nor an idle connection that sent empty lines", async () => {
    const { nth, ask } = await holding({ limits: SHORT });
    const { connection, response } = await ask(post('four'));

    await delay(300);
    response.end('late');
    await connection.responses(1);
    connection.send('\r\n\r\n');
    await delay(300);
    connection.send(head('GET /'));
    (await nth(1)).end('later');

    await connection.expectBodies('late', 'later');
  });

  it('let a client read a whole response although the request body never arrives', async () => {
    const large = Buffer.alloc(20_000_000);
    const { port } = await listening((_request, response) => response.end(large), {
      limits: SHORT,
    });
    const reader = await stalled(port, head('POST /', 'Content-Length: 9'));

    await delay(300);
    reader.socket.resume();

    const [received] = await reader.allResponses();
    expect(received?.body).to.have.lengthOf(large.length);
  });

  it('close an idle connection without a response', async () => {
    const { open } = await listening(echoTarget, { limits: { keepAliveTimeout: 50 } });
    const connection = await open(head('GET /'));

    await connection.expectAllBodies('/');
  });

  it('reset a client that does not read its response, even if it keeps sending', async () => {
    const { nth, port } = await holding({ limits: { writeTimeout: 200 } });
    const connection = await stalled(port, head('GET /'));
    const response = await nth(0);

    response.write(Buffer.alloc(50_000_000));
    const drip = setInterval(() => connection.send('G'), 5);
    await once(response, 'close');
    clearInterval(drip);
    connection.socket.resume();

    const reason = await connection.closed;
    // With Node.js 22 the client sees an end instead of the reset.
    if (Number(process.versions.node.split('.')[0]) >= 24)
      expect(reason, 'what the operating system holds is dropped').to.equal('ECONNRESET');
  });

  it('cut off a client that does not read the response of the server itself', async () => {
    const limits = { writeTimeout: 100 };
    const { port, server } = await listening(echoTarget, { limits, headers: largeHeaders });
    await stalled(port, 'GET / HTTP/1.1\r\n\r\n');

    await expectAllAnswered(server.close(60_000));
  });
});

/** A server that is full when one more connection has come. `finish` shows that its first request was not harmed. */
async function almostFull(maxConnections = 2) {
  const server = await holding({ limits: { maxConnections } });
  const { connection, response } = await server.ask(post('four').slice(0, -1));
  const finish = async (): Promise<void> => {
    response.end('done');
    await connection.expectBodies('done');
  };
  return { ...server, finish };
}

describe('A connection beyond maxConnections', () => {
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
      await connection.expectBodies('served');
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
    'leaves a response unread': async ({ port, nth }) => {
      const unread = await stalled(port, head('GET /'));
      (await nth(1)).end(Buffer.alloc(50_000_000));
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

      await connection.expectBodies('next');
      closing.socket.resume();
      await closing.closed;
      await server.finish();
    });
  }

  it('is dropped while every other has a request in work', async () => {
    const { responses, ask, finish, open } = await almostFull();
    await ask(head('GET /'));

    const dropped = await open(head('GET /'));

    await dropped.closed;
    expect(responses, 'requests that reached the listener').to.have.lengthOf(2);
    await finish();
  });
});

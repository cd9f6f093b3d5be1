import { expect } from 'chai';
import { SERVER_LIMITS } from '../../../../src/adapters/http/node/index.js';
import { Held } from './held-listener.js';
import { closeServers, echoTarget, head, inTime, listening } from './listening-server.js';
import { RawConnection, exchange, expectError } from './raw-connection.js';

const filler = (length: number): string => 'x'.repeat(length);

describe('The bounds of the listening server', () => {
  afterEach(closeServers);

  it('are the ones that were decided', () => {
    expect(SERVER_LIMITS).to.include({
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
      maxHeadersCount: 0,
      maxRequestsPerSocket: 10_000,
      maxConnections: 2_000,
      lingerTime: 1_000,
      lingerBytes: 65_536,
    });
  });

  const short = {
    headersTimeout: 100,
    requestTimeout: 200,
    connectionsCheckingInterval: 20,
    lingerTime: 100,
  };

  const slow: ReadonlyArray<readonly [string, string]> = [
    ['nothing is sent', ''],
    ['the request line does not end', 'GET /'],
    ['the headers do not end', 'GET / HTTP/1.1\r\nHost: a\r\n'],
    ['the body does not end', head('POST /', 'Content-Length: 9') + 'four'],
    ['the body does not begin', head('POST /', 'Content-Length: 9')],
    ['a chunk does not end', head('POST /', 'Transfer-Encoding: chunked') + '9\r\nfour'],
    ['the last chunk does not come', head('POST /', 'Transfer-Encoding: chunked') + '4\r\nfour\r\n'],
  ];
  for (const [what, sent] of slow) {
    it(`answer 408 and end the connection when ${what}`, async () => {
      const { port } = await listening(
        (request, response) => request.resume().on('end', () => response.end('read')),
        { limits: short },
      );
      const answers = await inTime(5_000, exchange(port, sent));
      expect(answers).to.have.lengthOf(1);
      expectError(answers[0], 408, 'request_timeout');
    });
  }

  it('answer 408 for a body that nobody reads, too', async () => {
    const { port } = await listening(() => {}, { limits: short });
    const answers = await inTime(5_000, exchange(port, head('POST /', 'Content-Length: 9')));
    expect(answers).to.have.lengthOf(1);
    expectError(answers[0], 408, 'request_timeout');
  });

  it('are not met by sending a byte at a time', async () => {
    const { port } = await listening(echoTarget, { limits: short });
    const connection = await RawConnection.open(port, 'GET / HTTP/1.1\r\nX: ');
    const drip = setInterval(() => connection.send('x'), 5);
    try {
      expectError((await inTime(5_000, connection.allAnswers()))[0], 408, 'request_timeout');
    } finally {
      clearInterval(drip);
    }
  });

  it('answer 408 for the second request of a connection as for the first', async () => {
    const { port } = await listening(echoTarget, { limits: short });
    const answers = await inTime(5_000, exchange(port, `${head('GET /first')}GET /second HTTP/1.1\r\n`));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 408]);
    expectError(answers[1], 408, 'request_timeout');
  });

  it('let a listener take longer than a request may: they are the client’s', async () => {
    const held = new Held();
    const { port } = await listening(held.listener, { limits: short });
    const connection = await RawConnection.open(port, head('GET /'));
    const other = await RawConnection.open(port);
    await other.allAnswers(); // cut off for its silence, so the other's time is over as well
    (await held.nth(0)).end('late');
    expect((await connection.answers(1))[0]?.body).to.equal('late');
  });

  it('close an unused connection without a word', async () => {
    const { port } = await listening(echoTarget, { limits: { keepAliveTimeout: 50 } });
    const [answer, ...more] = await inTime(5_000, exchange(port, head('GET /')));
    expect(answer?.body).to.equal('/');
    expect(more).to.deep.equal([]);
  });

  const tooLarge: ReadonlyArray<readonly [string, string]> = [
    ['a header', `GET / HTTP/1.1\r\nHost: a\r\nX: ${filler(17_000)}\r\n\r\n`],
    ['a target', `GET /${filler(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['many headers together', head('GET /', ...Array.from({ length: 1_000 }, () => `X: ${filler(20)}`))],
    ['the name of a header', `GET / HTTP/1.1\r\nHost: a\r\n${filler(17_000)}: x\r\n\r\n`],
  ];
  for (const [what, sent] of tooLarge) {
    it(`answer 431 when ${what} is beyond 16 KiB`, async () => {
      const { port } = await listening(echoTarget);
      const answers = await exchange(port, sent);
      expect(answers).to.have.lengthOf(1);
      expectError(answers[0], 431, 'headers_too_large');
    });
  }

  it('answer 431 when the trailers of a body are beyond 16 KiB', async () => {
    const { port } = await listening((request, response) => request.resume().on('end', () => response.end()));
    const answers = await exchange(
      port,
      `${head('POST /', 'Transfer-Encoding: chunked')}0\r\nX: ${filler(17_000)}\r\n\r\n`,
    );
    expect(answers).to.have.lengthOf(1);
    expectError(answers[0], 431, 'headers_too_large');
  });

  it('take 2,500 headers below 16 KiB, and drop none', async () => {
    const { port } = await listening((request, response) => response.end(request.headers['authorization']));
    const sent = head('GET /', ...Array.from({ length: 2_500 }, () => 'a:b'), 'Authorization: Bearer last');
    expect((await (await RawConnection.open(port, sent)).answers(1))[0]?.body).to.equal('Bearer last');
  });

  it('answer 413 for chunk extensions beyond 16 KiB', async () => {
    const { port } = await listening((request, response) => request.resume().on('end', () => response.end()));
    const answers = await exchange(
      port,
      `${head('POST /', 'Transfer-Encoding: chunked')}1;${filler(20_000)}\r\nx\r\n0\r\n\r\n`,
    );
    expect(answers).to.have.lengthOf(1);
    expectError(answers[0], 413, 'payload_too_large');
  });

  it('say Connection: close on the last request that a connection may send, and close it', async () => {
    const targets: Array<string | undefined> = [];
    const { port } = await listening(
      (request, response) => {
        targets.push(request.url);
        response.end();
      },
      { limits: { maxRequestsPerSocket: 2 } },
    );
    const sent = ['/1', '/2', '/3', '/4'].map((target) => head(`GET ${target}`)).join('');
    const answers = await inTime(5_000, exchange(port, sent));
    expect(answers.map(({ headers }) => headers.get('connection'))).to.deep.equal(['keep-alive', 'close']);
    expect(targets).to.deep.equal(['/1', '/2']);
  });

  it('close the connections beyond the number that may be open, and serve the others', async () => {
    const { port } = await listening(echoTarget, { limits: { maxConnections: 2 } });
    const kept = [await RawConnection.open(port), await RawConnection.open(port)];
    const dropped = await RawConnection.open(port);
    await dropped.closed;
    for (const connection of kept) {
      connection.send(head('GET /kept'));
      expect((await connection.answers(1))[0]?.body).to.equal('/kept');
    }
  });
});

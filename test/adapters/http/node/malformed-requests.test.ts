import { expect } from 'chai';
import { Held } from './held-listener.js';
import { closeServers, echoTarget, head, listening } from './listening-server.js';
import { RawConnection, exchange, expectError } from './raw-connection.js';

/** Sends bytes that the listener must not see, and resolves to the one answer. */
const refused = async (sent: string | Buffer): Promise<Parameters<typeof expectError>[0]> => {
  let seen = 0;
  const { port } = await listening((_request, response) => {
    seen += 1;
    response.end();
  });
  const answers = await exchange(port, sent);
  expect(seen, 'requests that reached the listener').to.equal(0);
  expect(answers).to.have.lengthOf(1);
  return answers[0];
};

const get = (...lines: readonly string[]): string => ['GET / HTTP/1.1', ...lines, '', ''].join('\r\n');

describe('A request that no listener gets to see', () => {
  afterEach(closeServers);

  const malformed: ReadonlyArray<readonly [string, string]> = [
    ['has no Host', get()],
    ['has no Host, and is HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['has two Hosts', get('Host: a', 'Host: b')],
    ['has the same Host twice', get('Host: a', 'host: a')],
    ['has a Host with a user', get('Host: evil@a')],
    ['has a Host with a space', get('Host: a b')],
    ['has a Host with a path', get('Host: a/b')],
    ['has a Host with a query', get('Host: a?b')],
    ['has a Host with bytes beyond ASCII', get('Host: \u00e4')],
    ['is HTTP/0.9', 'GET /\r\n\r\n'],
    ['is HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n'],
    ['is HTTP/2.0 in the old spelling', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['begins HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['begins TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['has an unknown method', 'FETCH / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['has a method in lower case', 'get / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['has a space in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['has raw UTF-8 in the target', Buffer.from('GET /ä HTTP/1.1\r\nHost: a\r\n\r\n').toString('latin1')],
    ['has both a length and chunks', get('Host: a', 'Content-Length: 3', 'Transfer-Encoding: chunked')],
    ['has chunks and a length', get('Host: a', 'Transfer-Encoding: chunked', 'Content-Length: 3')],
    ['has two lengths', get('Host: a', 'Content-Length: 3', 'Content-Length: 4')],
    ['has the same length twice', get('Host: a', 'Content-Length: 3', 'Content-Length: 3')],
    ['has a list as length', get('Host: a', 'Content-Length: 3, 3')],
    ['has a length with a sign', get('Host: a', 'Content-Length: +3')],
    ['has a negative length', get('Host: a', 'Content-Length: -1')],
    ['has a length of 20 digits', get('Host: a', `Content-Length: ${'9'.repeat(20)}`)],
    ['has a length in hexadecimal', get('Host: a', 'Content-Length: 0x3')],
    ['has an encoding that is none', get('Host: a', 'Transfer-Encoding: identity')],
    ['has an encoding behind chunked', get('Host: a', 'Transfer-Encoding: chunked, identity')],
    ['has an encoding like chunked', get('Host: a', 'Transfer-Encoding: xchunked')],
    ['has a space before a colon', get('Host: a', 'X : b')],
    ['folds a header', get('Host: a', 'X: b', ' c')],
    ['ends lines by LF alone', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['ends lines by CR alone', 'GET / HTTP/1.1\rHost: a\r\r'],
    ['has a NUL in a header', get('Host: a', 'X: b\0c')],
    ['has a header without a name', get('Host: a', ': b')],
    ['has a header without a colon', get('Host: a', 'X')],
  ];
  for (const [what, sent] of malformed) {
    it(`gets 400 when it ${what}`, async () => {
      expectError(await refused(Buffer.from(sent, 'latin1')), 400, 'malformed_request');
    });
  }

  const fits: ReadonlyArray<readonly [string, string]> = [
    ['is empty', 'Host:'],
    ['has a port', 'Host: localhost:8080'],
    ['is an IPv6 address', 'Host: [::1]:8080'],
    ['is written in capitals', 'HOST: Example.ORG'],
  ];
  for (const [what, host] of fits) {
    it(`is not one whose Host ${what}`, async () => {
      const { port } = await listening(echoTarget);
      expect((await (await RawConnection.open(port, get(host))).answers(1))[0]?.status).to.equal(200);
    });
  }

  for (const expectation of ['foo', '100-continue, foo', '200-ok']) {
    it(`gets 417 when it expects ${expectation}`, async () => {
      const answer = await refused(head('POST /', `Expect: ${expectation}`, 'Content-Length: 3'));
      expectError(answer, 417, 'expectation_failed');
    });
  }

  it('keeps the request id that it sent, where its headers could be read', async () => {
    const answer = await refused(get('Host: a', 'Host: b', 'X-Request-Id: mine'));
    expect(answer?.headers.get('x-request-id')).to.equal('mine');
  });

  it('keeps it when the fault is in the body that its listener reads', async () => {
    const { port } = await listening((request) => void request.resume());
    const sent = `${head('POST /', 'X-Request-Id: mine', 'Transfer-Encoding: chunked')}zz\r\n`;
    expect((await exchange(port, sent)).map(({ headers }) => headers.get('x-request-id'))).to.deep.equal([
      'mine',
    ]);
  });

  it('gets no body in an answer to HEAD, but all of its headers', async () => {
    const { port } = await listening(echoTarget);
    const answers = await exchange(port, 'HEAD / HTTP/1.1\r\n\r\n', ['HEAD']);
    expect(answers.map(({ status, body }) => ({ status, body }))).to.deep.equal([{ status: 400, body: '' }]);
    expect(Number(answers[0]?.headers.get('content-length'))).to.be.above(50);
  });

  it('is told to the log with the request id of its answer, and without its query', async () => {
    const told: object[] = [];
    const { port } = await listening(echoTarget, {
      log: { responded: (request) => told.push(request), failed: () => {} },
    });
    const [answer] = await exchange(port, 'GET /path?secret HTTP/1.1\r\n\r\n');
    const requestId = answer?.headers.get('x-request-id');
    expect(told).to.deep.equal([
      { requestId, method: 'GET', path: '/path', status: 400, code: 'malformed_request', milliseconds: 0 },
    ]);
  });
});

describe('CONNECT', () => {
  afterEach(closeServers);
  const connectRequest = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';

  it('gets 405 with Allow, and an end', async () => {
    const { port } = await listening(echoTarget);
    const answers = await exchange(port, connectRequest);
    expect(answers).to.have.lengthOf(1);
    expectError(answers[0], 405, 'method_not_allowed');
    expect(answers[0]?.headers.get('allow')).to.equal('GET, HEAD, POST, OPTIONS');
  });

  it('does not send what follows it anywhere', async () => {
    let seen = 0;
    const { port } = await listening(() => (seen += 1));
    expect(await exchange(port, connectRequest + head('GET /'))).to.have.lengthOf(1);
    expect(seen).to.equal(0);
  });

  it('does not end the process when its client resets the connection', async () => {
    const { port } = await listening(echoTarget);
    for (let round = 0; round < 20; round += 1) {
      const connection = await RawConnection.open(port, connectRequest);
      if (round % 2 === 0) await connection.answers(1);
      connection.socket.resetAndDestroy();
      await connection.closed;
    }
    // A fault of a connection would have come up before this answer did.
    expect((await (await RawConnection.open(port, head('GET /'))).answers(1))[0]?.status).to.equal(200);
  });

  it('does not end the process when its client resets it while a request before it is answered', async () => {
    const held = new Held();
    const { port } = await listening(held.listener);
    const connection = await RawConnection.open(port, head('GET /'));
    const response = await held.nth(0);
    const { socket } = response.req;
    const gone = new Promise((resolve) => socket.once('close', resolve));
    connection.send(connectRequest);
    const other = await RawConnection.open(port, 'nonsense\r\n\r\n');
    await other.allAnswers(); // by now the server has read CONNECT
    connection.socket.resetAndDestroy();
    response.end('late');
    await gone;
  });
});

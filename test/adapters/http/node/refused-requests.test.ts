import { expect } from 'chai';
import { KeptLog } from '../fixtures.js';
import { closeServers, echoTarget, head, inTime, listening } from './listening-server.js';
import { RawConnection, exchange, expectError } from './raw-connection.js';

describe('A request that the server refuses itself', () => {
  afterEach(closeServers);

  it('is logged once, with the request id of its response and without its query', async () => {
    const log = new KeptLog();
    const { port } = await listening(echoTarget, { log });
    const [response] = await exchange(port, 'GET /path?secret HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n');
    expectError(response, 400, 'malformed_request');
    expect(response?.headers.get('x-request-id')).to.equal('mine');
    const line = { method: 'GET', path: '/path', status: 400, code: 'malformed_request', milliseconds: 0 };
    const client = { clientAddress: '127.0.0.1', userAgent: undefined, traceparent: undefined };
    const bytes = response?.body.length;
    expect(log.lines).to.deep.equal([{ requestId: 'mine', ...line, ...client, bytes, error: undefined }]);
  });

  it('is logged without the user and the password in its target', async () => {
    const log = new KeptLog();
    const { port } = await listening(echoTarget, { log });
    for (const target of [
      'GET http://me:secret@host/a?b',
      'GET ftp://me:secret@host/a',
      'CONNECT me:secret@host:1',
    ])
      await exchange(port, `${target} HTTP/1.1\r\nHost: a b\r\n\r\n`);
    expect(log.lines.map(({ path }) => path)).to.deep.equal(['/a', 'ftp://host/a', 'host:1']);
  });

  it('takes no longer to read for the blanks in a header', async function () {
    this.timeout(10_000); // 8 of them took 40 s
    const { port, server } = await listening(echoTarget, { limits: { lingerTime: 60_000 } });
    const bytes = head('GET /', `X-Request-Id: a${' '.repeat(100_000)}b`);
    for (let count = 0; count < 8; count += 1) {
      const [response] = await exchange(port, bytes);
      expectError(response, 431, 'headers_too_large');
    }
    // The server noticed the end of each client, behind bytes that it did not parse.
    expect(await inTime(server.close(30_000))).to.equal(true);
  });

  it('is not one in HTTP/1.0 that expects anything: that version does not know the header', async () => {
    const { port } = await listening(echoTarget);
    const connection = await RawConnection.open(port, 'GET /old HTTP/1.0\r\nExpect: foo\r\n\r\n');
    await connection.closed;
    expect(connection.received).to.match(/^HTTP\/1\.1 200 [^]*\/old$/);
  });

  it('gets all headers but no body if it is HEAD', async () => {
    const { port } = await listening(echoTarget);
    // A proxy may have used the other Host.
    const connection = await RawConnection.open(port, 'HEAD / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n');
    await connection.closed;
    expect(connection.received).to.match(/^HTTP\/1\.1 400 [^]*Content-Length: [1-9]\d+\r\n[^]*\r\n\r\n$/);
  });
});

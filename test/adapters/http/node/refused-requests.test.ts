import { expect } from 'chai';
import * as fc from 'fast-check';
import { KeptLog } from '../fixtures.js';
import {
  closeServers,
  echoTarget,
  expectAllAnswered,
  head,
  inTime,
  listening,
} from './listening-server.js';
import { RawConnection, exchange, expectError, parseResponses } from './raw-connection.js';

describe('A request that the server refuses itself', () => {
  afterEach(closeServers);

  it('is logged once, with the request id of its response and without its query', async () => {
    const log = new KeptLog();
    const { port } = await listening(echoTarget, { log });
    const [response] = await exchange(
      port,
      'GET /path?secret HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n',
    );
    expectError(response, 400, 'malformed_request');
    expect(response?.headers.get('x-request-id')).to.equal('mine');
    const line = {
      method: 'GET',
      path: '/path',
      status: 400,
      code: 'malformed_request',
      milliseconds: 0,
    };
    const client = { clientAddress: '127.0.0.1', userAgent: undefined, traceparent: undefined };
    const bytes = response?.body.length;
    expect(log.lines).to.deep.equal([
      { requestId: 'mine', ...line, ...client, bytes, error: undefined },
    ]);
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
    await expectAllAnswered(server.close(30_000));
  });

  it('is not one in HTTP/1.0 that expects anything', async () => {
    const { open } = await listening(echoTarget);
    const connection = await open('GET /old HTTP/1.0\r\nExpect: foo\r\n\r\n');
    await connection.closed;
    expect(connection.received).to.match(/^HTTP\/1\.1 200 [^]*\/old$/);
  });

  it('gets all headers but no body if it is HEAD', async () => {
    const { port } = await listening(echoTarget);
    // A proxy may have used the other Host.
    const connection = await RawConnection.open(
      port,
      'HEAD / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n',
    );
    await connection.closed;
    expect(connection.received).to.match(
      /^HTTP\/1\.1 400 [^]*Content-Length: [1-9]\d+\r\n[^]*\r\n\r\n$/,
    );
  });
});

const VALID: readonly string[] = [
  head('GET /'),
  head('HEAD /'),
  head('GET /1') + head('GET /2') + head('GET /3'),
  `${head('POST /', 'Content-Length: 4')}four${head('GET /')}`,
  `${head('POST /', 'Transfer-Encoding: chunked')}4;a=b\r\nfour\r\n0\r\nTrailer: t\r\n\r\n${head('GET /')}`,
  `${head('POST /', 'Expect: 100-continue', 'Content-Length: 4')}four`,
  head('CONNECT a:1'),
  head('GET /', 'Connection: Upgrade', 'Upgrade: websocket') + head('GET /'),
  'GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n',
];
const PIECES = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\r\n\r\n',
  'Host: b\r\n',
  'Content-Length: 9\r\n',
  'ÿ',
];

/** A place in a text, what is inserted there, and how many bytes behind it are removed, or before it repeated. */
const CHANGE = fc.record({
  at: fc.nat(400),
  inserted: fc.oneof(
    fc.constantFrom('', ...PIECES, ...VALID),
    fc.nat(255).map((byte) => String.fromCodePoint(byte)),
  ),
  removed: fc.integer({ min: -4, max: 4 }),
});

/** Valid requests with one to four changes. */
const MUTATED = fc
  .tuple(fc.constantFrom(...VALID), fc.array(CHANGE, { minLength: 1, maxLength: 4 }))
  .map(([valid, changes]) =>
    changes.reduce((text, { at, inserted, removed }) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + inserted + text.slice(Math.max(0, place + removed));
    }, valid),
  );

describe('Hostile bytes', () => {
  afterEach(closeServers);

  // An error that nobody catches, or a rejection, fails it too: in tools/mocha-setup.mjs.
  it('on 600 connections are each answered or cut off in time, and nothing is thrown', async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
    const all = fc.sample(MUTATED, { numRuns: 600, seed });
    const { server, open } = await listening(
      (request, response) => {
        request.resume().on('end', () => response.end(request.method === 'HEAD' ? '' : 'listener'));
      },
      {
        limits: {
          headersTimeout: 100,
          requestTimeout: 150,
          connectionsCheckingInterval: 20,
          keepAliveTimeout: 50,
          lingerTime: 100,
        },
      },
    );
    const one = async (round: number, text: string): Promise<void> => {
      const connection = await open(Buffer.from(text, 'latin1'));
      if (round % 10 === 0) connection.socket.resetAndDestroy();
      else if (round % 10 === 1) connection.socket.end();
      try {
        await inTime(connection.closed);
        expectAllWellFormed(connection.received, text);
      } catch (cause) {
        throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify(text)}`, { cause });
      }
    };
    const rounds = all.entries();
    const worker = async (): Promise<void> => {
      for (const [round, text] of rounds) await one(round, text);
    };
    await Promise.all(Array.from({ length: 50 }, worker));
    // Resolves once no connection is left.
    await expectAllAnswered(server.close(30_000));
  }).timeout(30_000);
});

/** Every response is the listener's, or an error in the interface's shape and the last. */
function expectAllWellFormed(received: string, sent: string): void {
  // Mutated bytes do not tell which of several responses is that to HEAD.
  if (sent.includes('HEAD')) return;
  const { responses } = parseResponses(received);
  for (const [index, response] of responses.entries()) {
    if (response.status === 200) expect(response.body).to.equal('listener');
    else {
      const { code } = JSON.parse(response.body) as { readonly code: string };
      expectError(response, response.status, code);
      expect(index, 'what follows an error that closes').to.equal(responses.length - 1);
    }
  }
}

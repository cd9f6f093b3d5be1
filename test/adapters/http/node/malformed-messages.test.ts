import { expect } from 'chai';
import * as fc from 'fast-check';
import { ApiKeyAuthenticator } from '../../../../src/adapters/api-keys/index.js';
import { createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import { openMemoryStore } from '../../../../src/adapters/memory/index.js';
import { KEY, KeptLog, REX, httpInterface } from '../fixtures.js';
import {
  closeServers,
  echoTarget,
  expectAllAnswered,
  head,
  listening,
  post,
} from './listening-server.js';
import {
  exchange,
  expectError,
  expectStatuses,
  parseResponses,
  type RawResponse,
} from './raw-connection.js';

/** Accepts the key of `BEARER` alone. */
const authenticator = new ApiKeyAuthenticator({ staticKeys: ['any'] });

const HOST = 'Host: a\r\n';
const BEARER = `Authorization: ${KEY.authorization}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;
const LONG = 'a'.repeat(17 * 1024);

/** A create, whole. Behind a message that is refused it must not be executed. */
const CREATE = `POST /v1/pets HTTP/1.1\r\n${HOST}${BEARER}Content-Length: ${REX.length}\r\n\r\n${REX}`;
const LIST = `GET /v1/pets HTTP/1.1\r\n${HOST}${BEARER}`;
const LAST = `${LIST}Connection: close\r\n\r\n`;

const line = (text: string): string => `${text}\r\n${HOST}${BEARER}\r\n`;
const listWith = (header: string): string => `${LIST}${header}\r\n\r\n`;
const createWith = (framing: string, body: string): string =>
  `POST /v1/pets HTTP/1.1\r\n${HOST}${BEARER}${framing}\r\n${body}`;

/** What is not HTTP/1.1 as everybody reads it, by the rule that it breaks. */
const MALFORMED: Readonly<Record<string, readonly string[]>> = {
  'a Host that is missing, there twice or malformed': [
    'GET /v1/pets HTTP/1.1\r\n\r\n',
    `GET /v1/pets HTTP/1.1\r\n${HOST}${HOST}\r\n`,
    'GET /v1/pets HTTP/1.1\r\nHost: evil@example\r\n\r\n',
    'GET http://a/v1/pets HTTP/1.1\r\n\r\n',
  ],
  'another version of HTTP, or another protocol': [
    'GET /v1/pets\r\n\r\n',
    line('GET /v1/pets HTTP/1.2'),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ],
  'a request line that is malformed': [
    line('get /v1/pets HTTP/1.1'),
    line('FETCH /v1/pets HTTP/1.1'),
    line('GET /v1/pets x HTTP/1.1'),
    line('GET /v1/pets/\0 HTTP/1.1'),
  ],
  'a header that is malformed': [
    listWith('X-A : b'),
    listWith('X-A: b\r\n c'),
    listWith('X-A'),
    listWith('X-A: b\rX-C: d'),
    listWith('X-A: b\0c'),
  ],
  'a length that is not one number': [
    createWith('Content-Length: 0\r\nContent-Length: 31\r\n', ''),
    createWith('Content-Length: 26, 26\r\n', REX),
    createWith('Content-Length: +26\r\n', REX),
    createWith('Content-Length: 99999999999999999999\r\n', REX),
  ],
  'a length beside chunks, or another transfer coding': [
    createWith(`Content-Length: 6\r\n${CHUNKED}`, '0\r\n\r\nG'),
    createWith('Transfer-Encoding: chunked, identity\r\n', CHUNKS),
    createWith('Transfer-Encoding: gzip, chunked\r\n', CHUNKS),
    createWith('Transfer-Encoding : chunked\r\n', CHUNKS),
    createWith('Transfer-Encoding:\r\n chunked\r\n', CHUNKS),
  ],
  'chunks that are malformed': [
    createWith(CHUNKED, `zz\r\n${CHUNKS}`),
    createWith(CHUNKED, `-1\r\n${CHUNKS}`),
    createWith(CHUNKED, CHUNKS.replace('\r\n', '\n')),
    createWith(CHUNKED, `5\r\n${REX}\r\n0\r\n\r\n`),
  ],
  'chunks in HTTP/1.0': [
    createWith(CHUNKED, CHUNKS).replace('HTTP/1.1', 'HTTP/1.0'),
    createWith(`${CHUNKED}Connection: keep-alive\r\n`, CHUNKS).replace('HTTP/1.1', 'HTTP/1.0'),
  ],
};

/** What is well-formed, but too large. */
const TOO_LARGE: Readonly<Record<string, readonly [status: number, code: string, bytes: string]>> =
  {
    'headers of 17 KiB': [431, 'headers_too_large', listWith(`X-A: ${LONG}`)],
    'a target of 17 KiB': [431, 'headers_too_large', line(`GET /v1/pets?${LONG} HTTP/1.1`)],
    'trailers of 17 KiB': [
      431,
      'headers_too_large',
      createWith(CHUNKED, CHUNKS.replace(/\r\n$/, `X-A: ${LONG}\r\n\r\n`)),
    ],
    'chunk extensions of 20 KiB': [
      413,
      'payload_too_large',
      createWith(CHUNKED, CHUNKS.replace('\r\n', `;${LONG}aaa\r\n`)),
    ],
  };

describe('The listening service', () => {
  let pets: ReturnType<typeof openMemoryStore>['pets'];
  let send: (bytes: string) => Promise<readonly RawResponse[]>;
  beforeEach(async () => {
    ({ pets } = openMemoryStore());
    const handle = createKoaApp(httpInterface({ pets, authenticator })).callback();
    const { port } = await listening(handle);
    send = (bytes) => exchange(port, Buffer.from(bytes, 'latin1'));
  });
  afterEach(closeServers);

  /** Checks that so many animals are stored. */
  const expectStored = async (count: number): Promise<void> => {
    const stored = await pets.list({ limit: 9 });
    expect(stored).to.have.lengthOf(count);
  };

  for (const [what, messages] of Object.entries(MALFORMED)) {
    it(`refuses ${what}, and executes nothing that follows`, async () => {
      for (const message of messages) {
        const [response, ...others] = await send(message + CREATE);

        expectError(response, 400, 'malformed_request');
        expect(others).to.be.empty;
        await expectStored(0);
      }
    });
  }

  for (const [what, [status, code, bytes]] of Object.entries(TOO_LARGE)) {
    it(`answers ${status} to ${what}, and executes nothing that follows`, async () => {
      const [response, ...others] = await send(bytes + CREATE);

      expectError(response, status, code);
      expect(others).to.be.empty;
      await expectStored(0);
    });
  }

  it('keeps the request id of a request that it refuses', async () => {
    for (const [before, id] of [
      [`GET / HTTP/1.1\r\n${HOST}${HOST}X-Request-Id: hosts\r\n\r\n`, 'hosts'],
      [createWith(`X-Request-Id: chunks\r\n${CHUNKED}`, 'zz\r\n'), 'chunks'],
    ] as const) {
      const [response] = await send(before);
      expect(response?.headers.get('x-request-id')).to.equal(id);
    }
  });

  it('serves HTTP/1.0, also without a Host, as load balancers send it', async () => {
    for (const host of [HOST, '']) {
      const [response] = await send(`GET /v1/pets HTTP/1.0\r\n${host}${BEARER}\r\n`);
      expect(response).to.include({ status: 200, body: '[]' });
      expect(response?.headers.get('connection')).to.equal('close');
    }
  });

  it('ignores empty lines before a request, chunk extensions and trailers', async () => {
    const chunks = CHUNKS.replace('\r\n', ';a=b\r\n').replace(/\r\n$/, 'Authorization: x\r\n\r\n');
    const responses = await send(`\r\n${createWith(CHUNKED, chunks)}${LAST}`);

    expectStatuses(responses, 201, 200);
    await expectStored(1);
  });

  it('answers the requests before one that is malformed, and none behind it', async () => {
    const responses = await send(`${LIST}\r\n${LIST}\r\n${listWith('X-A : b')}${CREATE}`);
    expectStatuses(responses, 200, 200, 400);
    await expectStored(0);
  });

  it('does not take the body of a refused request for a request', async () => {
    const refused = `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: `;
    const whole = await send(`${refused}${CREATE.length}\r\n\r\n${CREATE}${LAST}`);
    expectStatuses(whole, 401, 200);

    const [response, ...others] = await send(`${refused}9999\r\n\r\n${CREATE}`);
    expectError(response, 401, 'missing_api_key');
    expect(others).to.be.empty;
    await expectStored(0);
  });

  it('finds both of two keys around 1,500 other headers', async () => {
    const many = 'A: b\r\n'.repeat(1500);
    const [served] = await send(
      `GET /v1/pets HTTP/1.1\r\n${HOST}${many}${BEARER}Connection: close\r\n\r\n`,
    );
    const [refused] = await send(`${LIST}${many}${BEARER}Connection: close\r\n\r\n`);
    expect(served?.status).to.equal(200);
    expect(refused?.status).to.equal(401);
  });
});

describe('A request that the server refuses itself', () => {
  afterEach(closeServers);

  it('is logged once, with the request id of its response and without its query', async () => {
    const log = new KeptLog();
    const { port } = await listening(echoTarget, { log });

    const [response] = await exchange(
      port,
      'GET /path?secret HTTP/1.1\r\nX-Request-Id: mine\r\nUser-Agent: me\r\n\r\n',
    );

    expectError(response, 400, 'malformed_request');
    expect(response?.headers.get('x-request-id')).to.equal('mine');
    expect(log.lines).to.have.lengthOf(1);
    expect(log.lines[0]).to.include({
      requestId: 'mine',
      method: 'GET',
      path: '/path',
      status: 400,
      code: 'malformed_request',
      clientAddress: '127.0.0.1',
      userAgent: 'me',
      bytes: response?.body.length,
    });
  });

  it('is read quickly, however many blanks a header has', async function () {
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

  it('gets all headers but no body if it is HEAD', async () => {
    const { open } = await listening(echoTarget);

    const connection = await open('HEAD / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n');
    await connection.closed;

    expect(connection.received).to.match(
      /^HTTP\/1\.1 400 [^]*Content-Length: [1-9]\d+\r\n[^]*\r\n\r\n$/,
    );
  });
});

const VALID: readonly string[] = [
  head('GET /'),
  head('GET /1') + head('GET /2') + head('GET /3'),
  post('four') + head('GET /'),
  `${head('POST /', 'Transfer-Encoding: chunked')}4;a=b\r\nfour\r\n0\r\nTrailer: t\r\n\r\n`,
  post('four', 'Expect: 100-continue'),
  head('CONNECT a:1'),
  head('GET /', 'Connection: Upgrade', 'Upgrade: websocket') + head('GET /'),
  'GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n',
];
const PARTS = ['\r\n', '\n', '\r', '\0', ' ', ':', 'Host: b\r\n', 'Content-Length: 9\r\n', 'ÿ'];

/** A place in a text, what is inserted there, and how many bytes behind it are removed, or before it repeated. */
const CHANGE = fc.record({
  at: fc.nat(400),
  inserted: fc.constantFrom('', ...PARTS, ...VALID),
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
  it('on 400 connections are each answered or cut off in time, and nothing is thrown', async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
    const limits = {
      headersTimeout: 100,
      requestTimeout: 150,
      keepAliveTimeout: 50,
      lingerTime: 100,
    };
    const { server, open } = await listening(
      (request, response) => request.resume().on('end', () => response.end('listener')),
      { limits },
    );
    const one = async (text: string, round: number): Promise<void> => {
      const connection = await open(Buffer.from(text, 'latin1'));
      if (round % 10 === 0) connection.socket.resetAndDestroy();
      else if (round % 10 === 1) connection.socket.end();
      try {
        await connection.closed;
        expectAllWellFormed(connection.received);
      } catch (cause) {
        throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify(text)}`, { cause });
      }
    };

    await Promise.all(fc.sample(MUTATED, { numRuns: 400, seed }).map(one));

    // Resolves once no connection is left.
    await expectAllAnswered(server.close(30_000));
  });
});

/** Every response is the listener's, or an error in the interface's shape and the last. */
function expectAllWellFormed(received: string): void {
  const { responses } = parseResponses(received);
  for (const [index, response] of responses.entries()) {
    if (response.status === 200) {
      expect(response.body).to.equal('listener');
    } else {
      const { code } = JSON.parse(response.body) as { readonly code: string };
      expectError(response, response.status, code);
      expect(index, 'what follows an error that closes').to.equal(responses.length - 1);
    }
  }
}

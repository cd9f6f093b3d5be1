import { expect } from 'chai';
import { createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import { openMemoryStore } from '../../../../src/adapters/memory/index.js';
import { KEY, REX, httpInterface } from '../fixtures.js';
import { closeServers, listening } from './listening-server.js';
import { exchange, expectError, type RawResponse } from './raw-connection.js';

const HOST = 'Host: a\r\n';
const BEARER = `Authorization: ${KEY.authorization}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
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
  `POST /v1/pets HTTP/1.1\r\n${HOST}${BEARER}${JSON_TYPE}${framing}\r\n${body}`;

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
    const handle = createKoaApp(httpInterface({ pets })).callback();
    const { port } = await listening((request, response) => void handle(request, response));
    send = (bytes) => exchange(port, Buffer.from(bytes, 'latin1'));
  });
  afterEach(closeServers);

  const stored = async (): Promise<number> => (await pets.list({ limit: 9 })).length;

  for (const [what, messages] of Object.entries(MALFORMED)) {
    it(`refuses ${what}, and executes nothing that follows`, async () => {
      for (const message of messages) {
        const [response, ...others] = await send(message + CREATE);

        expectError(response, 400, 'malformed_request');
        expect([others, await stored()], JSON.stringify(message)).to.deep.equal([[], 0]);
      }
    });
  }

  for (const [what, [status, code, bytes]] of Object.entries(TOO_LARGE)) {
    it(`answers ${status} to ${what}, and executes nothing that follows`, async () => {
      const [response, ...others] = await send(bytes + CREATE);

      expectError(response, status, code);
      expect([others, await stored()]).to.deep.equal([[], 0]);
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

    expect(responses.map(({ status }) => status)).to.deep.equal([201, 200]);
    expect(await stored()).to.equal(1);
  });

  it('answers the requests before one that is malformed, and none behind it', async () => {
    const responses = await send(`${LIST}\r\n${LIST}\r\n${listWith('X-A : b')}${CREATE}`);
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 400]);
    expect(await stored()).to.equal(0);
  });

  it('does not take the body of a refused request for a request', async () => {
    const refused = `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: `;
    const whole = await send(`${refused}${CREATE.length}\r\n\r\n${CREATE}${LAST}`);
    expect(whole.map(({ status }) => status)).to.deep.equal([401, 200]);

    const [response, ...others] = await send(`${refused}9999\r\n\r\n${CREATE}`);
    expectError(response, 401, 'missing_api_key');
    expect([others, await stored()]).to.deep.equal([[], 0]);
  });

  for (const [what, authorization, status, code] of [
    ['without a key', '', 401, 'missing_api_key'],
    ['with a key', BEARER, 413, 'payload_too_large'],
  ] as const) {
    it(`answers ${status} to a body of 1 GB ${what} before any of it is sent`, async () => {
      const length = 'Content-Length: 1000000000\r\n';
      const [response] = await send(
        `POST /v1/pets HTTP/1.1\r\n${HOST}${authorization}${length}\r\n`,
      );
      expectError(response, status, code);
    });
  }

  it('finds both of two keys around 1,500 other headers', async () => {
    const many = 'A: b\r\n'.repeat(1500);
    const [served] = await send(
      `GET /v1/pets HTTP/1.1\r\n${HOST}${many}${BEARER}Connection: close\r\n\r\n`,
    );
    const [refused] = await send(`${LIST}${many}${BEARER}Connection: close\r\n\r\n`);
    expect([served?.status, refused?.status]).to.deep.equal([200, 401]);
  });
});

import { request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { HttpInterface, type HttpInterfaceOptions } from '../../../../src/adapters/http/index.js';
import { createNodeListener } from '../../../../src/adapters/http/node/index.js';
import { httpTests } from '../../../contract/index.js';
import { until } from '../../../until.js';
import {
  KEY,
  KeptLog,
  REX,
  closeHosts,
  failing,
  httpInterface,
  keepAlive,
  sentOutcome,
  startHost,
} from '../fixtures.js';
import { closeServers, head, listening } from './listening-server.js';
import { RawConnection, exchange } from './raw-connection.js';

describe('createNodeListener', () =>
  httpTests({
    describe,
    it,
    layers: ['transport', 'socket'],
    async open(options) {
      const handle = createNodeListener(new HttpInterface(options));
      const { port } = await listening(handle);
      return { url: `http://127.0.0.1:${port}`, close: closeServers };
    },
  }));

/** What a host does before the listener, such as looking up a session or parsing a body. */
type Before = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

const log = new KeptLog();
const { lines } = log;

const behind = (before: Before, options: Partial<HttpInterfaceOptions> = {}): Promise<string> => {
  const listener = createNodeListener(httpInterface({ log, ...options }));
  return startHost(async (request, response) => {
    await before(request, response);
    await listener(request, response);
  });
};

const CREATE: RequestInit = { method: 'POST', headers: KEY, body: new TextEncoder().encode(REX) };

/** The outcome of a list at a server, or of another request for the animals. */
const outcomeAt = (url: string, request: RequestInit = { headers: KEY }): Promise<string> =>
  sentOutcome(fetch(`${url}/v1/pets`, request));

/** Reads the body as a host's parser does, and keeps what `kept` makes of it. */
const parsing =
  (kept: (bytes: Buffer) => object): Before =>
  async (request) =>
    Object.assign(request, kept(await buffer(request)));

describe('createNodeListener in a program on node:http', () => {
  keepAlive();
  beforeEach(() => void lines.splice(0));
  afterEach(closeServers);
  afterEach(closeHosts);

  it('ends the request of a client that disconnected before it was called', async () => {
    const gone = Promise.withResolvers<void>();
    const url = await behind((_request, response) => {
      response.once('close', gone.resolve);
      client.destroy();
      return gone.promise;
    });
    const headers = { ...KEY, 'content-length': '100' };
    const client = send(`${url}/v1/pets`, { method: 'POST', headers });
    client.on('error', () => {});

    client.write('{');
    await until('it is logged', () => lines.length > 0);

    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ status: 408, error: undefined });
  });

  it('uses the headers that the host has set, and not those that it has removed', async () => {
    const set = await behind(async ({ headers }) => void Object.assign(headers, KEY));
    const twice = head('GET /v1/pets', 'Authorization: a', 'Authorization: b', 'Connection: close');
    const [response] = await exchange(Number(new URL(set).port), twice);
    expect(response?.status, 'status with the headers of the host').to.equal(200);

    const removed = await behind(async ({ headers }) => void delete headers.authorization);
    expect(await outcomeAt(removed)).to.equal('401 missing_api_key');
  });

  it('adds to the Vary of the host', async () => {
    const url = await behind(
      async (_request, response) => response.setHeader('Vary', 'Accept-Encoding'),
      { settings: { corsOrigins: ['https://a.example'] } },
    );

    const { headers } = await fetch(`${url}/v1/pets`, { headers: KEY });

    expect(headers.get('vary')).to.equal('Accept-Encoding, Origin');
  });

  const kinds: Readonly<Record<string, Before>> = {
    'bytes in rawBody': parsing((bytes) => ({ rawBody: bytes, body: { parsed: true } })),
    'text in rawBody': async (request) =>
      Object.assign(request.setEncoding('utf8'), { rawBody: await text(request) }),
    'bytes in body': parsing((bytes) => ({ body: bytes })),
  };
  for (const [what, parse] of Object.entries(kinds)) {
    it(`uses a body that the host has read and kept as ${what}`, async () => {
      const url = await behind(parse, { settings: { bodyLimit: REX.length } });
      expect(await outcomeAt(url, CREATE)).to.equal('201');
      const larger = { ...CREATE, body: new TextEncoder().encode(`${REX} `) };
      expect(await outcomeAt(url, larger)).to.equal('413 payload_too_large');
      expect(await outcomeAt(url, { ...CREATE, body: '' })).to.equal('400 missing_body');
    });
  }

  it('logs what to do if the host has read a body and kept only its value', async () => {
    const url = await behind(parsing(() => ({ body: { parsed: true } })));

    expect(await outcomeAt(url, CREATE)).to.equal('500 internal_error');
    expect(String(lines[0]?.error)).to.match(/A body parser .* rawBody\./);
    expect(await outcomeAt(url, { ...CREATE, body: null })).to.equal('400 missing_body');
  });

  it('survives a malformed body, and keeps a connection after a refused body in chunks', async () => {
    const url = await startHost(createNodeListener(httpInterface()));
    const port = Number(new URL(url).port);
    const key = `Authorization: ${KEY.authorization}`;
    const create = head('POST /v1/pets', key, 'Transfer-Encoding: chunked');
    await exchange(port, `${create}ZZ\r\n`);
    const connection = await RawConnection.open(port);

    connection.send(`${create}80000\r\n${'x'.repeat(0x80000)}\r\n0\r\n\r\n`);
    connection.send(head('GET /v1/pets', key));

    const [refused, served] = await connection.responses(2);
    expect(refused?.status).to.equal(413);
    expect(served?.status).to.equal(200);
  });

  it('passes failures to next if passFailures is set, and never passes refusals', async () => {
    const failure = new Error('the disk is full');
    const http = httpInterface({ animalStore: failing(failure) });
    for (const passFailures of [true, false]) {
      const listener = createNodeListener(http, { passFailures });
      const passed: unknown[] = [];
      const url = await startHost(async (request, response) => {
        await listener(request, response, (error) => passed.push(error));
        if (!response.writableEnded) response.writeHead(500).end('{"code":"internal_error"}');
      });

      expect(await outcomeAt(url)).to.equal('500 internal_error');
      expect(await sentOutcome(fetch(`${url}/v1/orders`, CREATE))).to.match(/^404/);
      expect(passed).to.deep.equal(passFailures ? [failure] : []);
    }
  });
});

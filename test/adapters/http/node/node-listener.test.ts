import { request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import Koa from 'koa';
import {
  HttpInterface,
  type HttpInterfaceOptions,
  type HttpLog,
} from '../../../../src/adapters/http/index.js';
import { animalStoreRouter, createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import { createNodeListener } from '../../../../src/adapters/http/node/index.js';
import { KEY, KeptLog, REX, failing, httpInterface, keepAlive, sentOutcome } from '../fixtures.js';
import { httpTests } from '../../../contract/index.js';
import { closeServers, head, listening, serve } from './listening-server.js';
import { RawConnection, exchange } from './raw-connection.js';

describe('createNodeListener', () =>
  httpTests({
    describe,
    it,
    layers: ['transport', 'socket'],
    async open(options) {
      const handle = createNodeListener(new HttpInterface(options));
      const { port } = await listening((request, response) => void handle(request, response));
      return { url: `http://127.0.0.1:${port}`, close: closeServers };
    },
  }));

/** What a host does before the listener, such as looking up a session or parsing a body. */
type Before = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

const log = new KeptLog();
const { lines } = log;

const behind = (before: Before, options: Partial<HttpInterfaceOptions> = {}): Promise<string> => {
  const listener = createNodeListener(httpInterface({ log, ...options }));
  return serve((request, response) =>
    before(request, response).then(() => listener(request, response)),
  );
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

describe('createNodeListener as a guest', () => {
  keepAlive();
  beforeEach(() => void lines.splice(0));
  afterEach(closeServers);

  for (const method of ['GET', 'POST']) {
    it(`ends the ${method} of a client that disconnected before it was called`, async () => {
      const gone = Promise.withResolvers<void>();
      const url = await behind((_request, response) => {
        response.once('close', gone.resolve);
        client.destroy();
        return gone.promise;
      });
      const headers = { ...KEY, 'content-length': method === 'POST' ? '100' : '0' };
      const client = send(`${url}/v1/pets`, { method, headers }).on('error', () => {});

      client.write('{');
      while (lines.length === 0) await delay(5);

      expect(lines, 'what was logged').to.have.lengthOf(1);
      expect(lines[0]).to.include({ status: 408, error: undefined });
    });
  }

  it('uses the headers that the host has set, and not those that it has removed', async () => {
    const set = await behind(async ({ headers }) => void Object.assign(headers, KEY));
    const twice = head('GET /v1/pets', 'Authorization: a', 'Authorization: b', 'Connection: close');
    const [response] = await exchange(Number(new URL(set).port), twice);
    expect(response?.status, 'status with the headers of the host').to.equal(200);

    const removed = await behind(async ({ headers }) => void delete headers.authorization);
    expect(await outcomeAt(removed)).to.equal('401 missing_api_key');
  });

  const kinds: Readonly<Record<string, (bytes: Buffer) => object>> = {
    'bytes in rawBody': (bytes) => ({ rawBody: bytes, body: { parsed: true } }),
    'text in rawBody': (bytes) => ({ rawBody: bytes.toString() }),
    'bytes in body': (bytes) => ({ body: bytes }),
  };
  for (const [what, kept] of Object.entries(kinds)) {
    it(`uses a body that the host has read and kept as ${what}`, async () => {
      const url = await behind(parsing(kept), { settings: { bodyLimit: REX.length } });
      expect(await outcomeAt(url, CREATE)).to.equal('201');
      const larger = { ...CREATE, body: new TextEncoder().encode(`${REX} `) };
      expect(await outcomeAt(url, larger)).to.equal('413 payload_too_large');
    });
  }

  it('says at once what to do where the host has read a body and kept its value only', async () => {
    const url = await behind(parsing(() => ({ body: { parsed: true } })));

    const response = await fetch(`${url}/v1/pets`, CREATE);

    expect(response.status).to.equal(500);
    const text = await response.text();
    expect(text).to.match(/"code":"internal_error","message":"A body parser .* rawBody\."/);
    expect(String(lines[0]?.error)).to.match(/body parser/);
    expect(await outcomeAt(url, { ...CREATE, body: null })).to.equal('400 missing_body');
  });

  it('refuses a body that the host has made text of', async () => {
    const url = await behind(async (request) => request.setEncoding('utf8'));
    expect(await outcomeAt(url, CREATE)).to.equal('500 internal_error');
  });

  it('leaves a response that the host has given', async () => {
    const listener = createNodeListener(httpInterface());
    const url = await serve((request, response) => {
      response.writeHead(202).write('of ');
      void listener(request, response).then(() => response.end('the host'));
    });

    const response = await fetch(`${url}/v1/pets`, { headers: KEY });

    expect(await response.text()).to.equal('of the host');
  });

  it('says no length of the body that a 304 does not have', async () => {
    const url = await serve(createNodeListener(httpInterface()));

    const response = await fetch(`${url}/openapi.json`, { headers: { 'If-None-Match': '*' } });

    expect(response.status).to.equal(304);
    expect(response.headers.get('content-length')).to.equal(null);
  });

  it('ends the connection if a header of the response is not valid', async () => {
    const http = httpInterface();
    http.handle = async () => ({ status: 200, headers: { 'X-A': 'two\nlines' }, body: '' });
    const url = await serve(createNodeListener(http));
    expect(await fetch(url).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
  });

  it('survives a malformed body, and keeps a connection after a refused body in chunks', async () => {
    const url = await serve(createNodeListener(httpInterface({ settings: { bodyLimit: 10 } })));
    const port = Number(new URL(url).port);
    const key = `Authorization: ${KEY.authorization}`;
    const chunked = [key, 'Transfer-Encoding: chunked'];
    await exchange(port, `${head('POST /v1/pets', ...chunked)}ZZ\r\n`);
    const connection = await RawConnection.open(port);
    const body = `${(400_000).toString(16)}\r\n${'x'.repeat(400_000)}\r\n0\r\n\r\n`;
    for (const type of ['application/json', 'text/plain'])
      connection.send(
        head('POST /v1/pets', ...chunked, `Content-Type: ${type}`) +
          body +
          head('GET /v1/pets', key),
      );
    const statuses = (await connection.responses(4)).map(({ status }) => status);
    expect(statuses).to.deep.equal([413, 200, 415, 200]);
  });

  it('returns a promise that ends with the response, and has two parameters', async () => {
    const listener = createNodeListener(httpInterface());
    const ended = Promise.withResolvers<boolean>();
    const url = await serve((request, response) => {
      void listener(request, response).then(() => ended.resolve(response.writableEnded));
    });
    expect(await outcomeAt(url)).to.equal('200');
    expect([await ended.promise, listener.length]).to.deep.equal([true, 2]);
  });

  it('logs a response once it is written, before anything else happens, as Koa does', async () => {
    let current: ServerResponse | undefined;
    const order: unknown[] = [];
    const ordered: HttpLog = {
      responded: ({ status }) => order.push([status, current?.writableEnded]),
    };
    const http = httpInterface({ log: ordered });
    const mounted = new Koa().use(animalStoreRouter(http).routes());
    for (const [title, listener] of [
      ['the listener', createNodeListener(http)],
      ['the application', createKoaApp(http).callback()],
      ['the router', mounted.callback()],
    ] as const) {
      order.length = 0;
      const url = await serve((request, response) => {
        current = response;
        response.once('close', () => order.push('closed'));
        return listener(request, response);
      });
      for (const headers of [KEY, {}]) await (await fetch(`${url}/v1/pets`, { headers })).text();
      expect(order, title).to.deep.equal([[200, true], 'closed', [401, true], 'closed']);
    }
  });

  it('passes faults to next if it is told to and there is a next, but no refusals', async () => {
    const fault = new Error('the disk is full');
    const http = httpInterface({ animalStore: failing(fault) });
    const passing = createNodeListener(http, { passFaults: true });
    const usual = createNodeListener(http);
    for (const [listener, hasNext, faults] of [
      [passing, true, [fault]],
      [passing, false, []],
      [usual, true, []],
    ] as const) {
      const passed: unknown[] = [];
      const url = await serve((request, response) => {
        const next = (error: unknown): void => {
          passed.push(error);
          response.writeHead(500).end('{"code":"internal_error"}');
        };
        void (hasNext ? listener(request, response, next) : listener(request, response));
      });
      expect(await outcomeAt(url)).to.equal('500 internal_error');
      expect(await sentOutcome(fetch(`${url}/v1/pets/1`, { headers: KEY }))).to.equal(
        '404 pet_not_found',
      );
      expect(passed).to.deep.equal(faults);
    }
  });
});

/* oxlint-disable typescript/no-misused-promises -- listeners that reject are what is tried here */
import { expect } from 'chai';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { HttpError } from '../../../../src/adapters/http/index.js';
import { createNodeListener } from '../../../../src/adapters/http/node/index.js';
import { KEY, KeptLog, httpInterface } from '../fixtures.js';
import {
  closeServers,
  head,
  holding,
  inTime,
  listening,
  serverHasRead,
} from './listening-server.js';
import { RawConnection, exchange, expectError, parseResponses } from './raw-connection.js';

const chunked = (...lines: readonly string[]): string =>
  head('POST /v1/pets', 'Transfer-Encoding: chunked', ...lines);

describe('A listener', () => {
  afterEach(closeServers);
  const fault = new Error('secret');

  it('knows the address of a client that has gone', async () => {
    const { held, port } = await holding();
    const connection = await RawConnection.open(port, head('GET /'));
    const response = await held.nth(0);
    connection.socket.resetAndDestroy();
    await inTime(once(response, 'close'));
    expect(response.req.socket.remoteAddress).to.equal('127.0.0.1');
  });

  it('that sets timeouts is not hurried by them', async () => {
    const { port } = await listening((request, response) => {
      for (const each of [request, response, request.socket]) each.setTimeout(1);
      setTimeout(() => response.end('done'), 1); // after the timers of before
    });
    const [response] = await exchange(port, head('GET /', 'Connection: close'));
    expect(response?.body).to.equal('done');
  });

  const failing: Readonly<Record<string, RequestListener>> = {
    throws: () => {
      throw fault;
    },
    rejects: () => Promise.reject(fault),
  };
  for (const [how, listener] of Object.entries(failing)) {
    it(`that ${how} before it responds makes the response 500, and its error is logged`, async () => {
      const log = new KeptLog();
      const { port } = await listening(listener, { log });
      const [response] = await exchange(port, head('GET /', 'X-Request-Id: mine'));
      expectError(response, 500, 'internal_error');
      expect(response?.body).to.include('mine').and.not.include('secret');
      expect(log.lines[0]).to.include({ requestId: 'mine', error: fault });
      expect(log.lines.map(({ status }) => status)).to.deep.equal([500]);
    });
  }

  it('that rejects after it began to respond has its connection cut, and keeps it if it had ended', async () => {
    const log = new KeptLog();
    const rejecting: RequestListener = async ({ url }, response) => {
      if (url === '/done') response.end('done');
      else response.writeHead(200, { 'Content-Length': 9 }).write('half');
      throw fault;
    };
    const { port } = await listening(rejecting, { log });
    const connection = await RawConnection.open(port, head('GET /done') + head('GET /'));
    await connection.closed;
    expect(log.failures).to.deep.equal([fault, fault]);
    expect(parseResponses(connection.received).responses.map(({ body }) => body)).to.deep.equal([
      'done',
    ]);
  });

  it('that lets the error of a malformed body out has the server respond', async () => {
    const log = new KeptLog();
    const { port } = await listening(
      async (request) => {
        for await (const _ of request); // ends by destroying the request, which has no socket then
      },
      { log },
    );
    const [response] = await exchange(port, `${chunked()}ZZ\r\n`);
    expectError(response, 400, 'malformed_request');
    expect(log.lines.map(({ status }) => status)).to.deep.equal([400]);
  });

  it('that began to respond before its body turns out malformed has its connection cut', async () => {
    const { port } = await listening((request, response) =>
      response.write('half', () => request.resume()),
    );
    const connection = await RawConnection.open(port, `${chunked()}ZZ\r\n`);
    await connection.closed;
    expect(connection.received).to.match(/half\r\n$/);
  });

  it('that responds after the server refused the body does no harm', async () => {
    const responded = Promise.withResolvers<void>();
    const { port } = await listening((request, response) => {
      request.resume();
      response.once('close', () => {
        response.writeHead(200).end('late');
        responded.resolve();
      });
    });
    const responses = await exchange(port, `${chunked()}ZZ\r\n`);
    expect(responses, 'responses to one request').to.have.lengthOf(1);
    expectError(responses[0], 400, 'malformed_request');
    await responded.promise;
  });

  const malformed: Readonly<Record<string, readonly [string, boolean]>> = {
    malformed: [`${chunked()}ZZ\r\n`, false],
    'malformed and the last that its client sends': [`${chunked()}ZZ\r\n`, true],
    'shorter than its Content-Length': [`${head('POST /', 'Content-Length: 9')}four`, true],
  };
  for (const [what, [sent, isEnd]] of Object.entries(malformed)) {
    it(`learns from the error of the request that a body is ${what}, and responds itself`, async () => {
      const { port } = await listening((request, response) => {
        request.resume().on('error', async (error) => {
          await serverHasRead(port);
          response.end(error instanceof HttpError ? error.code : 'unknown');
        });
      });
      const connection = await RawConnection.open(port, '', true);
      if (isEnd) connection.socket.end(sent);
      else connection.send(sent);
      expect((await connection.allResponses()).map(({ body }) => body)).to.deep.equal([
        'malformed_request',
      ]);
    });
  }

  it('has its interface answer and log a create whose body turns out malformed exactly once', async () => {
    const log = new KeptLog();
    const { port } = await listening(createNodeListener(httpInterface({ log })), { log });
    const connection = await RawConnection.open(
      port,
      chunked(`Authorization: ${KEY.authorization}`),
    );
    for (const body of ['1\r\n{\r\n', 'ZZ\r\n']) {
      await new Promise(setImmediate);
      connection.send(body);
    }
    const [response, ...more] = await connection.allResponses();
    expectError(response, 400, 'malformed_request');
    expect(more).to.deep.equal([]);
    const requestId = response?.headers.get('x-request-id');
    expect(log.lines.map((line) => [line.requestId, line.status])).to.deep.equal([
      [requestId, 400],
    ]);
  });

  for (const [method, key, status] of [
    ['POST /v1/pets', true, 400],
    ['POST /v1/pets', false, 401],
    ['POST /v1/none', true, 404],
    ['GET /v1/pets', true, 200],
  ] as const) {
    it(`has its interface answer and log ${method} once by ${status}, though what follows is malformed`, async () => {
      const log = new KeptLog();
      const { port } = await listening(createNodeListener(httpInterface({ log })), { log });
      const lines = key ? [`Authorization: ${KEY.authorization}`] : [];
      const responses = await exchange(
        port,
        `${head(method, 'Transfer-Encoding: chunked', ...lines)}ZZ\r\n`,
      );
      expect(responses.map((response) => response.status)).to.deep.equal([status]);
      expect(log.lines.map((line) => line.status)).to.deep.equal([status]);
    });
  }

  it('that ends the socket without a response has its connection closed', async () => {
    const closed = Promise.withResolvers<void>();
    const ending: RequestListener = ({ socket }, response) => {
      response.once('close', closed.resolve);
      socket.end();
    };
    const { port } = await listening(ending, { limits: { lingerTime: 50 } });
    await RawConnection.open(port, head('GET /'), true);
    await inTime(closed.promise);
  });
});

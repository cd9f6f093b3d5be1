/* oxlint-disable typescript/no-misused-promises -- listeners that reject are what is tried here */
import { expect } from 'chai';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { HttpError } from '../../../../src/adapters/http/index.js';
import { NodeServer, createNodeListener } from '../../../../src/adapters/http/node/index.js';
import { KEY, KeptLog, httpInterface } from '../fixtures.js';
import {
  closeServers,
  head,
  holding,
  inTime,
  listening,
  serverHasRead,
} from './listening-server.js';
import { exchange, expectError, parseResponses } from './raw-connection.js';

const chunked = (...lines: readonly string[]): string =>
  head('POST /v1/pets', 'Transfer-Encoding: chunked', ...lines);
const MALFORMED = `${chunked()}ZZ\r\n`;

const reading: RequestListener = async (request) => {
  for await (const _ of request); // ends by destroying the request, which has no socket then
};

describe('A listener', () => {
  afterEach(closeServers);
  const fault = new Error('secret');

  it('knows the address of a client that has gone', async () => {
    const { ask } = await holding();
    const { connection, response } = await ask(head('GET /'));

    connection.socket.resetAndDestroy();
    await inTime(once(response, 'close'));

    expect(response.req.socket.remoteAddress).to.equal('127.0.0.1');
  });

  it('must be a function: an application is not', () => {
    const app = { callback() {} } as unknown as RequestListener;

    expect(() => new NodeServer(app)).to.throw(TypeError, 'The listener must be a function');
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
    it(`that ${how} before it responds gets a 500, and its error is logged`, async () => {
      const log = new KeptLog();
      const { port } = await listening(listener, { log });

      const [response] = await exchange(port, head('GET /', 'X-Request-Id: mine'));

      expectError(response, 500, 'internal_error');
      expect(response?.body).to.include('mine').and.not.include('secret');
      expect(log.lines[0]).to.include({ requestId: 'mine', error: fault });
      expect(log.lines.map(({ status }) => status)).to.deep.equal([500]);
    });
  }

  it('that rejects in the middle of a response has its connection cut, but not after it', async () => {
    const log = new KeptLog();
    const rejecting: RequestListener = async ({ url }, response) => {
      if (url === '/done') response.end('done');
      else response.writeHead(200, { 'Content-Length': 9 }).write('half');
      throw fault;
    };
    const { open } = await listening(rejecting, { log });

    const connection = await open(head('GET /done') + head('GET /'));
    await connection.closed;

    expect(log.failures).to.deep.equal([fault, fault]);
    const { responses } = parseResponses(connection.received);
    expect(responses.map(({ body }) => body)).to.deep.equal(['done']);
  });

  it('that lets the error of a malformed body out has the server respond', async () => {
    const log = new KeptLog();
    const { port } = await listening(reading, { log });

    const [response] = await exchange(port, MALFORMED);

    expectError(response, 400, 'malformed_request');
    expect(log.lines.map(({ status }) => status)).to.deep.equal([400]);
  });

  it('that has begun to respond to a malformed body has its connection cut', async () => {
    const { open } = await listening((request, response) =>
      response.write('half', () => request.resume()),
    );

    const connection = await open(MALFORMED);
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

    const responses = await exchange(port, MALFORMED);

    expect(responses, 'responses to one request').to.have.lengthOf(1);
    expectError(responses[0], 400, 'malformed_request');
    await responded.promise;
  });

  const SHORT = `${head('POST /', 'Content-Length: 9')}four`;
  for (const [what, method, sent, wait] of [
    ['malformed', 'write', MALFORMED, undefined],
    ['malformed and the last that its client sends', 'end', MALFORMED, undefined],
    ['shorter than its Content-Length', 'end', SHORT, undefined],
    ['shorter than its Content-Length, also if it reads later', 'end', SHORT, serverHasRead],
  ] as const)
    it(`hears that a body is ${what}, and responds itself`, async () => {
      const { port, open } = await listening(async (request, response) => {
        await wait?.(port);
        request.resume().on('error', async (error) => {
          await serverHasRead(port);
          response.end(error instanceof HttpError ? error.code : 'unknown');
        });
      });
      const connection = await open('', true);

      connection.socket[method](sent);

      expect(await connection.allBodies()).to.deep.equal(['malformed_request']);
    });

  it('has its interface answer and log a create with a malformed body once', async () => {
    const log = new KeptLog();
    const { open } = await listening(createNodeListener(httpInterface({ log })), { log });
    const headers = chunked(`Authorization: ${KEY.authorization}`);
    const connection = await open(headers);

    for (const body of ['1\r\n{\r\n', 'ZZ\r\n']) {
      await new Promise(setImmediate);
      connection.send(body);
    }

    const responses = await connection.allResponses();
    expect(responses, 'responses to one request').to.have.lengthOf(1);
    expectError(responses[0], 400, 'malformed_request');
    expect(log.lines, 'what was logged').to.have.lengthOf(1);
    const requestId = responses[0]?.headers.get('x-request-id');
    expect(log.lines[0]).to.include({ requestId, status: 400 });
  });

  it('that does not read a malformed body responds as to any other', async () => {
    const log = new KeptLog();
    const { port, ask } = await holding({ log });
    const { connection, response } = await ask(MALFORMED);
    await serverHasRead(port);

    response.end('unread');

    expect(await connection.allBodies()).to.deep.equal(['unread']);
    const paths = log.lines.map(({ path }) => path);
    expect(paths, 'requests that the server logged').to.not.include('/v1/pets');
  });

  it('that ends the socket without a response has its connection closed', async () => {
    const closed = Promise.withResolvers<void>();
    const ending: RequestListener = ({ socket }, response) => {
      response.once('close', closed.resolve);
      socket.end();
    };
    const { open } = await listening(ending, { limits: { lingerTime: 50 } });

    await open(head('GET /'), true);

    await inTime(closed.promise);
  });
});

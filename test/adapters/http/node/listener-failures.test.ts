/* oxlint-disable typescript/no-misused-promises -- listeners that reject are what is tried here */
import { expect } from 'chai';
import type { RequestListener } from 'node:http';
import { HttpError } from '../../../../src/adapters/http/index.js';
import { createNodeListener } from '../../../../src/adapters/http/node/index.js';
import { KEY, KeptLog, httpInterface } from '../fixtures.js';
import { closeServers, head, holding, listening, serverHasRead } from './listening-server.js';
import { bodiesOf, exchange, expectError, parseResponses } from './raw-connection.js';

const CHUNKED = head('POST /', 'Transfer-Encoding: chunked');

describe('A listener', () => {
  afterEach(closeServers);
  const failure = new Error('secret');

  const failing: Readonly<Record<string, RequestListener>> = {
    throws: () => {
      throw failure;
    },
    rejects: () => Promise.reject(failure),
  };
  for (const [how, listener] of Object.entries(failing)) {
    it(`that ${how} before it responds gets a 500, and its error is logged`, async () => {
      const log = new KeptLog();
      const { port } = await listening(listener, { log });

      const [response] = await exchange(port, head('GET /', 'X-Request-Id: mine'));

      expectError(response, 500, 'internal_error');
      expect(response?.body).to.include('mine').and.not.include('secret');
      expect(log.lines).to.have.lengthOf(1);
      expect(log.lines[0]).to.include({ requestId: 'mine', status: 500, error: failure });
    });
  }

  it('that rejects in the middle of a response has its connection cut, but not after it', async () => {
    const log = new KeptLog();
    const rejecting: RequestListener = async ({ url }, response) => {
      if (url === '/done') response.end('done');
      else response.writeHead(200, { 'Content-Length': 9 }).write('half');
      throw failure;
    };
    const { open } = await listening(rejecting, { log });

    const connection = await open(head('GET /done') + head('GET /'));
    await connection.closed;

    expect(log.failures).to.deep.equal([failure, failure]);
    const { responses } = parseResponses(connection.received);
    expect(bodiesOf(responses)).to.deep.equal(['done']);
  });

  it('that does not listen for errors has the server respond to a malformed body, once', async () => {
    const log = new KeptLog();
    const closed = Promise.withResolvers<void>();
    const { port, open } = await listening(
      (_request, response) =>
        response.once('close', () => {
          response.writeHead(200).end('late'); // does no harm
          closed.resolve();
        }),
      { log },
    );
    const connection = await open(CHUNKED);
    await serverHasRead(port);

    connection.send('ZZ\r\n');

    const responses = await connection.allResponses();
    expect(responses).to.have.lengthOf(1);
    expectError(responses[0], 400, 'malformed_request');
    expect(log.lines.filter(({ method }) => method === 'POST')).to.have.lengthOf(1);
    await closed.promise;
  });

  for (const [what, headers, rest] of [
    ['malformed', CHUNKED, 'ZZ\r\n'],
    ['shorter than its Content-Length', head('POST /', 'Content-Length: 9'), 'four'],
  ] as const) {
    it(`hears that a body is ${what}, and responds itself`, async () => {
      const { ask, port } = await holding();
      const { connection, response } = await ask(headers, true);
      response.req.resume().on('error', async (error) => {
        await serverHasRead(port);
        response.end(error instanceof HttpError ? error.code : 'unknown');
      });

      connection.socket.end(rest);

      await connection.expectAllBodies('malformed_request');
    });
  }

  it('has its interface answer and log a create with a malformed body once', async () => {
    const log = new KeptLog();
    const { open } = await listening(createNodeListener(httpInterface({ log })), { log });
    const key = `Authorization: ${KEY.authorization}`;
    const connection = await open(head('POST /v1/pets', 'Transfer-Encoding: chunked', key));

    for (const part of ['1\r\n{\r\n', 'ZZ\r\n']) {
      await new Promise(setImmediate);
      connection.send(part);
    }

    const responses = await connection.allResponses();
    expect(responses).to.have.lengthOf(1);
    expectError(responses[0], 400, 'malformed_request');
    const requestId = responses[0]?.headers.get('x-request-id');
    expect(log.lines).to.have.lengthOf(1);
    expect(log.lines[0]).to.include({ requestId, status: 400 });
  });
});

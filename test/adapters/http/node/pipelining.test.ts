import { expect } from 'chai';
import * as fc from 'fast-check';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  closeServers,
  echoBody,
  echoTarget,
  head,
  holding,
  listening,
  post,
  serverHasRead,
} from './listening-server.js';
import { stalled } from './raw-connection.js';

describe('Pipelined requests', () => {
  afterEach(closeServers);

  it('reach the listener one at a time, and are answered in their order', async () => {
    const { responses, nth, port, open } = await holding();
    const targets = ['/1', '/2', '/3'];

    const connection = await open(targets.map((target) => head(`GET ${target}`)).join(''));

    for (const index of targets.keys()) {
      const response = await nth(index);
      await serverHasRead(port);
      expect(responses, 'requests that reached the listener').to.have.lengthOf(index + 1);
      response.end(response.req.url);
    }
    await connection.expectBodies(...targets);
  });

  /** Empty lines, which a server ignores before a request. */
  const LINES = '\r\n\r\n'.repeat(20);

  it('are all answered on one connection, in whatever segments they come', async () => {
    const { open } = await listening((request, response) => {
      if (request.url === '/now') echoBody(request, response);
      else setImmediate(echoBody, request, response); // by then the whole body may have arrived
    });
    const large = 'x'.repeat(3000);
    const messages = ['/now', '/later'].flatMap((target) => {
      const length = head(`POST ${target}`, 'Content-Length: 3000', 'Expect: 100-continue');
      const chunks = head(`POST ${target}`, 'Transfer-Encoding: chunked');
      return [
        { bytes: head(`GET ${target}`), body: '' },
        { bytes: LINES + length + large, body: large },
        { bytes: `${chunks}5\r\n\r\n\r\nX\r\n0\r\nA: b\r\n\r\n`, body: '\r\n\r\nX' },
      ];
    });
    const sequences = fc.array(fc.constantFrom(...messages), { minLength: 1, maxLength: 6 });
    const cuts = fc.array(fc.integer({ min: 0, max: 6000 }), { maxLength: 8 });
    const property = fc.asyncProperty(sequences, cuts, async (sequence, places) => {
      const bytes = sequence.map((message) => message.bytes).join('');
      const connection = await open();
      let sent = 0;
      for (const cut of [...places.toSorted((one, other) => one - other), bytes.length]) {
        connection.send(bytes.slice(sent, cut));
        sent = Math.max(sent, cut);
        await new Promise(setImmediate);
      }
      await connection.expectBodies(...sequence.map(({ body }) => body));
      expect(connection.received).to.not.match(/^connection: close/im);
      connection.socket.end();
    });

    await fc.assert(property, { numRuns: 100 });
  });

  for (const count of [9, 5_000]) {
    it(`are answered up to the eighth of ${count}, which closes the connection in order`, async () => {
      const { open } = await listening(echoTarget);
      const requests = Array.from({ length: count }, (_, index) => head(`GET /${index + 1}`));

      const connection = await open(requests.join(''));

      await connection.expectAllBodies('/1', '/2', '/3', '/4', '/5', '/6', '/7', '/8');
      expect(connection.received.split(/^connection: close/im)).to.have.lengthOf(2);
      expect(await connection.closed, 'the error of the client').to.equal(undefined);
    });
  }

  it('are not processed after one whose response closes the connection', async () => {
    const { responses, ask } = await holding();
    const { connection, response } = await ask(head('GET /').repeat(2));

    response.setHeader('Connection', 'close').end('last');

    await connection.expectAllBodies('last');
    expect(responses, 'requests that reached the listener').to.have.lengthOf(1);
  });

  it('are not processed once their client has disconnected', async () => {
    const { responses, port, ask } = await holding();
    const { connection, response: first } = await ask(head('GET /1') + head('GET /2'));

    connection.socket.end();
    await once(first, 'close');
    await serverHasRead(port);

    expect(responses, 'requests that reached the listener').to.deep.equal([first]);
  });
});

/** The body of a POST that has this many bytes with its head, 10,000 to 99,999. */
const bodyIn = (size: number): string =>
  'x'.repeat(size - head('POST /', 'Content-Length: 10000').length);

describe('A client that ends its side at once', () => {
  afterEach(closeServers);

  // A read of 65,536 bytes fills the buffer of the server, which then sees the end at once.
  for (const size of [60_000, 65_536])
    for (const [what, listener, expected] of [
      ['of which the listener reads nothing', echoTarget, '/'],
      ['which the listener reads', echoBody, bodyIn(size)],
    ] as const) {
      it(`gets the response to ${size} bytes ${what}`, async () => {
        const { open } = await listening(listener);
        const connection = await open();

        connection.socket.end(post(bodyIn(size)));

        await connection.expectAllBodies(expected);
      });
    }

  it('gets the whole response, however slowly it reads', async () => {
    const large = Buffer.alloc(20_000_000);
    const limits = { lingerTime: 50 };
    const { port } = await listening((_request, response) => response.end(large), { limits });
    const slow = await stalled(port);

    slow.socket.end(head('GET /'));
    await serverHasRead(port);
    await delay(200); // longer than lingerTime, which begins when the client has read
    slow.socket.resume();

    const [response] = await slow.allResponses();
    expect(response?.body).to.have.lengthOf(large.length);
  });
});

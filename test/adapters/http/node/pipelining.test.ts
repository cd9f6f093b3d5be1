import { expect } from 'chai';
import * as fc from 'fast-check';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import {
  closeServers,
  echoBody,
  echoTarget,
  head,
  holding,
  inTime,
  listening,
  serverHasRead,
  steady,
} from './listening-server.js';
import { RawConnection, exchange, stalled } from './raw-connection.js';

const closing: RequestListener = (_request, response) => {
  response.setHeader('Connection', 'close').end();
};

/** Counts what happens in one turn of the event loop. */
class TurnCounter {
  most = 0;
  #inTurn = 0;

  count(): void {
    if (this.#inTurn === 0) setImmediate(this.#beginTurn);
    this.#inTurn += 1;
    this.most = Math.max(this.most, this.#inTurn);
  }

  readonly #beginTurn = (): void => {
    this.#inTurn = 0;
  };
}

describe('Pipelined requests', () => {
  afterEach(closeServers);

  it('reach the listener one at a time, and are answered in their order', async () => {
    const { held, port, open } = await holding();
    const requests = ['GET /1', 'GET /2', 'GET /3'].map((line) => head(line));

    const connection = await open(requests.join(''));

    for (const index of [0, 1, 2]) {
      const response = await held.nth(index);
      await serverHasRead(port);
      expect(held.responses, 'requests that reached the listener').to.have.lengthOf(index + 1);
      response.end(response.req.url);
    }
    expect(await connection.bodies(3)).to.deep.equal(['/1', '/2', '/3']);
  });

  for (const missing of [1, 2, 3])
    it(`reach the listener one at a time, also if ${missing} bytes of the first come late`, async () => {
      const { held, port, open } = await holding();
      const both = head('GET /1') + head('GET /2');
      const end = head('GET /1').length - missing;
      const connection = await open(both.slice(0, end));
      await serverHasRead(port);

      connection.send(both.slice(end));

      await held.nth(0);
      await serverHasRead(port);
      expect(held.targets, 'requests that reached the listener').to.deep.equal(['/1']);
    });

  /** Empty lines, which a server ignores before a request. */
  const LINES = '\r\n\r\n'.repeat(20);

  it('are all answered on one connection, in whatever segments they come', async () => {
    const { open } = await listening((request, response) => {
      if (request.url === '/now') echoBody(request, response);
      else setImmediate(echoBody, request, response); // by then the whole body may have arrived
    });
    const messages = ['/now', '/later'].flatMap((target) =>
      [[], ['Expect: 100-continue']].flatMap((lines) => {
        const length = head(`POST ${target}`, 'Content-Length: 8', ...lines);
        const chunks = head(`POST ${target}`, 'Transfer-Encoding: chunked', ...lines);
        return [
          { bytes: head(`GET ${target}`, ...lines), body: '' },
          { bytes: `${LINES}${length}GET\r\n\r\n `, body: 'GET\r\n\r\n ' },
          { bytes: `${chunks}5\r\n\r\n\r\nX\r\n0\r\nA: b\r\n\r\n`, body: '\r\n\r\nX' },
        ];
      }),
    );
    const sequences = fc.array(fc.constantFrom(...messages), { minLength: 1, maxLength: 6 });
    const cuts = fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 8 });
    const property = fc.asyncProperty(sequences, cuts, async (sequence, places) => {
      const bytes = sequence.map((message) => message.bytes).join('');
      const connection = await open();
      let sent = 0;
      for (const cut of [...places.toSorted((one, other) => one - other), bytes.length]) {
        connection.send(bytes.slice(sent, cut));
        sent = Math.max(sent, cut);
        await new Promise(setImmediate);
      }
      const responses = await inTime(connection.responses(sequence.length));
      expect(responses.map(({ body }) => body)).to.deep.equal(sequence.map(({ body }) => body));
      expect(responses.map(({ headers }) => headers.get('connection'))).to.not.include('close');
      connection.socket.end();
    });

    await fc.assert(property, { numRuns: 150 });
  });

  it('wait in the network while their client does not read', async () => {
    let requests = 0;
    const large = Buffer.alloc(1_000_000);
    const { port } = await listening((_request, response) => {
      requests += 1;
      response.end(large);
    });

    await stalled(port, head('GET /').repeat(20_000));

    const answered = await steady(port, () => requests);
    // As many as the buffers of the operating system hold, and one.
    expect(answered, 'requests answered').to.be.within(1, 100);
  });

  it('wait in the network, but for a few chunks, after others were answered', async () => {
    let requests = 0;
    let bytesRead = 0;
    const { open } = await listening(({ socket }, response) => {
      requests += 1;
      ({ bytesRead } = socket);
      setImmediate(() => response.end());
    });
    const request = head('GET /');
    const connection = await open(request.repeat(200_000));
    await connection.responses(50);

    connection.socket.pause();

    expect(bytesRead - requests * request.length, 'bytes read ahead').to.be.within(1, 256 * 1024);
  });

  it('of one client are not answered by the dozen in one turn of the event loop', async () => {
    const turns = new TurnCounter();
    const { open } = await listening((_request, response) => {
      turns.count();
      response.end();
    });

    const connection = await open(head('GET /').repeat(500));
    await connection.responses(500);

    // Two where a segment ends within a request.
    expect(turns.most, 'requests in a turn').to.be.at.most(2);
  });

  it('of many connections share a turn of the event loop', async () => {
    const turns = new TurnCounter();
    const { port } = await listening((_request, response) => {
      turns.count();
      const until = performance.now() + 1;
      while (performance.now() < until);
      response.end();
    });
    const sent = head('GET /').repeat(20);

    const opening = Array.from({ length: 50 }, () => RawConnection.open(port, sent));
    const connections = await Promise.all(opening);
    await Promise.all(connections.map((connection) => connection.responses(20)));

    expect(turns.most, 'requests in a turn').to.be.at.most(30);
  });

  it('are parsed in few pieces, however many empty lines come before them', async () => {
    let pieces = 0;
    const { open } = await listening(({ socket, url }, response) => {
      if (url === '/1')
        socket.on('data', () => {
          pieces += 1;
        });
      response.end();
    });
    const connection = await open(head('GET /1'));
    await connection.responses(1);

    connection.send('\r\n'.repeat(2000) + head('GET /2'));
    await connection.responses(2);

    expect(pieces, 'pieces that were parsed').to.be.within(1, 10);
  });

  it('do not keep other clients waiting', async () => {
    let flood = 0;
    const { open } = await listening((request, response) => {
      if (request.url === '/flood') flood += 1;
      response.end();
    });
    const count = 50_000;
    await open(head('GET /flood').repeat(count));

    const other = await open(head('GET /other'));
    await other.responses(1);

    expect(flood, 'requests answered before the other client').to.be.below(count);
  });

  for (const [what, lines, listener] of [
    ['whose client closes the connection', ['Connection: close'], echoTarget],
    ['whose response closes it', [], closing],
  ] as const)
    it(`are not processed after one ${what}`, async () => {
      const targets: Array<string | undefined> = [];
      const { port } = await listening((request, response) => {
        targets.push(request.url);
        listener(request, response);
      });

      const responses = await exchange(port, head('GET /1', ...lines) + head('GET /2'));

      expect(responses, 'responses to two requests').to.have.lengthOf(1);
      expect(targets, 'requests that reached the listener').to.deep.equal(['/1']);
    });

  // Thousands of responses that nobody waits for would hold the event loop.
  for (const [what, sent] of [
    ['before the first', ''],
    ['in the first', 'GET / HTT'],
    ['after a response', `${head('GET /')}GET / HTT`],
  ] as const)
    it(`that their client ends ${what} are not answered`, async () => {
      const { open } = await listening(echoTarget);
      const connection = await open(sent);
      const answered = sent.includes('\r\n\r\n') ? ['/'] : [];
      await connection.bodies(answered.length);

      connection.socket.end();

      expect(await connection.allBodies()).to.deep.equal(answered);
    });

  for (const size of [60_000, 65_536]) {
    it(`are answered if their client sends ${size} bytes at once and ends its side`, async () => {
      const { open } = await listening(echoTarget);
      const { length } = head('POST /1', `Content-Length: ${size}`);
      const connection = await open();
      connection.socket.end(head('POST /1', `Content-Length: ${size - length}`).padEnd(size, 'x'));
      const [response] = await connection.allResponses();
      expect(response?.body).to.equal('/1');
    });
  }

  it('are answered whole, however slowly a client reads that has ended its side', async () => {
    const large = Buffer.alloc(20_000_000);
    const closed: Array<Promise<unknown>> = [];
    const { port, open } = await listening(
      ({ socket }, response) => {
        closed.push(once(socket, 'close'));
        response.end(large.subarray(closed.length > 1 ? large.length : 0));
      },
      { limits: { lingerTime: 50 } },
    );
    const slow = await stalled(port);
    slow.socket.end(head('GET /'));
    await serverHasRead(port);
    const other = await open(head('GET /', 'Connection: close'), true);
    await other.allResponses();
    await inTime(Promise.race(closed)); // that of the second, whose linger time began later
    slow.socket.resume();
    expect((await slow.allResponses()).map(({ body }) => body.length)).to.deep.equal([
      large.length,
    ]);
  });

  it('are not processed once their client has gone', async () => {
    const { held, port, ask } = await holding();
    const { connection, response: first } = await ask(head('GET /1') + head('GET /2'));
    connection.socket.end();
    await inTime(once(first, 'close'));
    first.end();
    await serverHasRead(port);
    expect(held.targets).to.deep.equal(['/1']);
  });

  it('are not processed if their client was gone when they were read', async () => {
    const { held, port } = await holding();
    const clients = Array.from({ length: 20 }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => {
        socket.write(head('GET /1') + head('GET /2'));
        socket.resetAndDestroy();
      });
      return once(socket, 'close');
    });
    await Promise.all(clients);
    await serverHasRead(port);
    // With Node.js 22 these clients end their side instead, which does not stop their first request.
    const resets = Number(process.versions.node.split('.')[0]) >= 24;
    expect(held.targets.filter((target) => resets || target !== '/1')).to.deep.equal([]);
  });
});

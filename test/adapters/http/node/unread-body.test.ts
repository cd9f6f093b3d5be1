import { expect } from 'chai';
import { once } from 'node:events';
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
  withClock,
} from './listening-server.js';
import { exchange, stalled } from './raw-connection.js';

const LONG = 'x'.repeat(100_000);

describe('A response that does not await the body', () => {
  afterEach(closeServers);

  it('says Connection: close, beside headers of the listener, and closes', async () => {
    const { port } = await listening((_request, response) => {
      response.writeHead(401, 'No', { 'X-A': 'b' }).end(LONG);
    });

    const responses = await inTime(exchange(port, head('POST /', 'Content-Length: 1000000')));

    expect(responses.map(({ body }) => body)).to.deep.equal([LONG]);
    expect(responses[0]?.headers.get('connection')).to.equal('close');
  });

  it('reaches a client that sends 8 MB before it reads', async () => {
    const { port } = await listening(echoTarget);
    const size = 8_000_000;
    const connection = await stalled(port, head('POST /early', `Content-Length: ${size}`));

    connection.socket.write(Buffer.alloc(size), () => connection.socket.resume());

    await inTime(connection.closed);
    expect(connection.received, 'what the client got').to.include('/early');
  });

  it('leaves its connection half open for the rest, though the listener paused', async () => {
    const { port, ask } = await holding({ limits: { lingerTime: 60_000 } });
    const { connection, response } = await ask(head('POST /', 'Content-Length: 1000000'), true);
    const { socket } = response.req.once('data', () => response.req.pause());
    connection.send('x'.repeat(200_000));
    await serverHasRead(port);

    response.end('early');
    await connection.allResponses();
    connection.send('x'.repeat(200_000));
    await serverHasRead(port);

    expect(socket.destroyed, 'whether the server closed before its client').to.equal(false);
    connection.socket.end();
    expect(await inTime(connection.closed), 'the error of the client').to.equal(undefined);
  });

  it('discards no more of it than 64 KiB and a chunk', async () => {
    const { port, ask } = await holding({ limits: { lingerTime: 60_000 } });
    const { connection, response } = await ask(head('POST /', 'Content-Length: 32000000'), true);
    const { socket } = response.end('early').req;
    await connection.allResponses();

    connection.send('x'.repeat(16_000_000));

    const read = await steady(port, () => socket.bytesRead);
    expect(read, 'bytes that the server read').to.be.within(1, 256 * 1024);
  });

  it('waits no longer than lingerTime for its client to close', async () => {
    const { ask } = await holding({ limits: { lingerTime: 50 } });
    const { connection, response } = await ask(head('POST /', 'Content-Length: 4'), true);
    const { socket } = response.end('early').req;
    await connection.allResponses();

    if (!socket.destroyed) await inTime(once(socket, 'close'));
  });

  for (const [what, sent] of [
    ['no body', head('POST /')],
    ['a body of known length', `${head('POST /', 'Content-Length: 4')}four`],
  ] as const)
    it(`keeps its connection if ${what} has arrived whole`, async () => {
      const { open } = await listening(echoTarget);

      const connection = await open(sent + head('GET /next'));

      expect(await connection.bodies(2)).to.deep.equal(['/', '/next']);
    });

  it('closes its connection if the listener says so, though the body then came', async () => {
    const { port, open } = await listening((request, response) => {
      response.setHeader('Connection', 'close');
      echoBody(request, response);
    });
    const connection = await open(head('POST /', 'Content-Length: 4'));
    await serverHasRead(port);

    connection.send('four');

    expect(await inTime(connection.allBodies())).to.deep.equal(['four']);
  });
});

describe('A body', () => {
  afterEach(closeServers);

  for (const line of ['Connection: close', 'Expect: 100-continue']) {
    it(`waits in the network until the listener reads it, with ${line}`, async () => {
      const { port, ask } = await holding();
      const body = 'x'.repeat(16_000_000);
      const sent = head('POST /', line, `Content-Length: ${body.length}`) + body;
      const { connection, response } = await ask(sent);
      const request = response.req;
      const read = await steady(port, () => request.socket.bytesRead);
      expect(read, 'bytes read before the listener reads').to.be.within(1, 512 * 1024);

      let length = 0;
      request.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      await inTime(once(request, 'end'));

      expect(length, 'bytes that reached the listener').to.equal(body.length);
      connection.socket.destroy();
    });
  }

  it('in chunks is parsed a piece a turn, however many empty lines it has', async () => {
    let inThisTurn = 0;
    let mostInTurn = 0;
    let pieces = 0;
    const { open } = await listening((request, response) => {
      request.on('data', () => {
        if (inThisTurn === 0)
          setImmediate(() => {
            inThisTurn = 0;
          });
        inThisTurn += 1;
        mostInTurn = Math.max(mostInTurn, inThisTurn);
        pieces += 1;
      });
      request.on('end', () => response.end('read'));
    });
    const lines = '\r\n\r\n'.repeat(64);
    const body = `${lines.length.toString(16)}\r\n${lines}\r\n0\r\n\r\n`;

    const connection = await open(head('POST /', 'Transfer-Encoding: chunked') + body);

    expect(await inTime(connection.bodies(1))).to.deep.equal(['read']);
    expect(mostInTurn, 'pieces that were parsed in one turn').to.be.within(1, 2);
    expect(pieces, 'pieces').to.be.at.least(64);
  });

  it('in thousands of small chunks is parsed a few at a time, and reaches the listener joined', async () => {
    const pieces: Buffer[] = [];
    const { open } = await listening((request, response) => {
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => response.end(Buffer.concat(pieces)));
    });
    const chunks = '1\r\nx\r\n'.repeat(10_000);

    const connection = await open(head('POST /', 'Transfer-Encoding: chunked') + chunks);
    connection.send('0\r\n\r\n');

    expect(await inTime(connection.bodies(1))).to.deep.equal(['x'.repeat(10_000)]);
    // 60,000 bytes came, of which 4,096 are parsed in a turn.
    expect(pieces.length, 'pieces').to.be.within(15, 100);
  });

  it('waits while its client does not read what the listener writes', async () => {
    const parts: string[] = [];
    const began = Promise.withResolvers<void>();
    const { port } = await listening((request, response) => {
      request.on('data', (part: Buffer) => {
        parts.push(part.toString());
        response.write(Buffer.alloc(20_000_000));
        began.resolve();
      });
      request.on('end', () => response.end());
    });
    const sent = head('POST /', 'Connection: close', 'Content-Length: 2');
    const connection = await stalled(port, `${sent}a`);
    await began.promise;

    connection.send('b');
    await serverHasRead(port);
    expect(parts, 'while the client does not read').to.deep.equal(['a']);
    connection.socket.resume();
    await inTime(connection.closed);

    expect(parts, 'once the client has read').to.deep.equal(['a', 'b']);
  });
});

describe('A connection whose body was not read', () => {
  afterEach(closeServers);

  it('is idle after the response, though the body goes through only then', () =>
    withClock(async (forward) => {
      const limits = { headersTimeout: 10_000, connectionsCheckingInterval: 10 };
      const { held, ask, open } = await holding({ limits });
      const { connection, response } = await ask(`${head('POST /', 'Content-Length: 4')}four`);

      response.end();

      const [first] = await connection.responses(1);
      expect(first?.headers.get('connection')).to.not.equal('close');
      const other = await open();
      forward(limits.headersTimeout);
      await other.allResponses(); // the time of the first would be over as well
      connection.send(head('GET /next'));
      (await held.nth(1)).end('next');
      expect(await connection.bodies(2)).to.deep.equal(['', 'next']);
    }));
});

describe('Expect: 100-continue', () => {
  afterEach(closeServers);
  const sent = head('POST /', 'Expect: 100-Continue', 'Content-Length: 4');

  it('gets 100 once, when the listener begins to read the body', async () => {
    const { port, ask } = await holding();
    const { connection, response } = await ask(sent);
    await serverHasRead(port);
    expect(connection.received, 'before the listener reads').to.equal('');

    echoBody(response.req, response);
    await connection.until((received) => received === 'HTTP/1.1 100 Continue\r\n\r\n');
    for (const part of 'four') connection.send(part);

    expect(await connection.bodies(1)).to.deep.equal(['four']);
    expect(connection.received.match(/100 Continue/g), 'in what was received').to.have.lengthOf(1);
  });

  it('keeps the connection after a body that is read and that came at once', async () => {
    const { open } = await listening(echoBody);

    const connection = await open(`${sent}four`.repeat(3) + head('GET /last'));

    const responses = await connection.responses(4);
    expect(responses.map(({ headers }) => headers.get('connection'))).to.not.include('close');
    expect(connection.received.match(/100 Continue/g)).to.have.lengthOf(3);
  });

  it('gets no 100 inside a response that has begun', async () => {
    const { port, open } = await listening((request, response) => {
      response.write('a');
      echoBody(request, response);
    });
    const connection = await open(sent);
    await serverHasRead(port);

    connection.send('four');

    expect(await connection.bodies(1)).to.deep.equal(['afour']);
    expect(connection.received).to.not.include('100 Continue');
  });

  it('gets no 100 when a listener reads the request before it', async () => {
    const { held, port, ask } = await holding();
    const { connection, response } = await ask(`${head('POST /', 'Content-Length: 4')}four`);
    response.end();
    await connection.responses(1);
    connection.send(sent);
    await held.nth(1);

    response.req.on('readable', () => {});

    await serverHasRead(port);
    expect(connection.received).to.not.include('100 Continue');
  });

  it('gets no 100 with HTTP/1.0, which does not know it', async () => {
    const { port, open } = await listening(echoBody);
    const old = 'POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n';
    const connection = await open(old);
    await serverHasRead(port);

    connection.send('four');

    await connection.closed;
    expect(connection.received).to.match(/^HTTP\/1\.1 200 [^]*four$/);
  });
});

import { expect } from 'chai';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { Held } from './held-listener.js';
import { closeServers, head, inTime, listening } from './listening-server.js';
import { RawConnection, exchange, parseAnswers } from './raw-connection.js';

const LONG = 'x'.repeat(100_000);
const early: RequestListener = (_request, response) => {
  response.writeHead(401, { 'Content-Length': LONG.length }).end(LONG);
};

describe('An answer given before the body was read', () => {
  afterEach(closeServers);

  it('says Connection: close, and the connection ends', async () => {
    const { port } = await listening(early);
    const [answer, ...more] = await inTime(3_000, exchange(port, head('POST /', 'Content-Length: 1000000')));
    expect(answer).to.deep.include({ status: 401, body: LONG });
    expect(answer?.headers.get('connection')).to.equal('close');
    expect(more).to.deep.equal([]);
  });

  it('says so however it is written', async () => {
    const writings: readonly RequestListener[] = [
      (_request, response) => void response.end('early'),
      (_request, response) => void response.writeHead(401, 'No', { 'Content-Length': 5 }).end('early'),
      (_request, response) => {
        response.setHeader('Content-Length', 5);
        response.flushHeaders();
        response.end('early');
      },
      (_request, response) => {
        response.write('ear');
        setImmediate(() => response.end('ly'));
      },
    ];
    for (const writing of writings) {
      const { port } = await listening(writing);
      const [answer] = await exchange(port, head('POST /', 'Transfer-Encoding: chunked'));
      expect(answer?.body).to.equal('early');
      expect(answer?.headers.get('connection')).to.equal('close');
    }
  });

  it('is not lost to a client that sends 8 MB before it reads anything', async () => {
    const { port } = await listening((_request, response) => response.writeHead(401).end('early'));
    const size = 8_000_000;
    const connection = await RawConnection.open(port);
    connection.socket.pause();
    connection.send(head('POST /', `Content-Length: ${size}`));
    connection.socket.write(Buffer.alloc(size), () => connection.socket.resume());
    await inTime(5_000, connection.closed);
    expect(parseAnswers(connection.bytes).answers[0]?.body).to.equal('early');
  });

  for (const framing of ['Content-Length: 1000000000', 'Transfer-Encoding: chunked']) {
    it(`costs the server less than 1 MB of a body of 1 GB (${framing})`, async () => {
      let served: Socket | undefined;
      const { port } = await listening((request, response) => {
        served = request.socket;
        early(request, response);
      });
      const connection = await RawConnection.open(port, head('POST /', framing));
      const piece = 'x'.repeat(65_536);
      const bytes = framing.startsWith('T') ? `10000\r\n${piece}\r\n` : piece;
      const more = (): void => void (connection.socket.writable && connection.socket.write(bytes, more));
      more();
      await inTime(5_000, connection.closed);
      expect(parseAnswers(connection.bytes).answers[0]?.body).to.equal(LONG);
      expect(served?.bytesRead).to.be.below(1_000_000);
    });
  }

  it('leaves the connection half open behind it, for what is on its way would reset it', async () => {
    let served: Socket | undefined;
    const { port } = await listening(
      (request, response) => {
        served = request.socket;
        early(request, response);
      },
      { limits: { lingerTime: 60_000 } },
    );
    const connection = await RawConnection.open(port);
    connection.socket.allowHalfOpen = true;
    connection.send(head('POST /', 'Content-Length: 1000000'));
    await connection.allAnswers();
    connection.send('x'.repeat(1_000));
    await exchange(port, '@@\r\n\r\n'); // the server has read them by now
    expect(served?.destroyed).to.equal(false);
    connection.socket.end();
    expect(await inTime(1_000, connection.closed)).to.equal(undefined);
  });

  it('ends at once when the body comes to its end', async () => {
    const { port } = await listening(early, { limits: { lingerTime: 60_000 } });
    const connection = await RawConnection.open(port, head('POST /', 'Content-Length: 4'));
    await connection.answers(1);
    connection.send('four');
    await inTime(3_000, connection.closed);
  });

  it('waits no longer than it may for a client that neither sends nor leaves', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { port } = await listening(
      (request, response) => {
        closed = once(request.socket, 'close');
        early(request, response);
      },
      { limits: { lingerTime: 100 } },
    );
    const connection = await RawConnection.open(port);
    connection.socket.allowHalfOpen = true;
    connection.send(head('POST /', 'Content-Length: 4'));
    await connection.answers(1);
    await inTime(1_500, closed);
  });

  it('is the same for HEAD, without its body', async () => {
    const { port } = await listening(early);
    const answers = await exchange(port, head('HEAD /', 'Content-Length: 1000000'), ['HEAD']);
    expect(answers).to.have.lengthOf(1);
    expect(answers[0]).to.deep.include({ status: 401, body: '' });
    expect(answers[0]?.headers.get('content-length')).to.equal(String(LONG.length));
    expect(answers[0]?.headers.get('connection')).to.equal('close');
  });

  it('keeps the connection when there is no body, or it was read', async () => {
    const { port } = await listening((request, response) => {
      if (request.method === 'GET') response.end();
      else request.resume().on('end', () => response.end());
    });
    const requests = [
      head('GET /'),
      head('GET /', 'Content-Length: 0'),
      `${head('POST /', 'Content-Length: 4')}four`,
      `${head('POST /', 'Transfer-Encoding: chunked')}4\r\nfour\r\n0\r\n\r\n`,
    ];
    const connection = await RawConnection.open(port, requests.join(''));
    const answers = await connection.answers(requests.length);
    expect(answers.map(({ headers }) => headers.get('connection'))).to.deep.equal(
      requests.map(() => 'keep-alive'),
    );
  });
});

describe('Expect: 100-continue', () => {
  afterEach(closeServers);
  const sent = head('POST /', 'Expect: 100-continue', 'Content-Length: 4');

  it('is answered by 100 when the body is read, and the answer follows the body', async () => {
    const { port } = await listening((request, response) => {
      request.on('data', (chunk: Buffer) => response.end(chunk));
    });
    const connection = await RawConnection.open(port, sent);
    await connection.until((received) => received === 'HTTP/1.1 100 Continue\r\n\r\n');
    connection.send('four');
    expect((await connection.answers(1))[0]?.body).to.equal('four');
  });

  it('is not answered by 100 before the listener reads', async () => {
    const held = new Held();
    const { port } = await listening(held.listener);
    const connection = await RawConnection.open(port, sent);
    await (await RawConnection.open(port, '@@\r\n\r\n')).allAnswers(); // by now it could have come
    expect(connection.received).to.equal('');
    const response = await held.nth(0);
    response.req.resume().on('end', () => response.end('read'));
    await connection.until((received) => received.startsWith('HTTP/1.1 100 '));
    connection.send('four');
    expect((await connection.answers(1))[0]?.body).to.equal('read');
  });

  it('is not answered by 100 when the answer comes without the body', async () => {
    const { port } = await listening(early);
    const connection = await RawConnection.open(port, sent);
    const [answer] = await connection.allAnswers();
    expect(answer?.status).to.equal(401);
    expect(connection.received).not.to.include('100 Continue');
  });

  it('is met in any case, and once only', async () => {
    const { port } = await listening((request, response) => {
      request.resume().on('end', () => response.end());
    });
    const connection = await RawConnection.open(port, sent.replace('100-continue', '100-Continue'));
    await connection.until((received) => received.startsWith('HTTP/1.1 100 '));
    for (const part of 'four') connection.send(part);
    await connection.answers(1);
    expect(connection.received.match(/100 Continue/g)).to.have.lengthOf(1);
  });

  it('is not waited for by a client that sends its body at once', async () => {
    const { port } = await listening((request, response) => {
      request.on('data', (chunk: Buffer) => response.end(chunk));
    });
    const connection = await RawConnection.open(port, `${sent}four`);
    expect((await connection.answers(1))[0]?.body).to.equal('four');
  });
});

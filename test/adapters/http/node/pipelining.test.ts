import { expect } from 'chai';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { Held } from './held-listener.js';
import { closeServers, echoTarget, head, listening } from './listening-server.js';
import { RawConnection, exchange, expectError } from './raw-connection.js';

describe('Pipelined requests', () => {
  afterEach(closeServers);

  it('are answered in their order, a hundred of them', async () => {
    const { port } = await listening((request, response) => {
      // The later ones would be ready first.
      setTimeout(() => response.end(request.url), request.url === '/0' ? 20 : 0);
    });
    const targets = Array.from({ length: 100 }, (_, index) => `/${index}`);
    const connection = await RawConnection.open(
      port,
      targets.map((target) => head(`GET ${target}`)).join(''),
    );
    const answers = await connection.answers(100);
    expect(answers.map(({ body }) => body)).to.deep.equal(targets);
  });

  it('are taken one after the other', async () => {
    const held = new Held();
    const { port } = await listening(held.listener);
    const connection = await RawConnection.open(port, head('GET /1') + head('GET /2') + head('GET /3'));
    for (const target of ['/1', '/2', '/3']) {
      const response = await held.nth(Number(target.slice(1)) - 1);
      await setImmediate();
      expect(held.targets.at(-1)).to.equal(target);
      response.end(target);
    }
    expect((await connection.answers(3)).map(({ body }) => body)).to.deep.equal(['/1', '/2', '/3']);
  });

  it('with bodies are told apart to the byte', async () => {
    const { port } = await listening((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(Buffer.concat(chunks)));
    });
    const sent =
      `${head('POST /', 'Content-Length: 4')}GET ` +
      `${head('POST /', 'Transfer-Encoding: chunked')}3\r\nTWO\r\n0\r\n\r\n${head('GET /')}`;
    const connection = await RawConnection.open(port, sent);
    expect((await connection.answers(3)).map(({ body }) => body)).to.deep.equal(['GET ', 'TWO', '']);
  });

  it('before a malformed one are answered before it is', async () => {
    const held = new Held();
    const { port } = await listening(held.listener);
    const connection = await RawConnection.open(port, `${head('GET /1')}${head('GET /2')}@@\r\n\r\n`);
    (await held.nth(0)).end('one');
    (await held.nth(1)).end('two');
    const [first, second, third, ...more] = await connection.allAnswers();
    expect([first?.body, second?.body]).to.deep.equal(['one', 'two']);
    expectError(third, 400, 'malformed_request');
    expect(more).to.deep.equal([]);
  });

  it('before a malformed one that comes later are answered all the same', async () => {
    const held = new Held();
    const { port } = await listening(held.listener);
    const connection = await RawConnection.open(port, head('GET /1'));
    const response = await held.nth(0);
    connection.send('@@\r\n\r\n');
    await (await RawConnection.open(port, '@@\r\n\r\n')).allAnswers(); // the server has read both by now
    expect(connection.received).to.equal('');
    response.end('one');
    const [first, second] = await connection.allAnswers();
    expect(first?.body).to.equal('one');
    expectError(second, 400, 'malformed_request');
  });

  it('end with the one whose body is malformed while it is read', async () => {
    const { port } = await listening((request, response) => {
      request.resume().on('end', () => response.end('read'));
    });
    const connection = await RawConnection.open(port, head('POST /', 'Transfer-Encoding: chunked'));
    connection.send('3\r\nabc\r\nzz\r\n');
    const answers = await connection.allAnswers();
    expect(answers).to.have.lengthOf(1);
    expectError(answers[0], 400, 'malformed_request');
  });

  it('end with an answer that came before its body, whatever the body then is', async () => {
    const { port } = await listening((_request, response) => response.writeHead(401).end('early'));
    const connection = await RawConnection.open(port, head('POST /', 'Transfer-Encoding: chunked'));
    await connection.answers(1);
    connection.send('zz\r\n');
    expect((await connection.allAnswers()).map(({ body }) => body)).to.deep.equal(['early']);
  });

  const closing: ReadonlyArray<readonly [string, string, RequestListener, number]> = [
    [
      'asked the server to close',
      head('GET /1', 'Connection: close'),
      (_request, response) => response.end(),
      200,
    ],
    [
      'was answered with Connection: close',
      head('GET /1'),
      (_request, response) => response.setHeader('Connection', 'close').end(),
      200,
    ],
    ['has two Hosts', head('GET /1', 'Host: b'), echoTarget, 400],
    [
      'is HTTP/1.0',
      head('GET /1').replace('HTTP/1.1', 'HTTP/1.0'),
      (_request, response) => response.setHeader('Content-Length', 0).end(),
      200,
    ],
    ['expects what is not met', head('GET /1', 'Expect: foo'), echoTarget, 417],
  ];
  for (const [what, first, listener, status] of closing) {
    it(`are not processed behind one that ${what}`, async () => {
      const targets: Array<string | undefined> = [];
      const { port } = await listening((request, response) => {
        targets.push(request.url);
        listener(request, response);
      });
      const answers = await exchange(port, first + head('GET /2') + head('POST /3', 'Content-Length: 0'));
      expect(answers.map((answer) => answer.status)).to.deep.equal([status]);
      expect(targets.filter((target) => target !== '/1')).to.deep.equal([]);
    });
  }

  it('are not processed behind an answer that came before the body, even when the body then comes', async () => {
    const held = new Held();
    const { port } = await listening(held.listener);
    const connection = await RawConnection.open(port, head('POST /1', 'Content-Length: 4'));
    (await held.nth(0)).writeHead(401).end('early');
    await connection.answers(1);
    connection.send(`four${head('GET /2')}`);
    await connection.closed;
    expect(held.targets).to.deep.equal(['/1']);
    expect(connection.received.match(/HTTP\/1\.1/g)).to.have.lengthOf(1);
  });

  it('whose client has gone never reach the listener', async () => {
    const held = new Held();
    const { port } = await listening(held.listener);
    const connection = await RawConnection.open(port, head('GET /1') + head('GET /2'));
    const first = await held.nth(0);
    connection.socket.resetAndDestroy();
    await once(first, 'close');
    first.end();
    await (await RawConnection.open(port, '@@\r\n\r\n')).allAnswers();
    expect(held.targets).to.deep.equal(['/1']);
  });

  it('go on after a listener’s answer of 500', async () => {
    const { port } = await listening((request, response) => {
      response.statusCode = request.url === '/1' ? 500 : 200;
      response.end();
    });
    const connection = await RawConnection.open(port, head('GET /1') + head('GET /2'));
    expect((await connection.answers(2)).map(({ status }) => status)).to.deep.equal([500, 200]);
  });

  it('are not read without bound while the first is waited for, and all are answered after it', async () => {
    const count = 100_000;
    const { promise: all, resolve: allCame } = Promise.withResolvers<void>();
    let came = 0;
    const { promise: firstCame, resolve: firstComes } = Promise.withResolvers<ServerResponse>();
    const { port } = await listening(
      (request, response) => {
        came += 1;
        if (request.url === '/first') firstComes(response);
        else response.end();
        if (came === count + 1) allCame();
      },
      { limits: { maxRequestsPerSocket: 0 } },
    );
    const connection = await RawConnection.open(port, head('GET /first') + head('GET /').repeat(count));
    const first = await firstCame;
    let read = -1;
    while (first.req.socket.bytesRead > read) {
      read = first.req.socket.bytesRead;
      await (await RawConnection.open(port, '@@\r\n\r\n')).allAnswers(); // a while, in which it could read on
    }
    expect(read).to.be.within(1, 1_000_000);
    first.end();
    await all;
    expect(connection.isOver).to.equal(false);
  });
});

import { expect } from 'chai';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { closeServers, echoTarget, head, inTime, listening } from './listening-server.js';
import { RawConnection } from './raw-connection.js';

describe('A listening server that is drained', () => {
  afterEach(closeServers);

  it('says Connection: close on every answer, and still takes new connections', async () => {
    const { server, port } = await listening(echoTarget);
    const kept = await RawConnection.open(port, head('GET /before'));
    expect((await kept.answers(1))[0]?.headers.get('connection')).to.equal('keep-alive');
    server.drain();
    kept.send(head('GET /after'));
    const [, after] = await kept.allAnswers();
    expect(after?.body).to.equal('/after');
    expect(after?.headers.get('connection')).to.equal('close');
    const [fresh] = await (await RawConnection.open(port, head('GET /new'))).allAnswers();
    expect(fresh?.body).to.equal('/new');
    expect(fresh?.headers.get('connection')).to.equal('close');
  });

  it('says so on the answer that is being made, too', async () => {
    let response: ServerResponse | undefined;
    const { promise: come, resolve: arrived } = Promise.withResolvers<void>();
    const { server, port } = await listening((_request, made) => {
      response = made;
      arrived();
    });
    const connection = await RawConnection.open(port, head('GET /'));
    await come;
    server.drain();
    response?.end('done');
    const [answer] = await connection.allAnswers();
    expect(answer?.body).to.equal('done');
    expect(answer?.headers.get('connection')).to.equal('close');
  });
});

describe('A listening server that is closed', () => {
  afterEach(closeServers);

  it('waits for no connection that asks for nothing', async () => {
    const { server, port } = await listening(echoTarget);
    const connections = [
      await RawConnection.open(port),
      await RawConnection.open(port, 'GET / HTT'),
      await RawConnection.open(port, 'GET / HTTP/1.1\r\nHost: a\r\n'),
      await RawConnection.open(port, head('GET /')),
    ];
    await connections.at(-1)?.answers(1);
    expect(await inTime(5_000, server.close(30_000))).to.equal(true);
    await Promise.all(connections.map(({ closed }) => inTime(5_000, closed)));
  });

  it('accepts nothing more', async () => {
    const { server, port } = await listening(echoTarget);
    await server.close(1_000);
    const socket = connect(port, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
  });

  it('answers the request in flight, and one whose body is on its way', async () => {
    const responses: ServerResponse[] = [];
    const { promise: arrived, resolve: both } = Promise.withResolvers<void>();
    const { server, port } = await listening((request, response) => {
      responses.push(response);
      if (request.method === 'POST') request.resume().on('end', () => response.end('read'));
      if (responses.length === 2) both();
    });
    const get = await RawConnection.open(port, head('GET /'));
    const post = await RawConnection.open(port, `${head('POST /', 'Content-Length: 4')}fo`);
    await arrived;
    const closed = server.close(30_000);
    post.send('ur');
    responses.find(({ req }) => req.method === 'GET')?.end('made');
    expect((await get.allAnswers()).map(({ body }) => body)).to.deep.equal(['made']);
    expect((await post.allAnswers()).map(({ body }) => body)).to.deep.equal(['read']);
    expect(await inTime(5_000, closed)).to.equal(true);
  });

  it('cuts off at the deadline what is not answered, and says that it did', async () => {
    const { promise: come, resolve: arrived } = Promise.withResolvers<void>();
    const { server, port } = await listening(() => arrived());
    const connection = await RawConnection.open(port, head('GET /'));
    await come;
    expect(await inTime(5_000, server.close(50))).to.equal(false);
    await connection.closed;
    expect(connection.received).to.equal('');
  });

  it('does not wait for a client that left its request', async () => {
    let left: Promise<unknown> = Promise.resolve();
    const { promise: come, resolve: arrived } = Promise.withResolvers<void>();
    const { server, port } = await listening((_request, response) => {
      left = once(response, 'close');
      arrived();
    });
    const connection = await RawConnection.open(port, head('GET /'));
    await come;
    connection.socket.destroy();
    await left;
    expect(await inTime(5_000, server.close(30_000))).to.equal(true);
  });

  it('may be closed twice', async () => {
    const { server } = await listening(echoTarget);
    expect(await Promise.all([server.close(1_000), server.close(1_000)])).to.deep.equal([true, true]);
  });

  it('rejects to listen where another listens, and can be closed nevertheless', async () => {
    const { port } = await listening(echoTarget);
    const { NodeServer } = await import('../../../../src/adapters/http/node/index.js');
    const second = new NodeServer(echoTarget);
    const error = await second.listen(port, '127.0.0.1').then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason,
    );
    expect(error?.code).to.equal('EADDRINUSE');
    expect(await inTime(5_000, second.close(1_000))).to.equal(true);
  });
});

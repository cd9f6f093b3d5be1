import { expect } from 'chai';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
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
import { exchange, stalled } from './raw-connection.js';

describe('A response that is sent before the body has arrived', () => {
  afterEach(closeServers);

  it('adds Connection: close to the headers of the listener, and closes', async () => {
    const { port } = await listening((_request, response) => {
      response.writeHead(401, 'No', { 'Content-Length': 5 }).end('early');
    });

    const [response] = await exchange(port, head('POST /', 'Content-Length: 1000000'));

    expect(response).to.include({ status: 401, body: 'early' });
    expect(response?.headers.get('connection')).to.equal('close');
  });

  it('reaches a client that sends 8 MB before it reads', async () => {
    const { port } = await listening(echoTarget);
    const size = 8_000_000;
    const connection = await stalled(port, head('POST /early', `Content-Length: ${size}`));

    connection.socket.write(Buffer.alloc(size), () => connection.socket.resume());

    await connection.closed;
    expect(connection.received, 'what the client got').to.include('/early');
  });

  it('closes although its client does not', async () => {
    const { ask } = await holding({ limits: { lingerTime: 50 } });
    const { connection, response } = await ask(head('POST /', 'Content-Length: 4'), true);
    const { socket } = response.end('early').req;
    await connection.allResponses();

    if (!socket.destroyed) await once(socket, 'close');
  });

  for (const [what, sent] of [
    ['no body', head('POST /')],
    ['a body of known length', post('four')],
  ] as const) {
    it(`keeps its connection if ${what} has arrived whole`, async () => {
      const { open } = await listening(echoTarget);

      const connection = await open(sent + head('GET /next'));

      await connection.expectBodies('/', '/next');
    });
  }

  it('closes its connection if the listener says so, though the body then comes', async () => {
    const { ask } = await holding();
    const { connection, response } = await ask(head('POST /', 'Content-Length: 4'));

    response.setHeader('Connection', 'close');
    echoBody(response.req, response);
    connection.send('four');

    await connection.expectAllBodies('four');
  });
});

describe('A body', () => {
  afterEach(closeServers);

  it('waits in the network until the listener reads it', async () => {
    const { port, ask } = await holding();
    const size = 16_000_000;
    const { connection, response } = await ask(head('POST /', `Content-Length: ${size}`));
    const { socket } = connection;

    for (let sent = 0; sent < size; sent += 64_000) socket.write(Buffer.alloc(64_000));
    for (let before = 0; before !== socket.writableLength;) {
      before = socket.writableLength;
      await serverHasRead(port);
    }

    // The buffers of the operating system hold a few MB.
    expect(socket.writableLength, 'bytes that the client has left').to.be.above(size / 4);
    expect(await buffer(response.req), 'what the listener read').to.have.lengthOf(size);
  });

  it('in thousands of small chunks reaches the listener joined', async () => {
    const parts: Buffer[] = [];
    const { open } = await listening((request, response) => {
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => response.end(Buffer.concat(parts)));
    });
    const text = 'abcdefghij'.repeat(1_000);
    const chunks = Array.from(text, (letter) => `1\r\n${letter}\r\n`).join('');

    const connection = await open(`${head('POST /', 'Transfer-Encoding: chunked')}${chunks}`);
    connection.send('0\r\n\r\n');

    await connection.expectBodies(text);
    expect(parts.length, 'buffers for 10,000 chunks').to.be.below(1_000);
  });
});

describe('Expect: 100-continue', () => {
  afterEach(closeServers);
  const sent = head('POST /', 'Expect: 100-Continue', 'Content-Length: 4');

  for (const [how, read] of [
    ['by data', echoBody],
    ['by iterating', async (request, response) => void response.end(await buffer(request))],
  ] as ReadonlyArray<[string, typeof echoBody]>) {
    it(`gets 100 once, when the listener begins to read the body ${how}`, async () => {
      const { port, ask } = await holding();
      const { connection, response } = await ask(sent);
      await serverHasRead(port);
      expect(connection.received, 'before the listener reads').to.equal('');

      read(response.req, response);
      await connection.until((received) => received === 'HTTP/1.1 100 Continue\r\n\r\n');
      for (const part of 'four') connection.send(part);

      await connection.expectBodies('four');
      expect(connection.received.match(/100 Continue/g)).to.have.lengthOf(1);
    });
  }
});

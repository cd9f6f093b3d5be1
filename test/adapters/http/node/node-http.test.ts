import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createNetServer, type AddressInfo, type Socket } from 'node:net';

describe('The node:http that connections rely on', () => {
  it('adds one listener for data and one for end to a connection, after those that are there', async () => {
    const accepting = createNetServer().listen(0, '127.0.0.1');
    await once(accepting, 'listening');
    const client = connect((accepting.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = (await once(accepting, 'connection')) as [Socket];
    const http = createServer();
    try {
      for (const event of ['data', 'end'] as const) {
        socket.on(event, () => {});
      }
      const before = { data: socket.listeners('data'), end: socket.listeners('end') };
      http.emit('connection', socket);
      for (const event of ['data', 'end'] as const) {
        const added = socket.listeners(event);
        const message = `connection.ts takes away the last listener for '${event}': see takeListener`;
        expect(added.slice(0, -1), message).to.deep.equal(before[event]);
      }
    } finally {
      socket.destroy();
      client.destroy();
      accepting.close();
    }
  });
});

import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';

/** What is used of tools/load.mjs. */
interface LoadTool {
  startLoad(port: number): {
    run(order: {
      readonly clients: number;
      readonly requests: readonly string[];
      readonly seconds: number;
    }): Promise<{ readonly status: Readonly<Record<string, number>> }>;
    stop(): unknown;
  };
}

describe('A load', () => {
  it('connects again where the server has closed a connection between two runs', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // Computed, for the tools are no part of what the compiler checks.
    const url = new URL('../../../tools/load.mjs', import.meta.url);
    const tool = (await import(url.href)) as LoadTool;
    const load = tool.startLoad((server.address() as AddressInfo).port);
    try {
      for (const run of ['first', 'second', 'third']) {
        const { status } = await load.run({
          clients: 2,
          requests: ['GET / HTTP/1.1\r\n\r\n'],
          seconds: 0.05,
        });
        expect(Object.keys(status), `statuses of the ${run} run`).to.deep.equal(['204']);
        await Promise.all(
          Array.from(sockets, async (socket) => {
            socket.end();
            await once(socket, 'close');
            sockets.delete(socket);
          }),
        );
      }
    } finally {
      load.stop();
      server.close();
    }
  });
});

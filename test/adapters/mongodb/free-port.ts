import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port on which nothing listens, for a server that starts later. Systems assign ports above these to all who ask for
 * any: such a port could be another process's by then.
 */
export async function freePort(): Promise<number> {
  while (true) {
    const port = randomInt(10_000, 32_000);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

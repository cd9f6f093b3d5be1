import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Listens on a port that stays free after the server has closed, so that another can listen there. Systems assign ports
 * above these to all who ask for any: such a port could be another process's by then.
 */
async function listenOnLastingPort(server: Server): Promise<number> {
  while (true) {
    const port = randomInt(10_000, 32_000);
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** A port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLastingPort(server);
  server.close();
  await once(server, 'close');
  return port;
}

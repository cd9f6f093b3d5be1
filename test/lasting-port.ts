import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:net';

/**
 * Listens on a port that stays free after the server has closed, so that another can listen there. Ports that systems
 * assign are above these: between the two, one of those would soon be another process's.
 */
export async function listenOnLastingPort(server: Server): Promise<number> {
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

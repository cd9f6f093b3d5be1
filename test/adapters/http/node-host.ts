import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const servers: Server[] = [];

/** Listens as a host on `node:http` does, on a free port. Resolves to its address. */
export async function serve(host: (...exchange: Parameters<RequestListener>) => unknown): Promise<string> {
  const server = createServer((request, response) => void host(request, response));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Ends every host, for `afterEach`. */
export function closeHosts(): void {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
}

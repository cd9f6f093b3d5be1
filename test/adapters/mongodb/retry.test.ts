import { expect } from 'chai';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { retryWhilePassing } from '../../../src/adapters/mongodb/retry.js';
import { rejection } from './mongo-store-tests.js';

/** What a client's socket emits as its error, beside a server that treats it so. */
async function socketError(
  serve: (server: Socket) => void,
  use: (port: number) => Socket,
): Promise<NodeJS.ErrnoException> {
  const servers: Socket[] = [];
  const listener = createServer((server) => {
    servers.push(server.on('error', () => {}));
    serve(server);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = use((listener.address() as AddressInfo).port);
  try {
    const [error] = (await once(client, 'error').catch((thrown: unknown) => [thrown])) as [Error];
    return error;
  } finally {
    for (const socket of [client, ...servers]) socket.destroy();
    listener.close();
  }
}

const loopback = (port: number): Socket => connect(port, '127.0.0.1');

/** Errors of the network as Node.js makes them: the driver passes them on as they are where it waits for a socket. */
const NETWORK_ERRORS: Readonly<Record<string, () => Promise<NodeJS.ErrnoException>>> = {
  'EPIPE, of a write after the server ended the connection': () =>
    socketError(
      (server) => server.end(),
      (port) => {
        const client = loopback(port).resume();
        return client.on('end', () => client.end().write('late'));
      },
    ),
  'ECONNRESET, of a connection that the server cut': () =>
    socketError(
      (server) => server.once('data', () => server.resetAndDestroy()),
      (port) => {
        const client = loopback(port);
        client.write('early');
        return client;
      },
    ),
  'ECONNREFUSED, where nothing listens': async () => {
    let gone = 0;
    await socketError(
      (server) => server.resetAndDestroy(),
      (port) => {
        gone = port;
        return loopback(port).resume();
      },
    );
    return socketError(
      () => {},
      () => loopback(gone),
    );
  },
  'ERR_SSL_…, of a server that speaks no TLS': () =>
    socketError(
      (server) => server.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      (port) => connectByTls({ port, host: '127.0.0.1' }),
    ),
};

const patient = { timeout: 2000, attempts: Infinity, admit: () => {} };

describe('Trying again', () => {
  for (const [title, make] of Object.entries(NETWORK_ERRORS)) {
    it(`goes on after ${title}`, async () => {
      const error = await make();
      expect(error.code).to.match(new RegExp(`^${title.split(/[,…]/, 1)[0]}`));
      let tries = 0;
      const done = await retryWhilePassing('trying', patient, () => {
        tries += 1;
        return tries < 3 ? Promise.reject(error) : Promise.resolve('done');
      });
      expect({ done, tries }).to.deep.equal({ done: 'done', tries: 3 });
    });

    it(`says that the store is not available when there is no end to ${title}`, async () => {
      const error = await make();
      const given = await rejection(
        retryWhilePassing('trying', { ...patient, timeout: 100 }, () => Promise.reject(error)),
      );
      expect(given).to.include({ code: 'service_unavailable', cause: error });
    });
  }

  it("passes on an error of the program's own, at once and as it is", async () => {
    let tries = 0;
    for (const error of [
      new TypeError('a fault'),
      Object.assign(new Error('no'), { code: 'ERR_ASSERTION' }),
    ]) {
      tries = 0;
      const given = await rejection(
        retryWhilePassing('trying', patient, () => {
          tries += 1;
          return Promise.reject(error);
        }),
      );
      expect(given).to.equal(error);
      expect(tries).to.equal(1);
    }
  });
});

import { expect } from 'chai';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { retryWhilePassing, within } from '../../../src/adapters/mongodb/retry.js';
import { rejection } from './mongo-store-tests.js';

/** The error that a client's socket emits, beside a server that treats it so. */
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

/** Network errors as Node.js makes them: the driver passes them on while it waits for a socket. */
const NETWORK_ERRORS: Readonly<Record<string, () => Promise<NodeJS.ErrnoException>>> = {
  'EPIPE, of a write after the server ended the connection': () =>
    socketError(
      (server) => server.end(),
      (port) => {
        const client = loopback(port).resume();
        return client.on('end', () => client.end().write('late'));
      },
    ),
  'ERR_SSL_…, of a server that speaks no TLS': () =>
    socketError(
      (server) => server.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      (port) => connectByTls({ port, host: '127.0.0.1' }),
    ),
};

const patient = { timeout: 2000, admit: () => {} };

describe('A call to MongoDB', () => {
  for (const [title, make] of Object.entries(NETWORK_ERRORS)) {
    it(`is retried after ${title}, and becomes unavailable when that never ends`, async () => {
      const error = await make();
      expect(error.code).to.match(new RegExp(`^${title.split(/[,…]/, 1)[0]}`));
      let tries = 0;
      const done = await retryWhilePassing('trying', patient, async () => {
        tries += 1;
        if (tries < 3) throw error;
        return 'done';
      });
      expect({ done, tries }).to.deep.equal({ done: 'done', tries: 3 });
      const given = await rejection(
        retryWhilePassing('trying', { ...patient, timeout: 100 }, () => Promise.reject(error)),
      );
      expect(given).to.include({ code: 'service_unavailable', cause: error });
    });
  }

  it("passes on this program's own errors at once and unchanged", async () => {
    for (const error of [
      new TypeError('a fault'),
      Object.assign(new Error('no'), { code: 'ERR_ASSERTION' }),
    ]) {
      let tries = 0;
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

  it('does not begin an attempt after its signal was aborted', async () => {
    let begun = false;
    const reason = new Error('closed');
    const attempt = async (): Promise<void> => void (begun = true);
    expect(await rejection(within(1000, AbortSignal.abort(reason), attempt))).to.equal(reason);
    expect(begun).to.equal(false);
  });
});

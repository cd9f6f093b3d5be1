import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A TCP proxy that can lose connections as a network does: nothing comes through, and neither side is told. */
export class HalfOpenProxy {
  #sockets = new Set();
  #pairs = new Set();
  #isSilent = false;
  #listener = createServer((client) => this.#serve(client));
  #target;

  constructor(target) {
    const [host, port] = target.split(':');
    this.#target = { host, port: Number(port) };
  }

  /** Resolves to where it listens. */
  async open() {
    await once(this.#listener.listen(0, '127.0.0.1'), 'listening');
    return `127.0.0.1:${this.#listener.address().port}`;
  }

  /** Loses all connections for good; those that come are lost, too, until `restore`. */
  silence() {
    this.#isSilent = true;
    for (const pair of this.#pairs) this.#lose(pair);
  }

  /** Loses the connections of clients for good, not those between members of a replica set. New ones are served. */
  loseClients() {
    for (const pair of this.#pairs) if (!pair.isMember) this.#lose(pair);
  }

  #lose(pair) {
    for (const socket of pair) socket.unpipe().removeAllListeners('close').pause();
    this.#pairs.delete(pair);
  }

  /** Serves new connections again. */
  restore() {
    this.#isSilent = false;
  }

  close() {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(client) {
    this.#keep(client);
    if (this.#isSilent) return;
    const server = this.#keep(connect(this.#target));
    const pair = [client, server];
    this.#pairs.add(pair);
    client.pipe(server).pipe(client);
    client.once('data', (greeting) => (pair.isMember = greeting.includes('internalClient')));
    for (const socket of pair) {
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  }

  #keep(socket) {
    this.#sockets.add(socket.setNoDelay().on('error', () => {}));
    return socket;
  }
}

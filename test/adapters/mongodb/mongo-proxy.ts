import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';
import type { MongoServer } from './mongo-server.js';

/** What becomes of a command: it passes, it is lost with its connection, or its reply is. */
export type Fate = 'passes' | 'is lost' | 'loses its reply';

/** A network between the driver and the server that loses messages, and then the connection. */
export class MongoProxy {
  /** Decides on each command. Every value has its BSON type. */
  fateOf: (command: Document) => Fate = () => 'passes';
  readonly #server: MongoServer;
  readonly #sockets = new Set<Socket>();
  readonly #listener = createServer((client) => this.#serve(client));

  constructor(server: MongoServer) {
    this.#server = server;
  }

  async open(): Promise<this> {
    await once(this.#listener.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  /** The server's URI with another database, through this network. */
  uri(database: string): string {
    const { port } = this.#listener.address() as AddressInfo;
    return `mongodb://127.0.0.1:${port}/${database}?directConnection=true`;
  }

  close(): void {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(client: Socket): void {
    const { port, hostname } = new URL(this.#server.uri);
    const server = connect(Number(port), hostname);
    let rest: Buffer = Buffer.alloc(0);
    let losesReply = false;
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      // Each message begins with its length.
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        rest = rest.subarray(message.length);
        const fate = this.#judge(message);
        if (fate === 'is lost') return end();
        losesReply ||= fate === 'loses its reply';
        server.write(message);
      }
    });
    server.on('data', (chunk: Buffer) => (losesReply ? end() : client.write(chunk)));
  }

  #judge(message: Buffer): Fate {
    // Only the first greeting is no OP_MSG: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
    if (message.readInt32LE(12) !== 2013) return 'passes';
    const body = message.subarray(21, 21 + message.readInt32LE(21));
    return this.fateOf(BSON.deserialize(body, { promoteValues: false, promoteLongs: false }));
  }
}

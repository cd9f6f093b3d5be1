import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';
import { listenOnLastingPort } from '../../lasting-port.js';
import { addressOf, type MongoServer } from './mongo-server.js';

/** Stands between the driver and the server, and can be a bad network. */
export class MongoProxy {
  /** Commands that came through, oldest first. Every value has its BSON type. */
  readonly commands: Document[] = [];
  /** How many replies to a command are lost, with their connections, by the command's name. */
  readonly dropReplies = new Map<string, number>();
  /** Nothing comes through in either direction, though connections are accepted. */
  silent = false;
  /** Awaited before a message goes on to the server. */
  onMessage: () => Promise<unknown> | undefined = () => undefined;
  #port = 0;
  readonly #target: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Set<{ isLost: boolean; isMember: boolean; isUsed: boolean }>();
  #listener: Server | undefined;

  constructor(server: MongoServer) {
    this.#target = addressOf(server);
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** How many connections are open. */
  get openConnections(): number {
    return this.#connections.size;
  }

  /** Accepts connections: on the same port as before, if it did before. */
  async open(): Promise<this> {
    this.#listener = createServer((client) => this.#serve(client));
    if (this.#port === 0) this.#port = await listenOnLastingPort(this.#listener);
    else await once(this.#listener.listen(this.#port, '127.0.0.1'), 'listening');
    return this;
  }

  /** Refuses connections, and cuts those there are. */
  async close(): Promise<void> {
    const closed = this.#listener && once(this.#listener, 'close');
    this.#listener?.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /**
   * Loses connections for good, without a word to either side. By default also those of members of a replica set, and
   * those that watch the server.
   */
  lose({ members = true, monitors = true }: { members?: boolean; monitors?: boolean } = {}): void {
    for (const connection of this.#connections)
      connection.isLost ||= (members || !connection.isMember) && (monitors || connection.isUsed);
  }

  #serve(client: Socket): void {
    const server = connect(this.#target);
    const connection = {
      isLost: false,
      isMember: false,
      isUsed: false,
    };
    this.#connections.add(connection);
    let rest: Buffer = Buffer.alloc(0);
    let losesReply = false;
    let passing: Promise<unknown> = Promise.resolve();
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#connections.delete(connection);
        end();
      });
    }
    client.on('data', (chunk: Buffer) => {
      if (this.silent || connection.isLost) return;
      connection.isMember ||= chunk.includes('internalClient');
      connection.isUsed ||= chunk.includes('lsid');
      rest = Buffer.concat([rest, chunk]);
      // Each message begins with its length.
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        rest = rest.subarray(message.length);
        losesReply ||= this.#note(message);
        const held = this.onMessage();
        passing = passing.then(() => held).then(() => server.write(message), end);
      }
    });
    server.on('data', (chunk: Buffer) => {
      if (losesReply) end();
      else if (!this.silent && !connection.isLost) client.write(chunk);
    });
  }

  /** Notes a command; returns whether its reply is lost. */
  #note(message: Buffer): boolean {
    // Only the first greeting is no OP_MSG: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
    if (message.readInt32LE(12) !== 2013) return false;
    const body = message.subarray(21, 21 + message.readInt32LE(21));
    const command = BSON.deserialize(body, { promoteValues: false, promoteLongs: false });
    this.commands.push(command);
    const [name = ''] = Object.keys(command);
    const drops = this.dropReplies.get(name) ?? 0;
    this.dropReplies.set(name, Math.max(0, drops - 1));
    return drops > 0;
  }
}

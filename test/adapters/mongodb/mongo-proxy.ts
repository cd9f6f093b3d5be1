import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import { addressOf, type MongoServer } from './mongo-server.js';
import { bodyOf, commandName, Frames } from './mongo-wire.js';

/** Stands between the driver and the server, and can be a network that is no good. */
export class MongoProxy {
  /** Commands that came through, oldest first. */
  readonly commands: Document[] = [];
  /** Answers to these commands are lost, with their connection, as often as said. */
  readonly dropReplies = new Map<string, number>();
  /** Nothing comes through in either direction, though connections are taken. */
  silent = false;
  /** Awaited before a command goes on to the server; `count` is how often it came, `gone` the end of its connection. */
  onCommand: (name: string, count: number, gone: Promise<unknown>) => Promise<unknown> | undefined = () =>
    undefined;
  #port = 0;
  readonly #target: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  #listener: Server | undefined;

  constructor(server: MongoServer) {
    this.#target = addressOf(server);
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** How often a command came through. */
  count(name: string): number {
    return this.commands.filter((command) => Object.keys(command)[0] === name).length;
  }

  /** Takes connections: where it did before, if it did. */
  async open(): Promise<this> {
    this.#listener = createServer((client) => this.#serve(client));
    this.#listener.listen(this.#port, '127.0.0.1');
    await once(this.#listener, 'listening');
    ({ port: this.#port } = this.#listener.address() as AddressInfo);
    return this;
  }

  /** Refuses connections, and cuts those there are. */
  async close(): Promise<void> {
    const closed = this.#listener && once(this.#listener, 'close');
    this.#listener?.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(client: Socket): void {
    const server = connect(this.#target);
    const requests = new Frames();
    let losesReply = false;
    const gone = once(client, 'close');
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
        end();
      });
    }
    client.on('data', (chunk: Buffer) => {
      if (this.silent) return;
      for (const frame of requests.read(chunk)) {
        const name = commandName(frame);
        this.commands.push(bodyOf(frame));
        const drops = this.dropReplies.get(name) ?? 0;
        if (drops > 0) {
          this.dropReplies.set(name, drops - 1);
          losesReply = true;
        }
        const held = this.onCommand(name, this.count(name), gone);
        passing = passing.then(() => held).then(() => server.write(frame), end);
      }
    });
    server.on('data', (chunk: Buffer) => {
      if (losesReply) end();
      else if (!this.silent) client.write(chunk);
    });
  }
}

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between client and service and loses answers, with their connection: the client cannot know what became of its request. */
export class LossyProxy {
  /** What was lost, as text. */
  readonly lost: string[] = [];
  readonly #target: URL;
  readonly #loses: () => boolean;
  readonly #sockets = new Set<Socket>();
  readonly #listener: Server;

  /** @param loses asked for each answer */
  constructor(target: string, loses: () => boolean) {
    this.#target = new URL(target);
    this.#loses = loses;
    this.#listener = createServer((client) => this.#serve(client));
  }

  /** @returns the target's address, by way of the proxy */
  async open(): Promise<string> {
    this.#listener.listen(0, '127.0.0.1');
    await once(this.#listener, 'listening');
    const url = new URL(this.#target);
    url.port = String((this.#listener.address() as AddressInfo).port);
    return url.href;
  }

  async close(): Promise<void> {
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
    }
    client.pipe(server);
    // Answers to creates are as short as to come in one piece.
    server.on('data', (answer) => {
      if (this.#loses()) {
        this.lost.push(answer.toString());
        client.destroy();
      } else {
        client.write(answer);
      }
    });
  }
}

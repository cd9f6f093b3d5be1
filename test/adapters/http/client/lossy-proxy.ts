import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Numbers from 0 to 1, the same every time (a linear congruential generator). */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Stands between client and service and loses answers, with their connection: the client cannot know what became of its request. */
export class LossyProxy {
  /** What was lost, as text. */
  readonly lost: string[] = [];
  /** Where requests go; without it, connections break at once. */
  target: URL | undefined;
  readonly #loses: () => boolean | 'the end';
  readonly #sockets = new Set<Socket>();
  readonly #listener: Server;

  /** @param loses asked for each answer; `the end` lets a part of it through */
  constructor(target: string, loses: () => boolean | 'the end') {
    this.target = new URL(target);
    this.#loses = loses;
    this.#listener = createServer((client) => this.#serve(client));
  }

  /** @returns the target's address, by way of the proxy */
  async open(): Promise<string> {
    this.#listener.listen(0, '127.0.0.1');
    await once(this.#listener, 'listening');
    const url = new URL(this.target ?? '');
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
    if (this.target === undefined) {
      client.on('error', () => {}).destroy();
      return;
    }
    const server = connect(Number(this.target.port), this.target.hostname);
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
      const loses = this.#loses();
      if (loses === false) {
        client.write(answer);
        return;
      }
      this.lost.push(answer.toString());
      if (loses === 'the end') client.end(answer.subarray(0, answer.length / 2), () => client.destroy());
      else client.destroy();
    });
  }
}

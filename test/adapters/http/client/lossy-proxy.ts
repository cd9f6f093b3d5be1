import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between clients and a service, and loses some of the answers, with their connection. */
export class LossyProxy {
  /** The probability that an answer is lost; half of those get out in part. */
  loss = 0;
  /** How many answers were lost. */
  lost = 0;
  /** Where requests go; without it, connections break at once. */
  target: URL | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #listener: Server;
  #seed = 1;

  private constructor() {
    this.#listener = createServer((client) => this.#serve(client));
  }

  static async open(target: string): Promise<LossyProxy> {
    const proxy = new LossyProxy();
    proxy.target = new URL(target);
    proxy.#listener.listen(0, '127.0.0.1');
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  /** The address of the service, as clients of the proxy see it. */
  get url(): string {
    const { port } = this.#listener.address() as AddressInfo;
    return `http://127.0.0.1:${port}/v1`;
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
    const service = connect(Number(this.target.port), this.target.hostname);
    const end = (): void => {
      client.destroy();
      service.destroy();
    };
    for (const socket of [client, service]) {
      this.#sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    let answered = true;
    client.on('data', (chunk) => {
      answered = false;
      service.write(chunk);
    });
    service.on('data', (chunk) => {
      const loses = !answered && this.#random() < this.loss;
      answered = true;
      if (!loses) client.write(chunk);
      else {
        this.lost += 1;
        if (this.#random() < 0.5) client.end(chunk.subarray(0, chunk.length / 2), end);
        else end();
      }
    });
  }

  /** The same chances in every run (mulberry32). */
  #random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

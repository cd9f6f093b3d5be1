import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

export interface Received {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

async function received(response: IncomingMessage): Promise<Received> {
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: await text(response) };
}

/** A client of the service with connections of its own, kept or not. Its promises reject when a connection breaks. */
export class StoreClient {
  readonly #agent: Agent;
  readonly #key: string | undefined;

  constructor(key?: string, keepAlive = true) {
    this.#key = key;
    this.#agent = new Agent({ keepAlive });
  }

  send(method: string, url: string, body?: string): Promise<Received> {
    const headers = {
      ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    };
    return new Promise((resolve, reject) => {
      const request = httpRequest(url, { method, headers, agent: this.#agent }, (response) => {
        resolve(received(response));
      });
      request.on('error', reject).end(body);
    });
  }

  get(url: string): Promise<Received> {
    return this.send('GET', url);
  }

  /** Adds an animal; its id as text. */
  async add(url: string, name: string): Promise<string> {
    const { status, body } = await this.send(
      'POST',
      `${url}/pets`,
      JSON.stringify({ name, categoryId: 1 }),
    );
    const id = /^\{"id":(\d+),/.exec(body)?.[1];
    if (status !== 201 || id === undefined) throw new Error(`not added: ${status} ${body}`);
    return id;
  }

  /** All animals, by following the links from page to page: names by id, in the order of the list. */
  async all(url: string): Promise<Map<string, string>> {
    const animals = new Map<string, string>();
    let next: string | undefined = `${url}/pets?limit=100`;
    while (next !== undefined) {
      const { status, headers, body } = await this.get(next);
      if (status !== 200) throw new Error(`no page: ${status} ${body}`);
      for (const { id, name } of JSON.parse(body) as ReadonlyArray<{ id: number; name: string }>) {
        if (animals.has(String(id))) throw new Error(`${id} is listed twice`);
        animals.set(String(id), name);
      }
      const [, target] = /^<([^>]*)>; rel="next"$/.exec(String(headers['link'])) ?? [];
      next = target === undefined ? undefined : new URL(target, next).href;
    }
    return animals;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The status of one request on a connection of its own. */
export async function statusOf(url: string, key?: string): Promise<number> {
  const client = new StoreClient(key, false);
  return (await client.get(url)).status;
}

/** Waits until requests get a status; resolves to the milliseconds that it took. */
export async function untilStatus(status: number, url: string, key?: string): Promise<number> {
  const began = performance.now();
  while ((await statusOf(url, key)) !== status) {
    if (performance.now() - began > 30_000) throw new Error(`still not ${status}`);
    await delay(20);
  }
  return performance.now() - began;
}

// What `rolling` and `faults` share: clients of the service, and a ledger of what was created under idempotency keys.
import http from 'node:http';
import https from 'node:https';
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';

export const KEY = 'attacking-key-0123456789';

/** Sends a request on an agent's connections. Resolves to the response with its body; rejects if there is none in time. */
export function send(agent, url, { method = 'GET', headers, body, timeout = 20_000 } = {}) {
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const all = { Host: 'animals.example', Authorization: `Bearer ${KEY}`, ...headers };
    const sent = request(url, { method, agent, headers: all, signal: AbortSignal.timeout(timeout) });
    sent.on('error', reject);
    sent.on('response', (response) => {
      text(response).then(
        (read) => resolve({ status: response.statusCode, headers: response.headers, body: read }),
        reject,
      );
    });
    sent.end(body);
  });
}

/** Creates an animal of this name; without a key the request must not be repeated. */
export const create = (agent, base, name, key) =>
  send(agent, new URL('/v1/pets', base), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) },
    body: JSON.stringify({ name, categoryId: 7 }),
  });

/** What was acknowledged, by the animals' names, each of which is used once. */
export class Ledger {
  #created = new Map();

  get size() {
    return this.#created.size;
  }

  /** A new name, which is the idempotency key, too. */
  name() {
    return randomUUID();
  }

  acknowledge(name, body) {
    this.#created.set(name, body);
  }

  /** Compares with all animals of a service. */
  async compare(base) {
    const agent = new http.Agent({ keepAlive: true });
    const stored = new Map();
    for (let path = '/v1/pets?limit=100'; path !== undefined;) {
      const { headers, body } = await send(agent, new URL(path, base));
      for (const pet of JSON.parse(body)) stored.set(pet.name, [...(stored.get(pet.name) ?? []), pet]);
      path = /<([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1];
    }
    agent.destroy();
    const isLost = ([name, body]) => !stored.get(name)?.some((pet) => JSON.stringify(pet) === body);
    return {
      lost: [...this.#created].filter(isLost).length,
      twice: [...stored.values()].filter(({ length }) => length > 1).length,
    };
  }

  /** Repeats all creates that were acknowledged; resolves to how many get another response than the first. */
  async replay(base, clients = 16) {
    const agent = new http.Agent({ keepAlive: true });
    const left = [...this.#created];
    let differing = 0;
    const client = async () => {
      for (let next; (next = left.pop());) {
        const [name, first] = next;
        const { status, headers, body } = await create(agent, base, name, name);
        if (status !== 201 || headers['idempotency-replayed'] !== 'true' || body !== first) differing += 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    agent.destroy();
    return differing;
  }
}

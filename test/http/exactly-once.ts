import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import { startService, type Service } from '../../src/bootstrap/service.js';
import { readSettings } from '../../src/bootstrap/settings.js';
import { TOKENS, createContainer } from '../../src/bootstrap/container.js';
import { SettableClock } from '../adapters/api-keys/fixtures.js';
import { LossyProxy, numbers } from './lossy-proxy.js';

const KEY = 'key-of-exactly-once-0123456789';
const HOUR = 60 * 60 * 1000;
const SECOND = 1000;

/** A store for one test, empty; it may be opened again. */
export interface OneStore {
  readonly url: string;
  readonly durable: boolean;
  dispose(): Promise<void>;
}

interface Created {
  readonly status: number;
  readonly id: string;
  readonly text: string;
  readonly location: string | null;
  readonly replayed: boolean;
}

async function create(url: string, name: string, idempotencyKey: string): Promise<Created> {
  const answer = await fetch(`${url}/pets`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    },
    body: `{"name":"${name}","categoryId":1}`,
  });
  const text = await answer.text();
  return {
    status: answer.status,
    id: /^\{"id":(\d+),/.exec(text)?.[1] ?? '',
    text,
    location: answer.headers.get('location'),
    replayed: answer.headers.get('idempotency-replayed') === 'true',
  };
}

/** As a client does that wants its animal: comes again until it has an answer that decides. */
async function createAtLast(url: string, name: string, idempotencyKey: string): Promise<Created> {
  for (;;) {
    const created = await create(url, name, idempotencyKey).catch((error: unknown) => {
      if (error instanceof TypeError) return undefined; // the connection broke
      throw error;
    });
    if (created !== undefined && created.status !== 409 && created.status !== 503) return created;
  }
}

/** The names of all animals, in the order of the list. */
async function allNames(url: string): Promise<string[]> {
  const names: string[] = [];
  let next: string | undefined = `${url}/pets?limit=100`;
  while (next !== undefined) {
    const page: Response = await fetch(next, { headers: { Authorization: `Bearer ${KEY}` } });
    names.push(...[...(await page.text()).matchAll(/"name":"([^"]*)"/g)].map(([, name = '']) => name));
    const link = /^<([^>]*)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
    next = link === undefined ? undefined : new URL(link, url).href;
  }
  return names;
}

/** Runs `work` for every number below `count`, `atOnce` of them at a time. */
async function each(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** What an Idempotency-Key promises, over HTTP and at a size at which chance has its say. */
export function describeExactlyOnce(title: string, openStore: () => Promise<OneStore>): void {
  describe(title, () => {
    let store: OneStore;
    let service: Service;
    let clock: SettableClock;

    const start = async (): Promise<void> => {
      const container = await createContainer(
        readSettings({
          HOST: '127.0.0.1',
          PORT: '0',
          STORE_URL: store.url,
          API_KEYS: KEY,
          LOG_LEVEL: 'silent',
        }),
        [
          new ContainerModule(({ rebind }) => {
            rebind(TOKENS.clock).toConstantValue(clock);
          }),
        ],
      );
      service = await startService(container);
    };

    beforeEach(async () => {
      clock = new SettableClock();
      store = await openStore();
      await start();
    });
    afterEach(async () => {
      await service.stop(0);
      await store.dispose();
    });

    it('makes exactly 2000 animals of 2000 creates by a client that repeats what it lost, of every ten answers three', async () => {
      const random = numbers(3);
      const proxy = new LossyProxy(service.url, () => random() < 0.3);
      const lossy = await proxy.open();
      const created = new Map<string, Created>();
      try {
        await each(2000, 16, async (index) => {
          const name = `n-${index}`;
          created.set(name, await createAtLast(lossy, name, `key-${index}`));
        });
      } finally {
        await proxy.close();
      }
      const decided = [...created.values()];
      expect(decided.filter(({ status }) => status !== 201)).to.deep.equal([]);
      expect(new Set(decided.map(({ id }) => id)).size).to.equal(2000);
      expect(decided.filter(({ replayed }) => replayed).length).to.be.within(400, 800);
      expect((await allNames(service.url)).sort()).to.deep.equal([...created.keys()].sort());
      // What was lost said the same as what came through, to the byte.
      expect(proxy.lost.length).to.be.above(400);
      for (const text of proxy.lost) {
        const body = text.slice(text.indexOf('\r\n\r\n') + 4);
        const kept = created.get(/"name":"([^"]*)"/.exec(body)?.[1] ?? '');
        expect(body).to.equal(kept?.text);
        expect(text).to.include(`\r\nLocation: ${kept?.location}\r\n`);
      }
    }).timeout(240_000);

    it('makes exactly 200 animals of 200 times eight equal creates at the same time', async () => {
      const ids = new Set<string>();
      await each(200, 4, async (index) => {
        const equal = Array.from({ length: 8 }, () =>
          createAtLast(service.url, `n-${index}`, `key-${index}`),
        );
        const answers = await Promise.all(equal);
        expect(new Set(answers.map(({ text, location }) => `${text} ${location}`)).size).to.equal(1);
        ids.add(answers[0]?.id ?? '');
      });
      expect(ids.size).to.equal(200);
      expect((await allNames(service.url)).length).to.equal(200);
    }).timeout(240_000);

    it('knows a key for 24 hours, to the second, and then no longer', async () => {
      const first = await create(service.url, 'Bella', 'day');
      clock.advance(24 * HOUR - SECOND);
      const within = await create(service.url, 'Bella', 'day');
      expect([within.text, within.replayed]).to.deep.equal([first.text, true]);
      expect((await create(service.url, 'Milo', 'day')).status).to.equal(422);
      clock.advance(2 * SECOND);
      const after = await create(service.url, 'Bella', 'day');
      expect([after.status, after.replayed]).to.deep.equal([201, false]);
      expect(after.id).to.not.equal(first.id);
      // From here on the second animal is the key's, for 24 hours of its own.
      clock.advance(24 * HOUR - SECOND);
      expect((await create(service.url, 'Bella', 'day')).text).to.equal(after.text);
    });

    it('knows a key again after a restart, where the store outlives it', async function () {
      if (!store.durable) this.skip();
      const first = await create(service.url, 'Bella', 'restart');
      await service.stop(0);
      await start();
      const again = await create(service.url, 'Bella', '"restart"');
      expect([again.text, again.location, again.replayed]).to.deep.equal([first.text, first.location, true]);
      expect((await create(service.url, 'Milo', 'restart')).status).to.equal(422);
      expect(await allNames(service.url)).to.deep.equal(['Bella']);
    });
  });
}

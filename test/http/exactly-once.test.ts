import { expect } from 'chai';
import { LossyProxy, numbers } from './lossy-proxy.js';
import { describeOnStores } from './service-on-store.js';

const CREATES = 500;
const AT_ONCE = 16;

interface Created {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
  readonly replayed: boolean;
}

async function create(url: string, key: string, name: string): Promise<Created> {
  const response = await fetch(`${url}/pets`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `key of ${name}`.replaceAll(' ', '-'),
    },
    body: `{"name":"${name}","categoryId":1}`,
  });
  const { status, headers } = response;
  const replayed = headers.get('idempotency-replayed') === 'true';
  return { status, text: await response.text(), location: headers.get('location'), replayed };
}

/** Retries until there is a response that decides. */
async function createAtLast(url: string, key: string, name: string): Promise<Created> {
  for (;;) {
    const created = await create(url, key, name).catch((error: unknown) => {
      if (error instanceof TypeError) return undefined; // the connection broke
      throw error;
    });
    if (created !== undefined && created.status !== 409 && created.status !== 503) return created;
  }
}

/** The names of all animals, in the order of the list. */
async function allNames(url: string, key: string): Promise<string[]> {
  const names: string[] = [];
  for (let next: string | undefined = `${url}/pets?limit=100`; next !== undefined; ) {
    const page: Response = await fetch(next, { headers: { Authorization: `Bearer ${key}` } });
    names.push(...[...(await page.text()).matchAll(/"name":"([^"]*)"/g)].map(([, name = '']) => name));
    const link = /^<([^>]*)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
    next = link === undefined ? undefined : new URL(link, url).href;
  }
  return names;
}

describeOnStores('An idempotency key', (start) => {
  it(`creates ${CREATES} animals of ${CREATES} creates by a client that loses three of ten responses, and retries`, async () => {
    const service = await start();
    const { key } = service.keys;
    const random = numbers(3);
    const proxy = new LossyProxy(service.url, () => random() < 0.3);
    const lossy = await proxy.open();
    const created = new Map<string, Created>();
    try {
      const names = Array.from({ length: CREATES }, (_, index) => `n-${index}`);
      const worker = async (): Promise<void> => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) {
          created.set(name, await createAtLast(lossy, key, name));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));

      const decided = [...created.values()];
      expect(decided.filter(({ status }) => status !== 201)).to.deep.equal([]);
      expect(decided.filter(({ replayed }) => replayed).length).to.be.within(CREATES / 5, CREATES / 2);
      expect((await allNames(service.url, key)).sort()).to.deep.equal([...created.keys()].sort());
      // The lost responses were the same as the replayed ones, to the byte.
      expect(proxy.lost.length).to.be.above(CREATES / 5);
      for (const text of proxy.lost) {
        const body = text.slice(text.indexOf('\r\n\r\n') + 4);
        const kept = created.get(/"name":"([^"]*)"/.exec(body)?.[1] ?? '');
        expect(body).to.equal(kept?.text);
        expect(text).to.include(`\r\nLocation: ${kept?.location}\r\n`);
      }
    } finally {
      await proxy.close();
      await service.stop();
    }
  }).timeout(120_000);
});

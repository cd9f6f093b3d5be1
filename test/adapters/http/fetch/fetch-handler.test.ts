import { expect } from 'chai';
import { createFetchHandler, type FetchHandler } from '../../../../src/adapters/http/fetch/fetch-handler.js';
import { HttpInterface, type HttpInterfaceOptions } from '../../../../src/adapters/http/http-interface.js';
import { Readiness } from '../../../../src/adapters/http/routes/readiness.js';
import { createAnimalStore } from '../../../../src/application/create-animal-store.js';
import { SCOPES, type Authenticator } from '../../../../src/application/ports/authenticator.js';
import { MemoryPetRepository } from '../../../../src/adapters/memory/memory-pet-repository.js';
import { HeldPetRepository } from '../held-pet-repository.js';

const PETS = 'http://animals.test/v1/pets';
const KEY = { authorization: 'Bearer any' };
const REX = '{"name":"Rex","categoryId":1}';

const openDoor: Authenticator = {
  authenticate: async () => ({ ok: true, principal: { keyId: 'anyone', scopes: new Set(SCOPES) } }),
};

interface Made {
  readonly handle: FetchHandler;
  readonly pets: MemoryPetRepository;
  /** What the log was told of as a failure. */
  readonly failed: unknown[];
}

function make({ settings, log }: Pick<HttpInterfaceOptions, 'settings' | 'log'> = {}): Made {
  const pets = new MemoryPetRepository();
  const failed: unknown[] = [];
  const http = new HttpInterface({
    store: createAnimalStore({ pets }),
    authenticator: openDoor,
    readiness: new Readiness(async () => {}),
    settings,
    log: log ?? { answered: () => {}, failed: (_, error) => void failed.push(error) },
  });
  return { handle: createFetchHandler(http), pets, failed };
}

const get = (url: string, init: RequestInit = {}): Request => new Request(url, { headers: KEY, ...init });

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Text goes as bytes: Request would say that it is text/plain. */
const post = (
  body: string | ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Request =>
  new Request(PETS, {
    method: 'POST',
    headers: { ...KEY, ...headers },
    body: typeof body === 'string' ? utf8(body) : body,
    duplex: 'half',
  });

const codeOf = async (response: Response): Promise<[status: number, code: unknown]> => {
  const { code }: { code: unknown } = JSON.parse(await response.text());
  return [response.status, code];
};

/** A body that comes a chunk at a time, and only as it is asked for; `undefined` breaks it off. */
function bodyOf(chunks: Iterable<Uint8Array | undefined>): {
  readonly stream: ReadableStream<Uint8Array>;
  readonly seen: { pulled: number; cancelled: boolean };
} {
  const seen = { pulled: 0, cancelled: false };
  const iterator = chunks[Symbol.iterator]();
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = iterator.next();
        if (done) return controller.close();
        seen.pulled += 1;
        if (value === undefined) controller.error(new Error('broken off'));
        else controller.enqueue(value);
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

function* endless(size: number): Generator<Uint8Array> {
  for (;;) yield new Uint8Array(size);
}

const listed = async ({ pets }: Made): Promise<number> => (await pets.list({ limit: 100 })).length;

const isFull = (): never => {
  throw new Error('the disk is full');
};

describe('The fetch handler', () => {
  it('reads a body however it is cut, and whether or not its length is told', async () => {
    for (const headers of [{}, { 'content-length': String(REX.length) }]) {
      const made = make();
      const bytes = [...utf8(REX)].map((byte) => Uint8Array.of(byte));
      const { stream } = bodyOf([new Uint8Array(), ...bytes, new Uint8Array()]);
      const response = await made.handle(post(stream, headers));
      expect(response.status).to.equal(201);
      expect(await response.text()).to.equal('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
    }
  });

  it('reads a body up to the limit and no further: the rest is cancelled, and nothing stored', async () => {
    const made = make({ settings: { bodyLimit: 100 } });
    const { stream, seen } = bodyOf(endless(1));
    expect(await codeOf(await made.handle(post(stream)))).to.deep.equal([413, 'payload_too_large']);
    expect(seen).to.deep.equal({ pulled: 101, cancelled: true });
    expect(await listed(made)).to.equal(0);
  });

  it('reads nothing of a body whose announced length is beyond the limit', async () => {
    const { handle } = make({ settings: { bodyLimit: 100 } });
    const { stream, seen } = bodyOf(endless(10));
    const response = await handle(post(stream, { 'content-length': '101' }));
    expect(await codeOf(response)).to.deep.equal([413, 'payload_too_large']);
    expect(seen).to.deep.equal({ pulled: 0, cancelled: true });
  });

  it('leaves a body alone that is not wanted', async () => {
    const { handle } = make();
    for (const request of [
      post(bodyOf(endless(10)).stream, { authorization: '' }),
      new Request(`${PETS}/1`, { method: 'PUT', headers: KEY, body: REX }),
    ]) {
      expect((await handle(request)).status).to.be.oneOf([401, 405]);
      expect(request.bodyUsed).to.equal(false);
      expect(request.body?.locked).to.equal(false);
    }
  });

  it('looks for a first byte before it judges the type of a body of unknown length', async () => {
    const { handle } = make();
    const plain = { 'content-type': 'text/plain' };
    const { stream } = bodyOf([new Uint8Array(), new Uint8Array()]);
    expect(await codeOf(await handle(post(stream, plain)))).to.deep.equal([400, 'missing_body']);
    const { stream: some, seen } = bodyOf(endless(1));
    expect((await handle(post(some, plain))).status).to.equal(415);
    expect(seen.pulled).to.equal(1);
  });

  it('takes a body that breaks off for a client that went away, and stores nothing', async () => {
    const made = make();
    const { stream } = bodyOf([utf8(REX), undefined]);
    expect(await codeOf(await made.handle(post(stream)))).to.deep.equal([408, 'request_timeout']);
    expect(await listed(made)).to.equal(0);
    expect(made.failed).to.deep.equal([]);
  });

  it('tells the log of a body that was read before it came', async () => {
    const { handle, failed } = make();
    const request = post(REX);
    await request.text();
    expect(await codeOf(await handle(request))).to.deep.equal([500, 'internal_error']);
    expect(failed).to.have.length(1);
    expect(String(failed[0])).to.match(/body was read before/);
  });

  it('ends the work of a client that goes away, and gives its place to another', async () => {
    const pets = new HeldPetRepository();
    const http = new HttpInterface({
      store: createAnimalStore({ pets }),
      authenticator: openDoor,
      readiness: new Readiness(async () => {}),
      settings: { maxInFlight: 1 },
    });
    const handle = createFetchHandler(http);
    for (const [round, request] of [
      (signal: AbortSignal) => get(PETS, { signal }),
      (signal: AbortSignal) => new Request(post(REX), { signal }),
    ].entries()) {
      const client = new AbortController();
      const answer = handle(request(client.signal));
      await pets.called(round + 1);
      expect((await handle(get(PETS))).status).to.equal(503);
      client.abort();
      expect((await answer).status).to.equal(408);
      expect(pets.calls[round]?.signal?.aborted).to.equal(true);
    }
  });

  it('waits no longer for the body of a client that goes away', async () => {
    const { handle } = make();
    const client = new AbortController();
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const answer = handle(new Request(post(silent), { signal: client.signal }));
    client.abort();
    expect((await answer).status).to.equal(408);
  });

  it('asks no store for a client that has gone already', async () => {
    const made = make();
    const response = await made.handle(new Request(post(REX), { signal: AbortSignal.abort() }));
    expect(response.status).to.equal(408);
    expect(await listed(made)).to.equal(0);
  });

  it('tells the length of every body in bytes, to HEAD too, and of none where there is none', async () => {
    const made = make();
    await made.pets.add({ name: 'Zoë 🐎', categoryId: 1n, status: 'sold' });
    const got = await made.handle(get(PETS));
    const bytes = await got.arrayBuffer();
    const head = await made.handle(get(PETS, { method: 'HEAD' }));
    expect(head.body).to.equal(null);
    for (const { headers } of [got, head]) {
      expect(headers.get('content-length')).to.equal(String(bytes.byteLength));
    }
    const options = await made.handle(get(PETS, { method: 'OPTIONS' }));
    expect([options.status, options.body, options.headers.get('content-length')]).to.deep.equal([
      204,
      null,
      null,
    ]);
  });

  it('takes no fragment of a URL for a part of its path or query', async () => {
    const { handle } = make();
    expect((await handle(get(`${PETS}#/nowhere`))).status).to.equal(200);
    expect((await handle(get(`${PETS}?limit=5#0`))).status).to.equal(200);
    expect((await handle(get(`http://animals.test/nowhere#/v1/pets`))).status).to.equal(404);
  });

  it('never rejects, whatever is wrong with the log or the settings', async () => {
    const silent = make({ log: { answered: isFull, failed: isFull } });
    expect((await silent.handle(get(PETS))).status).to.equal(200);
    expect((await silent.handle(post(REX))).status).to.equal(201);
    const unsendable = make({ settings: { publicUrl: 'https://звери.example/v1' } });
    const response = await unsendable.handle(post(REX, { 'x-request-id': 'r-1' }));
    expect(response.headers.get('x-request-id')).to.equal('r-1');
    expect(await codeOf(response)).to.deep.equal([500, 'internal_error']);
  });
});

import { expect } from 'chai';
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { createFetchHandler } from '../../../../src/adapters/http/fetch/index.js';
import type { HttpInterfaceOptions } from '../../../../src/adapters/http/index.js';
import { openMemoryStore } from '../../../../src/adapters/memory/index.js';
import { HeldPetRepository, KEY, KeptLog, REX, httpInterface, sentOutcome } from '../fixtures.js';

const PETS = 'http://animals.test/v1/pets';

function make(options: Partial<HttpInterfaceOptions> = {}) {
  const { pets } = openMemoryStore();
  const log = new KeptLog();
  const handle = createFetchHandler(httpInterface({ pets, log, ...options }));
  return { handle, log, stored: async () => (await pets.list({ limit: 100 })).length };
}

const get = (url: string, init: RequestInit = {}): Request =>
  new Request(url, { headers: KEY, ...init });

/** Text is sent as bytes: Request would call it text/plain. */
const post = (
  body: string | ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Request =>
  new Request(PETS, {
    method: 'POST',
    headers: { ...KEY, ...headers },
    body: typeof body === 'string' ? Buffer.from(body) : body,
    duplex: 'half',
  });

/** A body whose chunks come one at a time, when they are read. `undefined` breaks it off. */
function bodyOf(chunks: Iterable<Uint8Array | undefined>) {
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

describe('The fetch handler', () => {
  it('reads a body in any chunks', async () => {
    const bytes = [...Buffer.from(REX)].map((byte) => Uint8Array.of(byte));
    const { stream } = bodyOf([new Uint8Array(), ...bytes, new Uint8Array()]);

    const response = await make().handle(post(stream));

    expect(await response.text()).to.equal(
      '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
    );
  });

  for (const [what, pulled, cancelled, headers] of [
    ['reads a body up to the limit, cancels the rest', 101, true, {}],
    ['reads nothing of a body that announces more', 0, false, { 'content-length': '101' }],
  ] as const)
    it(`${what}, and stores nothing`, async () => {
      const { handle, stored } = make({ settings: { bodyLimit: 100 } });
      const { stream, seen } = bodyOf(endless(1));

      const refused = await sentOutcome(handle(post(stream, headers)));

      expect(refused).to.equal('413 payload_too_large');
      expect(seen).to.deep.equal({ pulled, cancelled });
      expect(await stored(), 'stored animals').to.equal(0);
    });

  it('does not touch a body that comes without a key', async () => {
    const request = post(bodyOf(endless(10)).stream, { authorization: '' });

    const { status } = await make().handle(request);

    expect(status).to.equal(401);
    expect([request.bodyUsed, request.body?.locked]).to.deep.equal([false, false]);
  });

  it('treats a body that breaks off as a client that disconnects, and stores nothing', async () => {
    const { handle, log, stored } = make();
    const { stream } = bodyOf([Buffer.from(REX), undefined]);

    const response = await sentOutcome(handle(post(stream)));

    expect(response).to.equal('408 request_timeout');
    expect(log.failures).to.deep.equal([]);
    expect(await stored(), 'stored animals').to.equal(0);
  });

  it('logs that a body was read before, also where the host then hands over none', async () => {
    const { handle, log } = make();
    const read = post(REX);
    await read.text();
    const hidden = Object.defineProperties(post(REX), {
      body: { value: null },
      bodyUsed: { value: true },
    });

    for (const request of [read, hidden])
      expect(await sentOutcome(handle(request))).to.equal('500 internal_error');
    expect(String(log.failures)).to.match(/has read the body.*has read the body/);
  });

  it('ends the work of a client that disconnects', async () => {
    const pets = new HeldPetRepository();
    const handle = createFetchHandler(httpInterface({ pets }));
    const client = new AbortController();

    const response = handle(get(PETS, { signal: client.signal }));
    await pets.called(1);
    client.abort();

    expect((await response).status).to.equal(408);
    expect(pets.calls[0]?.signal?.aborted, 'aborted').to.equal(true);
  });

  it('waits no longer for a body whose client disconnects, and cancels it', async () => {
    const cancel = mock.fn();
    const reading = Promise.withResolvers<void>();
    const pull = () => {
      reading.resolve();
      return new Promise<void>(() => {});
    };
    const silent = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
    const client = new AbortController();

    const request = Object.defineProperty(post(silent), 'signal', { value: client.signal });
    const response = make().handle(request);
    await reading.promise;
    client.abort();

    expect(await sentOutcome(response)).to.equal('408 request_timeout');
    expect(cancel.mock.callCount(), 'cancelled').to.equal(1);
  });

  for (const [what, request] of [
    ['a create', post(REX)],
    ['a refused create', post(REX, { authorization: '' })],
  ] as const)
    it(`leaves no listener of ${what} on a signal that many requests share`, async () => {
      const { signal } = new AbortController();
      Object.defineProperty(request, 'signal', { value: signal });

      await make().handle(request);

      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });

  for (const [url, status] of [
    [`${PETS}?limit=5#/nowhere`, 200],
    ['http://animals.test/nowhere#/v1/pets', 404],
  ] as const)
    it(`ignores the fragment of ${url}`, async () => {
      const response = await make().handle(get(url));
      expect(response.status).to.equal(status);
    });
});

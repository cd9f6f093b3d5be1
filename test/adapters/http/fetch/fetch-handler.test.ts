import { expect } from 'chai';
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { createFetchHandler } from '../../../../src/adapters/http/fetch/index.js';
import type { HttpInterface, HttpInterfaceOptions } from '../../../../src/adapters/http/index.js';
import * as entityTags from '../../../../src/adapters/http/entity-tag.js';
import { openMemoryStore } from '../../../../src/adapters/memory/index.js';
import { HeldPetRepository, KEY, KeptLog, REX, httpInterface, sentOutcome } from '../fixtures.js';

const PETS = 'http://animals.test/v1/pets';

function make(options: Partial<HttpInterfaceOptions> = {}) {
  const { pets } = openMemoryStore();
  const log = new KeptLog();
  return { handle: createFetchHandler(httpInterface({ pets, log, ...options })), pets, log };
}

const get = (url: string, init: RequestInit = {}): Request =>
  new Request(url, { headers: KEY, ...init });

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Text is sent as bytes: Request would call it text/plain. */
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

const stored = async ({ pets }: ReturnType<typeof make>): Promise<number> =>
  (await pets.list({ limit: 100 })).length;

describe('The fetch handler', () => {
  for (const [what, headers] of [
    ['without its length', {}],
    ['with its length', { 'content-length': String(REX.length) }],
  ] as const) {
    it(`reads a body ${what} in any chunks`, async () => {
      const bytes = [...utf8(REX)].map((byte) => Uint8Array.of(byte));
      const { stream } = bodyOf([new Uint8Array(), ...bytes, new Uint8Array()]);

      const response = await make().handle(post(stream, headers));

      expect(response.status).to.equal(201);
      expect(await response.text()).to.equal(
        '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
      );
    });
  }

  for (const [what, pulled, headers] of [
    ['reads a body up to the limit, cancels the rest', 101, {}],
    ['reads nothing of a body that announces more than the limit', 0, { 'content-length': '101' }],
  ] as const) {
    it(`${what}, and stores nothing`, async () => {
      const made = make({ settings: { bodyLimit: 100 } });
      const { stream, seen } = bodyOf(endless(1));

      const refused = await sentOutcome(made.handle(post(stream, headers)));

      expect(refused).to.equal('413 payload_too_large');
      expect(seen).to.deep.equal({ pulled, cancelled: true });
      expect(await stored(made), 'stored animals').to.equal(0);
    });
  }

  for (const [what, request, status] of [
    ['without a key', post(bodyOf(endless(10)).stream, { authorization: '' }), 401],
    ['by PUT', new Request(`${PETS}/1`, { method: 'PUT', headers: KEY, body: REX }), 405],
  ] as const) {
    it(`does not touch a body that comes ${what}`, async () => {
      const response = await make().handle(request);

      expect(response.status).to.equal(status);
      expect([request.bodyUsed, request.body?.locked]).to.deep.equal([false, false]);
    });
  }

  for (const [what, chunks, pulled, expected] of [
    ['missing', [new Uint8Array(), new Uint8Array()], 2, '400 missing_body'],
    ['of another type', endless(1), 1, '415 unsupported_media_type'],
  ] as const) {
    it(`reads text/plain of unknown length up to its first byte, to call it ${what}`, async () => {
      const { stream, seen } = bodyOf(chunks);

      const refused = await sentOutcome(
        make().handle(post(stream, { 'content-type': 'text/plain' })),
      );

      expect(refused).to.equal(expected);
      expect(seen.pulled, 'chunks that were read').to.equal(pulled);
    });
  }

  it('treats a body that breaks off as a client that disconnects, and stores nothing', async () => {
    const made = make();
    const { stream } = bodyOf([utf8(REX), undefined]);

    const response = await sentOutcome(made.handle(post(stream)));

    expect(response).to.equal('408 request_timeout');
    expect(made.log.failures).to.deep.equal([]);
    expect(await stored(made), 'stored animals').to.equal(0);
  });

  it('logs that a body was read before', async () => {
    const { handle, log } = make();
    const request = post(REX);
    await request.text();

    const response = await sentOutcome(handle(request));

    expect(response).to.equal('500 internal_error');
    expect(String(log.failures)).to.match(/has read the body/);
  });

  it('is not fooled by hosts that hand over no body any more once it was read', async () => {
    const request = post(REX);
    Object.defineProperties(request, { body: { value: null }, bodyUsed: { value: true } });

    const response = await sentOutcome(make().handle(request));

    expect(response).to.equal('500 internal_error');
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

  for (const [what, disconnectsAfter, bodyDeadline] of [
    ['whose client disconnects', 20, 20_000],
    ['that comes too late', 20_000, 20],
  ] as const) {
    it(`waits no longer for a body ${what}, and cancels it`, async () => {
      const cancel = mock.fn();
      const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}), cancel });
      const { handle } = make({ settings: { bodyDeadline } });

      const signal = AbortSignal.timeout(disconnectsAfter);
      const response = await sentOutcome(handle(new Request(post(silent), { signal })));

      expect(response).to.equal('408 request_timeout');
      expect(cancel.mock.callCount(), 'cancelled').to.equal(1);
    });
  }

  for (const [what, request] of [
    ['a get', get(PETS)],
    ['a create', post(REX)],
    ['a refused create', post(REX, { authorization: '' })],
  ] as const) {
    it(`leaves no listener of ${what} on a signal that many requests share`, async () => {
      const { signal } = new AbortController();
      Object.defineProperty(request, 'signal', { value: signal });

      await make().handle(request);

      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });
  }

  it('stores nothing for a client that disconnected before', async () => {
    const made = make();

    const response = await made.handle(new Request(post(REX), { signal: AbortSignal.abort() }));

    expect(response.status).to.equal(408);
    expect(await stored(made), 'stored animals').to.equal(0);
  });

  it('has the ETags of Node.js where only Web Crypto is available', async () => {
    const loaded = import.meta.resolve('../../../../src/adapters/http/entity-tag.js');
    const hidden = mock.method(process, 'getBuiltinModule', () => undefined);
    const again: typeof entityTags = await import(`${loaded}?web-crypto`);
    hidden.mock.restore();

    for (let count = 0; count < 30; count += 1) {
      const tag = again.entityTagOf(`${count}`);
      expect(tag).to.be.instanceOf(Promise);
      expect(await tag).to.equal(entityTags.entityTagOf(`${count}`));
    }
  });

  for (const [url, status] of [
    [`${PETS}?limit=5#/nowhere`, 200],
    ['http://animals.test/nowhere#/v1/pets', 404],
  ] as const) {
    it(`ignores the fragment of ${url}`, async () => {
      const response = await make().handle(get(url));
      expect(response.status).to.equal(status);
    });
  }

  it('gives Location the path that its host has removed', async () => {
    const handle = createFetchHandler(httpInterface(), { mount: '/in/shop' });

    const created = await handle(post(REX));

    expect(created.headers.get('location')).to.equal('/in/shop/v1/pets/1');
  });

  for (const mount of ['shop', '/shop/', '/', '/a?b', '//a']) {
    it(`cannot be mounted at ${mount}`, () => {
      expect(() => createFetchHandler(httpInterface(), { mount })).to.throw(TypeError);
    });
  }

  it('never rejects, not even for a header that cannot be sent', async () => {
    const http = {
      handle: async () => ({ status: 200, headers: { Location: 'звери' }, body: '' }),
    };
    const handle = createFetchHandler(http as unknown as HttpInterface);

    const response = await handle(post(REX, { 'x-request-id': 'r-1' }));

    expect(response.headers.get('x-request-id')).to.equal('r-1');
    expect(await sentOutcome(response)).to.equal('500 internal_error');
  });
});

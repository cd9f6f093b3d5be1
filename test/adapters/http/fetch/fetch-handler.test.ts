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
  it('reads a body in any chunks, with or without its length', async () => {
    for (const headers of [{}, { 'content-length': String(REX.length) }]) {
      const bytes = [...utf8(REX)].map((byte) => Uint8Array.of(byte));
      const { stream } = bodyOf([new Uint8Array(), ...bytes, new Uint8Array()]);
      const response = await make().handle(post(stream, headers));
      expect(response.status).to.equal(201);
      expect(await response.text()).to.equal(
        '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
      );
    }
  });

  it('reads a body up to the limit, nothing of one that announces more, and stores nothing', async () => {
    for (const [pulled, headers] of [
      [101, {}],
      [0, { 'content-length': '101' }],
    ] as const) {
      const made = make({ settings: { bodyLimit: 100 } });
      const { stream, seen } = bodyOf(endless(1));
      expect(await sentOutcome(made.handle(post(stream, headers)))).to.equal(
        '413 payload_too_large',
      );
      expect(seen).to.deep.equal({ pulled, cancelled: true });
      expect(await stored(made)).to.equal(0);
    }
  });

  it('does not touch a body that is not wanted', async () => {
    for (const request of [
      post(bodyOf(endless(10)).stream, { authorization: '' }),
      new Request(`${PETS}/1`, { method: 'PUT', headers: KEY, body: REX }),
    ]) {
      expect((await make().handle(request)).status).to.be.oneOf([401, 405]);
      expect([request.bodyUsed, request.body?.locked]).to.deep.equal([false, false]);
    }
  });

  it('looks for the first byte of a body of unknown length before it judges its type', async () => {
    const { handle } = make();
    const plain = { 'content-type': 'text/plain' };
    const { stream: empty } = bodyOf([new Uint8Array(), new Uint8Array()]);
    expect(await sentOutcome(await handle(post(empty, plain)))).to.equal('400 missing_body');
    const { stream, seen } = bodyOf(endless(1));
    expect(await sentOutcome(await handle(post(stream, plain)))).to.equal(
      '415 unsupported_media_type',
    );
    expect(seen.pulled).to.equal(1);
  });

  it('treats a body that breaks off as a client that disconnects, and stores nothing', async () => {
    const made = make();
    const { stream } = bodyOf([utf8(REX), undefined]);
    expect(await sentOutcome(await made.handle(post(stream)))).to.equal('408 request_timeout');
    expect([await stored(made), made.log.failures]).to.deep.equal([0, []]);
  });

  it('logs that a body was read before, whatever its type', async () => {
    const { handle, log } = make();
    const request = post(REX);
    await request.text();
    expect(await sentOutcome(await handle(request))).to.equal('500 internal_error');
    expect(String(log.failures)).to.match(/has read the body/);
    // Some hosts then hand over a request that has no body any more.
    const without = post(REX, { 'content-type': 'text/plain' });
    Object.defineProperties(without, { body: { value: null }, bodyUsed: { value: true } });
    expect(await sentOutcome(await handle(without))).to.equal('500 internal_error');
  });

  it('ends the work of a client that disconnects', async () => {
    const pets = new HeldPetRepository();
    const handle = createFetchHandler(httpInterface({ pets }));
    const client = new AbortController();
    const response = handle(get(PETS, { signal: client.signal }));
    await pets.called(1);
    client.abort();
    expect((await response).status).to.equal(408);
    expect(pets.calls[0]?.signal?.aborted).to.equal(true);
  });

  it('waits no longer for a body that comes too late, or whose client disconnects, and cancels it', async () => {
    for (const [signal, bodyDeadline] of [
      [AbortSignal.timeout(20), 20_000],
      [new AbortController().signal, 20],
    ] as const) {
      const cancel = mock.fn();
      const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}), cancel });
      const request = new Request(post(silent), { signal });
      const response = await make({ settings: { bodyDeadline } }).handle(request);
      expect(await sentOutcome(response)).to.equal('408 request_timeout');
      expect(cancel.mock.callCount()).to.equal(1);
    }
  });

  it('leaves no listener on a signal that many requests share', async () => {
    const { signal } = new AbortController();
    const { handle } = make();
    for (const request of [get(PETS), post(REX), post(REX, { authorization: '' })]) {
      Object.defineProperty(request, 'signal', { value: signal });
      await handle(request);
    }
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('stores nothing for a client that disconnected before', async () => {
    const made = make();
    const response = await made.handle(new Request(post(REX), { signal: AbortSignal.abort() }));
    expect([response.status, await stored(made)]).to.deep.equal([408, 0]);
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

  it('ignores the fragment of a URL', async () => {
    const { handle } = make();
    expect((await handle(get(`${PETS}?limit=5#/nowhere`))).status).to.equal(200);
    expect((await handle(get(`http://animals.test/nowhere#/v1/pets`))).status).to.equal(404);
  });

  it('takes what its host has removed from the path, and nothing else', async () => {
    const http = httpInterface();
    const created = await createFetchHandler(http, { mount: '/in/shop' })(post(REX));
    expect(created.headers.get('location')).to.equal('/in/shop/v1/pets/1');
    for (const mount of ['shop', '/shop/', '/', '/a?b', '//a']) {
      expect(() => createFetchHandler(http, { mount }), mount).to.throw(TypeError);
    }
  });

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

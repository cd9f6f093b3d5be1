import { assert } from '../assert.js';
import { header, headerValues, nextTarget, type RawResponse, type Conversation } from './conversation.js';
import type { HttpSubject } from './http-subjects.js';
import {
  SEED,
  fill,
  fillRequest,
  get,
  post,
  type Expectation,
  type RawRequest,
  type Row,
  type RowRequest,
  type Values,
} from './request-row.js';
import { storeFault, type Situation } from './wire-http.js';

/** A service with the animals of `SEED`, for cases that share it. Its `send` fills in values. */
export interface Ready {
  readonly overSocket: boolean;
  readonly values: Values & Readonly<Record<string, string>>;
  /** The stored animals; absent if the store has a fault. */
  readonly catalogue?: Catalogue | undefined;
  send(request: RowRequest | RawRequest, wanted?: Parameters<HttpSubject['send']>[1]): Promise<Conversation>;
}

const UNSEEDED = { pet: '1', petTag: '', petTagText: '', listTag: '' };

/** Adds the animals of `SEED` to a service whose store is empty, if it works. */
export async function startReady(subject: HttpSubject, situation: Situation): Promise<Ready> {
  const { host, pathname: base } = new URL(subject.url);
  const unseeded = { ...subject.keys, host, base, ...UNSEEDED };
  const hasStore = storeFault(situation) === undefined;
  const values = hasStore ? { ...unseeded, ...(await seed(subject, unseeded)) } : unseeded;
  const ready: Ready = {
    overSocket: subject.overSocket,
    values,
    send: (request, wanted) => subject.send(fillRequest(request, values), wanted),
  };
  return hasStore ? { ...ready, catalogue: new Catalogue(ready) } : ready;
}

async function seed(
  subject: HttpSubject,
  values: Readonly<Record<string, string>>,
): Promise<typeof UNSEEDED> {
  const responseTo = async (request: RowRequest): Promise<RawResponse> => {
    const [response] = (await subject.send(fillRequest(request, values))).responses;
    assert.ok(response, `no response to ${request.method} ${request.target} of the set-up`);
    return response;
  };
  const ids: string[] = [];
  for (const members of SEED) {
    const { status, body } = await responseTo(post(`{${members}}`));
    assert.equal(status, 201, 'the animals of the set-up were not added');
    ids.push(/^\{"id":(\d+),/.exec(body.toString())?.[1] ?? '');
  }
  // There is no tag where getPet is switched off.
  const tagOf = async (path: string): Promise<string> =>
    headerValues(await responseTo(get(path)), 'ETag')[0] ?? '';
  const [pet = ''] = ids;
  const petTag = await tagOf(`/pets/${pet}`);
  return {
    pet,
    petTag,
    petTagText: petTag.replaceAll('"', ''),
    listTag: await tagOf('/pets?limit=1'),
  };
}

/** Small: some rows add animals with long names. */
const PAGE = 2;

/** Checks over HTTP what is stored: the end of the list shows whether anything was added. */
class Catalogue {
  readonly #service: Ready;
  /** The latest page that was the last one: nothing before it changes. */
  #target: string;
  #known: string | undefined;

  constructor(service: Ready) {
    this.#service = service;
    this.#target = `${service.values.base}/pets?limit=${PAGE}`;
  }

  /** Something else adds animals now: forgets the end of the list. */
  forget(): void {
    this.#known = undefined;
  }

  /** Nothing must be added from now on. */
  async remember(): Promise<void> {
    this.#known ??= await this.#end();
  }

  async checkUnchanged(): Promise<void> {
    const before = this.#known;
    this.#known = await this.#end();
    assert.equal(this.#known, before, 'something was stored');
  }

  /**
   * Checks that the animal of a 201 is stored: get returns it to the byte, and the list ends with it.
   * @returns its id
   */
  async checkCreated(response: RawResponse): Promise<string> {
    const id = /\/pets\/(\d+)$/.exec(header(response, 'Location'))?.[1] ?? '';
    const body = response.body.toString();
    assert.ok(body.startsWith(`{"id":${id},`), `the id of ${body} differs from the Location`);
    const got = await this.#get(`${this.#service.values.base}/pets/${id}`);
    assert.equal(got.body.toString(), body, 'get returns another animal');
    this.#known = await this.#end();
    assert.ok(
      this.#known.endsWith(`[${body}]`) || this.#known.endsWith(`,${body}]`),
      'the list does not end with the animal',
    );
    return id;
  }

  /** The target and the bytes of the last page. */
  async #end(): Promise<string> {
    for (;;) {
      const response = await this.#get(this.#target);
      const next = nextTarget(response);
      if (next === undefined) return `${this.#target} ${response.body.toString()}`;
      this.#target = `${this.#service.values.base}/pets?${next.split('?')[1]}`; // it may be absolute
    }
  }

  async #get(target: string): Promise<RawResponse> {
    const { responses } = await this.#service.send({ ...get(''), target });
    const [response] = responses;
    assert.equal(response?.status, 200, `${target} got ${response?.status}`);
    return response;
  }
}

/** Sends a row's request and checks what comes back. A request that is not answered with 201 must store nothing. */
export async function runRow({ request, expect }: Row, service: Ready): Promise<void> {
  const expected = [expect, ...(expect.further ?? [])];
  const isRead = 'method' in request && request.method === 'GET';
  const catalogue = isRead ? undefined : service.catalogue;
  await catalogue?.remember();
  const untilClosed = expected.some(({ closes }) => closes);
  const send = (): Promise<Conversation> =>
    service.send(request, { responses: expected.length, untilClosed });
  let conversation = await send();
  // The best of three, on a busy machine. Rows with a time are refused, so they store nothing.
  for (let tries = 1; tries < 3 && conversation.milliseconds > (expect.within ?? Infinity); tries += 1) {
    conversation = await send();
  }
  const { responses, closed, interim, milliseconds } = conversation;
  for (const [index, expectation] of expected.entries()) {
    const response = responses[index];
    assert.ok(response, `response ${index + 1} did not arrive`);
    checkExpectation(response, expectation, service);
  }
  assert.equal(responses.length, expected.length, 'there were more responses than requests');
  if (service.overSocket) {
    if (untilClosed) assert.ok(closed, 'the server did not close the connection');
    if (expect.interim !== 'any') assert.deepEqual(interim, expect.interim ?? [], 'the interim responses');
  }
  const within = expect.within ?? Infinity;
  assert.ok(milliseconds <= within, `it took ${Math.round(milliseconds)} ms`);
  const [first] = responses;
  if (expect.status === 201 && first && catalogue) {
    const id = await catalogue.checkCreated(first);
    if (typeof expect.body === 'string') assert.equal(first.body.toString(), fill(expect.body, { id }));
  } else {
    await catalogue?.checkUnchanged();
  }
}

function checkExpectation(response: RawResponse, expect: Expectation, { values, overSocket }: Ready): void {
  const text = response.body.toString();
  assert.equal(response.status, expect.status, text.slice(0, 500));
  if (expect.code !== undefined && text !== '') {
    const { code, message } = JSON.parse(text) as { code: unknown; message: unknown };
    assert.equal(code, expect.code);
    if (expect.message) assert.match(String(message), expect.message);
  }
  for (const [name, wanted] of Object.entries(expect.headers ?? {})) {
    const sent = headerValues(response, name);
    if (wanted === null) assert.deepEqual(sent, [], `${name} must not be there`);
    else if (typeof wanted === 'string') assert.deepEqual(sent, [fill(wanted, values)], name);
    else assert.match(header(response, name), new RegExp(fill(wanted.source, values), wanted.flags));
  }
  if (expect.body instanceof RegExp) assert.match(text, expect.body);
  else if (expect.body !== undefined && expect.status !== 201) assert.equal(text, fill(expect.body, values));
  if (!overSocket) return;
  const connection = headerValues(response, 'Connection').join();
  if (expect.closes) assert.equal(connection.toLowerCase(), 'close');
  if (expect.staysOpen) assert.notEqual(connection.toLowerCase(), 'close');
}

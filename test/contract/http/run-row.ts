import assert from 'node:assert/strict';
import { header, headerValues, type RawResponse, type Conversation } from './conversation.js';
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
  /** The id of the newest animal that is known; absent if the store has a fault. */
  newest?: string | undefined;
  send(
    request: RowRequest | RawRequest,
    wanted?: Parameters<HttpSubject['send']>[1],
  ): Promise<Conversation>;
}

const UNSEEDED = { pet: '1', petTag: '', petTagText: '', listTag: '' };

/** Adds the animals of `SEED` to a service whose store is empty, if it works. */
export async function startReady(subject: HttpSubject, situation: Situation): Promise<Ready> {
  const { host, pathname: base } = new URL(subject.url);
  const readyWith = (values: Ready['values']): Ready => ({
    overSocket: subject.overSocket,
    values,
    send: (request, wanted) => subject.send(fillRequest(request, values), wanted),
  });
  const unseeded = readyWith({ ...subject.keys, host, base, ...UNSEEDED });
  if (storeFault(situation) !== undefined) return unseeded;

  const { newest, ...seeded } = await seed(unseeded);
  return { ...readyWith({ ...unseeded.values, ...seeded }), newest };
}

/** Adds the animals; resolves to the values that follow from them, and the id of the last. */
async function seed(service: Ready): Promise<typeof UNSEEDED & { readonly newest: string }> {
  const ids: string[] = [];
  for (const members of SEED) {
    const { status, body } = await responseTo(service, post(`{${members}}`));
    assert.equal(status, 201, 'the animals of the set-up were not added');
    ids.push(/^\{"id":(\d+),/.exec(body.toString())?.[1] ?? '');
  }
  // There is no tag where getPet is switched off.
  const tagOf = async (path: string): Promise<string> =>
    headerValues(await responseTo(service, get(path)), 'ETag')[0] ?? '';
  const [pet = ''] = ids;
  const newest = ids.at(-1) ?? '';
  const petTag = await tagOf(`/pets/${pet}`);
  return {
    newest,
    pet,
    petTag,
    petTagText: petTag.replaceAll('"', ''),
    listTag: await tagOf('/pets?limit=1'),
  };
}

/** Sends a request; rejects if no response comes. */
export async function responseTo(service: Ready, request: RowRequest): Promise<RawResponse> {
  const [response] = (await service.send(request)).responses;
  assert.ok(response, `no response to ${request.method} ${request.target}`);
  return response;
}

/** The body of the 200 at this target. */
async function found(service: Ready, target: string): Promise<string> {
  const { status, body } = await responseTo(service, { ...get(''), target });
  assert.equal(status, 200, `${target} got ${status}`);
  return body.toString();
}

/** The animals that were stored since the last call, as JSON. */
async function newAnimals(service: Ready): Promise<string> {
  const animals = await found(
    service,
    `${service.values.base}/pets?after=${service.newest}&limit=20`,
  );
  const ids = Array.from(animals.matchAll(/\{"id":(\d+),/g), ([, id]) => id);
  if (ids.length > 0) service.newest = ids.at(-1);
  return animals;
}

/**
 * Checks that the animal of a 201 is stored: get returns it to the byte, and the list ends with it.
 * @returns its id
 */
async function checkCreated(response: RawResponse, service: Ready): Promise<string> {
  const id = /\/pets\/(\d+)$/.exec(header(response, 'Location'))?.[1] ?? '';
  const body = response.body.toString();
  assert.ok(body.startsWith(`{"id":${id},`), `the id of ${body} differs from the Location`);
  const got = await found(service, `${service.values.base}/pets/${id}`);
  assert.equal(got, body, 'get returns another animal');
  assert.equal(
    await newAnimals(service),
    `[${body}]`,
    'the list does not end with the animal alone',
  );
  return id;
}

/** Sends a row's request and checks what comes back. A request that is not answered with 201 must store nothing. */
export async function runRow(row: Row, service: Ready): Promise<void> {
  const { request, expect } = row;
  const isRead = 'method' in request && request.method === 'GET';
  const mayStore = !isRead && service.newest !== undefined;
  if (mayStore) await skipNewAnimals(service);
  const conversation = await converseInTime(row, service);
  checkConversation(conversation, expect, service);
  if (!mayStore) return;
  const [response] = conversation.responses;
  if (expect.status !== 201 || !response) {
    assert.equal(await newAnimals(service), '[]', 'something was stored');
    return;
  }
  const id = await checkCreated(response, service);
  if (typeof expect.body === 'string')
    assert.equal(response.body.toString(), fill(expect.body, { id }), 'the body of the response');
}

/** Scenarios may have stored some. */
async function skipNewAnimals(service: Ready): Promise<void> {
  let stored = '';
  while (stored !== '[]') stored = await newAnimals(service);
}

const responsesTo = (expect: Expectation): readonly Expectation[] => [
  expect,
  ...(expect.further ?? []),
];

/** The best of three where a row limits the time, on a busy machine. Such rows are refused, so they store nothing. */
async function converseInTime({ request, expect }: Row, service: Ready): Promise<Conversation> {
  const expected = responsesTo(expect);
  const untilClosed = expected.some(({ closes }) => closes);
  const wanted = { responses: expected.length, untilClosed };
  let conversation = await service.send(request, wanted);
  const { within } = expect;
  if (within === undefined) return conversation;
  for (let tries = 1; tries < 3 && conversation.milliseconds > within; tries += 1)
    conversation = await service.send(request, wanted);
  const took = Math.round(conversation.milliseconds);
  assert.ok(took <= within, `it took ${took} ms, three times, and may take ${within}`);
  return conversation;
}

function checkConversation(
  { responses, closed, interim }: Conversation,
  expect: Expectation,
  service: Ready,
): void {
  const expected = responsesTo(expect);
  for (const [index, expectation] of expected.entries()) {
    const response = responses[index];
    assert.ok(response, `response ${index + 1} did not arrive`);
    checkResponse(response, expectation, service);
  }
  assert.equal(responses.length, expected.length, 'there were more responses than requests');
  if (!service.overSocket) return;
  if (expected.some(({ closes }) => closes))
    assert.ok(closed, 'the server did not close the connection');
  if (expect.interim !== 'any')
    assert.deepEqual(interim, expect.interim ?? [], 'the interim responses');
}

function checkResponse(response: RawResponse, expect: Expectation, service: Ready): void {
  const text = response.body.toString();
  const { values } = service;
  assert.equal(response.status, expect.status, `the status of the response ${text.slice(0, 500)}`);
  if (expect.code !== undefined && text !== '') checkError(text, expect);
  for (const [name, wanted] of Object.entries(expect.headers ?? {}))
    checkHeader(response, name, wanted, values);
  if (expect.body instanceof RegExp) assert.match(text, expect.body);
  else if (expect.body !== undefined && expect.status !== 201)
    assert.equal(text, fill(expect.body, values), 'the body of the response');
  if (service.overSocket) checkConnection(response, expect);
}

function checkError(text: string, expect: Expectation): void {
  const { code, message } = JSON.parse(text) as { code: unknown; message: unknown };
  assert.equal(code, expect.code, 'the code of the error');
  if (expect.message) assert.match(String(message), expect.message);
}

/** `null`: it must be absent. */
function checkHeader(
  response: RawResponse,
  name: string,
  wanted: string | RegExp | null,
  values: Ready['values'],
): void {
  if (wanted instanceof RegExp) {
    const pattern = new RegExp(fill(wanted.source, values), wanted.flags);
    assert.match(header(response, name), pattern);
    return;
  }
  const expected = wanted === null ? [] : [fill(wanted, values)];
  assert.deepEqual(headerValues(response, name), expected, `the header ${name}`);
}

function checkConnection(response: RawResponse, { closes, staysOpen }: Expectation): void {
  const connection = headerValues(response, 'Connection').join().toLowerCase();
  if (closes) assert.equal(connection, 'close', 'the header Connection');
  if (staysOpen) assert.notEqual(connection, 'close', 'the header Connection');
}

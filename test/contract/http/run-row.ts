import { strict as assert } from 'node:assert';
import { checkAnswer } from './answer-promises.js';
import type { Catalogue } from './catalogue.js';
import type { Ready } from './ready-subject.js';
import { fill, type Expectation, type Row } from './request-row.js';
import { headerValues, type Answer, type Conversation } from './conversation.js';

/** Sends a row's request and holds what comes back to the row. */
export async function runRow(row: Row, subject: Ready, catalogue: Catalogue): Promise<void> {
  const { request, expect } = row;
  const expected = [expect, ...(expect.further ?? [])];
  const isRead = 'method' in request && request.method === 'GET';
  const looksAtStore = subject.hasStore && !isRead;
  if (looksAtStore) await catalogue.remember();
  const send = (): Promise<Conversation> =>
    subject.send(request, {
      answers: expected.length,
      untilClosed: expected.some(({ closes }) => closes),
    });
  let conversation = await send();
  // The best of three: something else may be using the machine. Rows with a time are refused, and store nothing.
  for (let tries = 1; tries < 3 && conversation.milliseconds > (expect.within ?? Infinity); tries += 1) {
    conversation = await send();
  }
  checkConversation(conversation, expect, subject);
  for (const [index, expectation] of expected.entries()) {
    const answer = conversation.answers[index];
    assert.ok(answer, `answer ${index + 1} did not come`);
    checkExpectation(answer, expectation, subject);
    const { overSocket, values } = subject;
    checkAnswer(answer, { ...asked(row, subject, index), basePath: values.base, overSocket });
  }
  assert.equal(conversation.answers.length, expected.length, 'more was answered than asked');
  if (!looksAtStore) return;
  if (expect.status === 201) await checkCreated(conversation.answers[0], expect, catalogue);
  else await catalogue.checkUnchanged();
}

function checkConversation(
  { closed, interim, milliseconds }: Conversation,
  expect: Expectation,
  { overSocket }: Ready,
): void {
  if (overSocket) {
    const closes = [expect, ...(expect.further ?? [])].some((expectation) => expectation.closes);
    if (closes) assert.ok(closed, 'the server did not close the connection');
    assert.deepEqual(interim, expect.interim ?? [], 'the interim answers');
  }
  if (expect.within !== undefined) {
    assert.ok(milliseconds <= expect.within, `it took ${Math.round(milliseconds)} ms`);
  }
}

function checkExpectation(answer: Answer, expect: Expectation, { values, overSocket }: Ready): void {
  const text = answer.body.toString();
  assert.equal(answer.status, expect.status, text.slice(0, 500));
  if (expect.code !== undefined && text !== '') {
    const { code, message } = JSON.parse(text) as { code: unknown; message: unknown };
    assert.equal(code, expect.code);
    if (expect.message) assert.match(String(message), expect.message);
  }
  for (const [name, wanted] of Object.entries(expect.headers ?? {})) {
    const sent = headerValues(answer, name);
    if (wanted === null) assert.deepEqual(sent, [], `${name} must not be there`);
    else if (typeof wanted === 'string') assert.deepEqual(sent, [fill(wanted, values)], name);
    else {
      assert.equal(sent.length, 1, `${name} must be there once`);
      assert.match(sent[0] ?? '', new RegExp(fill(wanted.source, values), wanted.flags));
    }
  }
  if (expect.body instanceof RegExp) assert.match(text, expect.body);
  else if (expect.body !== undefined && expect.status !== 201) assert.equal(text, fill(expect.body, values));
  if (!overSocket) return;
  const connection = headerValues(answer, 'Connection').join();
  if (expect.closes) assert.equal(connection.toLowerCase(), 'close');
  if (expect.staysOpen) assert.notEqual(connection.toLowerCase(), 'close');
}

async function checkCreated(
  answer: Answer | undefined,
  expect: Expectation,
  catalogue: Catalogue,
): Promise<void> {
  assert.ok(answer);
  const id = await catalogue.checkCreated(answer);
  if (typeof expect.body === 'string') assert.equal(answer.body.toString(), fill(expect.body, { id }));
}

/** The method and the path of a row's request, as far as a server can tell them. */
function asked(
  { request }: Row,
  { values }: Ready,
  index: number,
): { readonly method?: string; readonly path?: string } {
  if ('method' in request) {
    return { method: request.method, path: fill(request.target, values).split('?', 1)[0] ?? '' };
  }
  const method = /^(?:\r\n)?([A-Z]+) \S+ HTTP\/1\.[01]\r\n/.exec(request.raw)?.[1];
  return index === 0 && method !== undefined ? { method } : { method: 'GET' };
}

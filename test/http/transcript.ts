import assert from 'node:assert/strict';
import { headerValues, type Answer } from '../contract/http/conversation.js';
import type { RowRequest } from '../contract/http/request-row.js';
import type { HttpSubject, OpenHttp } from '../contract/http/http-subject.js';
import type { Situation } from '../contract/http/situation.js';
import { fillRequest } from '../contract/http/wire.js';

/*
 * Requests and their answers, told so that they are the same on every service that answers alike: what a
 * service chooses by itself (ids, cursors, entity tags) is named by the order in which it came, `{{id3}}`, in
 * later requests too; what differs by the socket or by the moment is left out.
 */

/** A request, and what it was answered. */
export interface Exchange {
  readonly given: Situation;
  /** Its body, if it has one, is text. */
  readonly request: RowRequest;
  readonly answer: ToldAnswer;
}

interface ToldAnswer {
  readonly status: number;
  /** By name, in lower case, in the order of the names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What replaying a transcript came to. */
export interface Replay {
  readonly requests: number;
  /** Whose answers were as recorded, to the byte. */
  readonly equal: number;
  /** The first that was not, and what it was answered. */
  readonly difference?: { readonly recorded: Exchange; readonly answer: ToldAnswer };
}

/** Headers that only a socket has, and the date. */
const LEFT_OUT = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** Services in the situations of a transcript, started as they are needed. */
export class Session {
  readonly #start: OpenHttp;
  readonly #services = new Map<Situation, { readonly subject: HttpSubject; readonly names: Names }>();

  constructor(start: OpenHttp) {
    this.#start = start;
  }

  async ask(given: Situation, request: RowRequest): Promise<Exchange> {
    assert.ok(!(request.body instanceof Uint8Array), 'a transcript is text');
    const { subject, names } = await this.#service(given);
    const base = new URL(subject.url).pathname;
    const send = async (sent: RowRequest): Promise<Answer> => {
      const { answers } = await subject.send(fillRequest(sent, { ...subject.keys, base, ...names.values }));
      const [answer] = answers;
      assert.ok(answer, `${sent.method} ${sent.target} was not answered`);
      return answer;
    };
    const answer = await send(request);
    // A HEAD tells the length of a body that only a GET shows.
    const { body } = request.method === 'HEAD' ? await send({ ...request, method: 'GET' }) : answer;
    return { given, request, answer: told(answer, body, names) };
  }

  async stop(): Promise<void> {
    for (const { subject } of this.#services.values()) await subject.dispose();
  }

  async #service(given: Situation): Promise<{ readonly subject: HttpSubject; readonly names: Names }> {
    const service = this.#services.get(given) ?? { subject: await this.#start(given), names: new Names() };
    this.#services.set(given, service);
    return service;
  }
}

/** The names of what a service chose, by the order in which it came. */
class Names {
  readonly values: Record<string, string> = {};
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();

  of(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.values[`${kind}${count}`] = value;
    this.#names.set(key, `{{${kind}${count}}}`);
    return `{{${kind}${count}}}`;
  }
}

/** @param whole the body that the answer tells the length of */
function told(answer: Answer, whole: Buffer, names: Names): ToldAnswer {
  const headers: Record<string, string> = {};
  for (const name of [...new Set(answer.headers.map(([name]) => name.toLowerCase()))].sort()) {
    if (!LEFT_OUT.has(name)) headers[name] = toldHeader(name, headerValues(answer, name).join(', '), names);
  }
  if (headers['content-length'] !== undefined) {
    assert.equal(headers['content-length'], String(whole.length));
    // Ids may differ in their number of digits.
    headers['content-length'] = String(Buffer.byteLength(toldBody(whole, names)));
  }
  return { status: answer.status, headers, body: toldBody(answer.body, names) };
}

const toldBody = (body: Buffer, names: Names): string =>
  body.toString().replaceAll(/(?<=\{"id":)\d+(?=,"name":)/g, (id) => names.of('id', id));

function toldHeader(name: string, value: string, names: Names): string {
  switch (name) {
    case 'location':
      return value.replace(/(?<=\/pets\/)\d+$/, (id) => names.of('id', id));
    case 'link':
      return value.replace(/(?<=[?&]cursor=)[^&>]+/, (cursor) => names.of('cursor', cursor));
    case 'etag':
      return names.of('etag', value);
    default:
      return value;
  }
}

/** Asks all that was recorded again, of other services. */
export async function replay(transcript: readonly Exchange[], start: OpenHttp): Promise<Replay> {
  const session = new Session(start);
  let equal = 0;
  let difference: Replay['difference'];
  try {
    for (const recorded of transcript) {
      const { answer } = await session.ask(recorded.given, recorded.request);
      if (JSON.stringify(answer) === JSON.stringify(recorded.answer)) equal += 1;
      else difference ??= { recorded, answer };
    }
  } finally {
    await session.stop();
  }
  return { requests: transcript.length, equal, ...(difference && { difference }) };
}

/** A transcript as text, an exchange a line, and back. */
export const transcriptText = (transcript: readonly Exchange[]): string =>
  transcript.map((exchange) => `${JSON.stringify(exchange)}\n`).join('');

export const readTranscript = (text: string): readonly Exchange[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line): Exchange => JSON.parse(line));

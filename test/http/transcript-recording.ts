import {
  JSON_CONTENT,
  PET,
  bearer,
  get,
  post,
  send,
  type Header,
  type RowRequest,
} from '../contract/http/request-row.js';
import type { OpenHttp } from '../contract/http/http-subject.js';
import type { Situation } from '../contract/http/situation.js';
import { Session, type Exchange } from './transcript.js';

type Ask = (request: RowRequest) => Promise<Exchange>;

const SEED = 20301205;

/** How many requests are drawn; those that are fixed come on top. */
const DRAWN = 130;

/** Numbers from 0 to 1, the same every time (a linear congruential generator). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Records what a service answers to a client that was drawn with a fixed seed: it adds animals, follows links,
 * gets what it was told of, comes again with what it was given, and makes every mistake there is.
 */
export async function recordTranscript(start: OpenHttp): Promise<readonly Exchange[]> {
  const session = new Session(start);
  const transcript: Exchange[] = [];
  const askIn =
    (given: Situation): Ask =>
    async (request) => {
      const id: Header = ['X-Request-Id', `request-${transcript.length + 1}`];
      const exchange = await session.ask(given, { ...request, headers: [...request.headers, id] });
      transcript.push(exchange);
      return exchange;
    };
  try {
    await new Client(askIn('plain'), numbers(SEED)).run(DRAWN);
    for (const [given, requests] of OTHER_SITUATIONS) {
      for (const request of requests) await askIn(given)(request);
    }
  } finally {
    await session.stop();
  }
  return transcript;
}

const NAMES = [
  'Bella',
  'Zoë',
  '🐎',
  'a\\"b\\\\c',
  '  two  words ',
  '名前',
  "O'Neil",
  '<b>',
  '\\u0041',
  'null',
];
const CATEGORIES = [
  '0',
  '-0',
  '7.0',
  '7e2',
  '9223372036854775807',
  '-9223372036854775808',
  '9007199254740993',
];
const EXTRAS = ['', '', '', ',"id":5', ',"x":[1,{"y":null}]', ',"__proto__":{"status":"sold"}'];
const STATUSES = ['', 'available', 'pending', 'sold'];
const LIMITS = ['', '1', '2', '3', '5', '40'];

/** What no client has any use for, each of its kind at least once. */
const MISTAKES: readonly RowRequest[] = [
  ...['limit=0', 'limit=101', 'limit=05', 'limit=1&limit=1', 'status=gone', 'status=&limit=', 'cursor=x'].map(
    (query) => get(`/pets?${query}`),
  ),
  ...['0', '-1', 'abc', '007', '9223372036854775807', '9223372036854775808', '%ZZ', '1%2F2'].map((id) =>
    get(`/pets/${id}`),
  ),
  ...['{', '[]', '{}', `${PET}x`, '\ufeff{}', '{"name":" ","categoryId":"7"}', '{"name":1,"name":2}', ''].map(
    (body) => post(body),
  ),
  post(`{"name":"deep","categoryId":1,"x":${'['.repeat(20)}${']'.repeat(20)}}`),
  post(PET, ['Content-Encoding', 'gzip']),
  post(PET, ['Idempotency-Key', '"not one']),
  { ...send('POST', '/pets', ['Content-Type', 'text/plain']), body: PET },
  { ...send('POST', '/pets', ['Content-Type', 'application/json; charset=latin1']), body: PET },
  { ...send('POST', '/pets', JSON_CONTENT), body: '', chunked: true },
  ...[[], [bearer('nobody')], [bearer('{{expiredKey}}')], [bearer('{{revokedKey}}')], [bearer(' ')]].map(
    (headers: Header[]): RowRequest => ({ method: 'GET', target: '{{base}}/pets', headers }),
  ),
  { method: 'GET', target: '{{base}}/pets/1', headers: [['Authorization', 'Basic eA==']] },
  { ...get('/pets'), headers: [bearer('{{writeOnlyKey}}')] },
  { ...post(PET), headers: [bearer('{{readOnlyKey}}'), JSON_CONTENT] },
  ...['/orders', '/pets/', '/pets/1/2', '/Pets', ''].map((path) => get(path)),
  ...['/nothing', '/v2/pets', '//pets', '/livez/'].map((target) => ({ method: 'GET', target, headers: [] })),
  ...['PUT', 'DELETE', 'PROPFIND'].map((method) => send(method, '/pets')),
  send('POST', '/pets/1'),
  ...['/pets', '/pets/1', '/orders'].map((path) => send('OPTIONS', path)),
  ...['/livez', '/readyz'].flatMap((target) =>
    ['GET', 'HEAD', 'POST'].map((method) => ({ method, target, headers: [] })),
  ),
];

/** What the settings, or the state of the store, make of a request. */
const OTHER_SITUATIONS: ReadonlyArray<readonly [given: Situation, requests: readonly RowRequest[]]> = [
  ['publicUrl', [post(PET), post(PET), get('/pets?limit=1'), get('/pets/{{id1}}')]],
  ['otherBasePath', [post(PET), get('/pets'), { ...get(''), target: '/v1/pets' }]],
  [
    'smallBodies',
    [post(PET.padEnd(100)), post(PET.padEnd(101)), { ...post(PET.padEnd(101)), chunked: true }],
  ],
  ['getPetOff', [post(PET), get('/pets/{{id1}}'), send('HEAD', '/pets/{{id1}}'), get('/pets')]],
  [
    'twoOrigins',
    [get('/pets', ['Origin', 'https://one.example']), get('/orders', ['Origin', 'https://no.example'])],
  ],
  ['storeAway', [get('/pets'), get('/pets/1'), post(PET), { method: 'GET', target: '/readyz', headers: [] }]],
  ['storeFaulty', [get('/pets'), send('HEAD', '/pets'), post(PET)]],
  ['storeUndecided', [post(PET, ['Idempotency-Key', 'undecided'])]],
  ['storeStuck', [get('/pets/1')]],
];

/** A client that knows what it was told. */
class Client {
  readonly #ask: Ask;
  readonly #random: () => number;
  /** Names of ids, links that were not followed yet, creates that may be repeated, reads with their tags. */
  readonly #ids: string[] = [];
  readonly #links: string[] = [];
  readonly #creates: RowRequest[] = [];
  readonly #tags: Array<readonly [target: string, tag: string]> = [];

  constructor(ask: Ask, random: () => number) {
    this.#ask = ask;
    this.#random = random;
  }

  async run(count: number): Promise<void> {
    await this.#create();
    for (const mistake of MISTAKES) {
      await this.#ask(mistake);
      await this.#draw();
    }
    for (let drawn = 0; drawn < count; drawn += 1) await this.#draw();
  }

  async #draw(): Promise<void> {
    const follow = (): Promise<void> => this.#follow();
    const list = (): Promise<void> => this.#list();
    const get = (): Promise<void> => this.#get();
    const others = [() => this.#create(), () => this.#revalidate(), () => this.#repeat()];
    const actions = [follow, follow, list, list, get, get, ...others, () => this.#ask(this.#pick(MISTAKES))];
    await this.#pick(actions)();
  }

  async #create(): Promise<void> {
    const status = this.#pick(STATUSES);
    const members = [
      `"name":"${this.#pick(NAMES)}"`,
      `"categoryId":${this.#pick(CATEGORIES)}`,
      ...(status === '' ? [] : [`"status":"${status}"`]),
    ];
    const keyed: Header[] =
      this.#random() < 0.3 ? [['Idempotency-Key', `key-${this.#creates.length + 1}`]] : [];
    const request: RowRequest = {
      ...post(`{${members.join(',')}${this.#pick(EXTRAS)}}`, ...keyed),
      ...(this.#random() < 0.2 && { chunked: true }),
    };
    if (keyed.length > 0) this.#creates.push(request);
    this.#learn(await this.#ask(request));
  }

  /** The same create again, or another with its key. */
  async #repeat(): Promise<void> {
    if (this.#creates.length === 0) return this.#create();
    const request = this.#pick(this.#creates);
    const isOther = this.#random() < 0.3;
    await this.#ask(isOther ? { ...request, body: '{"name":"Other","categoryId":1}' } : request);
  }

  async #list(): Promise<void> {
    const limit = this.#pick(LIMITS);
    const status = this.#pick(STATUSES);
    const query = [
      ...(status === '' ? [] : [`status=${status}`]),
      ...(limit === '' ? [] : [`limit=${limit}`]),
      ...(this.#random() < 0.2 ? ['utm=a%26b'] : []),
    ].join('&');
    const request = this.#random() < 0.1 ? send('HEAD', `/pets?${query}`) : get(`/pets?${query}`);
    this.#learn(await this.#ask(request));
  }

  /** A link goes once with another filter too, which its cursor does not allow. */
  async #follow(): Promise<void> {
    const target = this.#links.shift();
    if (target === undefined) return this.#list();
    if (this.#random() < 0.2) await this.#ask({ ...get(''), target: target.replace('?', '?status=sold&') });
    this.#learn(await this.#ask({ ...get(''), target }));
  }

  async #get(): Promise<void> {
    const path = `/pets/${this.#pick(this.#ids)}`;
    this.#learn(await this.#ask(this.#random() < 0.2 ? send('HEAD', path) : get(path)));
  }

  /** Asks for what it has: it is the same still, or is not. */
  async #revalidate(): Promise<void> {
    if (this.#tags.length === 0) return this.#get();
    const [target, tag] = this.#pick(this.#tags);
    await this.#ask({ ...get('', ['If-None-Match', this.#random() < 0.2 ? '"other"' : tag]), target });
  }

  #learn({ request, answer }: Exchange): void {
    const id = /\{\{id\d+\}\}$/.exec(answer.headers['location'] ?? '')?.[0];
    if (id !== undefined) this.#ids.push(id);
    const link = /^<([^<>]+)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1];
    if (link !== undefined) this.#links.push(link);
    const { etag } = answer.headers;
    if (etag !== undefined) this.#tags.push([request.target, etag]);
  }

  #pick<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    const picked = list[Math.floor(this.#random() * list.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }
}

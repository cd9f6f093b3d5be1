import { createFetchHandler } from '../../src/adapters/http/fetch/fetch-handler.js';
import { TOKENS } from '../../src/bootstrap/tokens.js';
import type { Answer } from '../contract/http/conversation.js';
import { get, type RowRequest, type Situation } from '../contract/http/request-row.js';
import type { Subject } from '../contract/http/subject.js';
import { fillRequest } from '../contract/http/wire.js';
import { keysOf, wire } from './wired-service.js';

/** Starts the service as it is wired, but for the transport: requests are given to the fetch handler. */
export async function startFetchService(situation: Situation, storeUrl: string): Promise<Subject> {
  const { container, store, called } = await wire(situation, storeUrl);
  const { http } = container.get(TOKENS.settings);
  const url = `http://animals.test${http.basePath}`;
  const handle = createFetchHandler(await container.getAsync(TOKENS.httpInterface));
  const values = await keysOf(container);
  const leaving = new AbortController();
  if (store === 'occupied') {
    const request = fillRequest(get('/pets'), { ...values, base: http.basePath });
    void handle(requestOf(request, { signal: leaving.signal }));
    await called;
  }
  return {
    url,
    overSocket: false,
    values,
    async send(request) {
      if ('raw' in request) throw new Error('bytes are for a socket');
      const sent = requestOf(request);
      const began = performance.now();
      const response = await handle(sent);
      const milliseconds = performance.now() - began;
      return { answers: [await answerOf(response)], interim: [], closed: false, milliseconds };
    },
    async stop() {
      leaving.abort();
      await (await container.getAsync(TOKENS.store)).close();
    },
  };
}

/** The request that a runtime makes of such a message: the body a stream, its length in a header if it was announced. */
export function requestOf(
  { method, target, headers, body, chunked }: RowRequest,
  { signal }: RequestInit = {},
): Request {
  const sent = new Headers();
  let host = 'animals.test';
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'host') host = value;
    sent.append(name, value);
  }
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  if (content && !chunked && !sent.has('content-length')) sent.set('Content-Length', String(content.length));
  return new Request(`http://${host}${target}`, {
    method,
    headers: sent,
    signal: signal ?? null,
    ...(content && { body: new Blob([content]).stream(), duplex: 'half' }),
  });
}

async function answerOf(response: Response): Promise<Answer> {
  return {
    status: response.status,
    headers: [...response.headers],
    body: Buffer.from(await response.arrayBuffer()),
  };
}

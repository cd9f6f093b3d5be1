import type { RequestListener } from 'node:http';
import { createFetchHandler, type FetchHandler } from '../../../src/adapters/http/fetch/fetch-handler.js';
import type { HttpInterface } from '../../../src/adapters/http/http-interface.js';
import type { HttpSettings } from '../../../src/adapters/http/http-settings.js';
import { createKoaApp } from '../../../src/adapters/http/koa/koa-transport.js';
import { fetchSubjects, listenerSubjects } from '../../contract/http/http-subjects.js';
import type { OpenHttp } from '../../contract/http/http-subject.js';

/** A transport that is wrong in exactly one way. */
export interface HttpBite {
  /** What it does wrong, as the rest of a sentence that begins with "catches one that". */
  readonly that: string;
  /** The name of the case that has to fail. */
  readonly caughtBy: string;
  readonly open: OpenHttp;
}

export const unbrokenFetch = fetchSubjects(createFetchHandler);

export const unbrokenListener = listenerSubjects((http) => createKoaApp(http).callback());

/** A Fetch handler with something wrong around it. */
export const handled = (
  that: string,
  caughtBy: string,
  fault: (handle: FetchHandler, http: HttpInterface) => (request: Request) => Promise<Response>,
): HttpBite => ({ that, caughtBy, open: fetchSubjects((http) => fault(createFetchHandler(http), http)) });

/** Makes something else of a request before it is handled. */
export const requested = (
  that: string,
  caughtBy: string,
  change: (request: Request) => Request | Promise<Request>,
): HttpBite => handled(that, caughtBy, (handle) => async (request) => handle(await change(request)));

/** Makes something else of the request's URL. */
export const targeted = (that: string, caughtBy: string, change: (url: string) => string): HttpBite =>
  requested(that, caughtBy, (request) => new Request(change(request.url), request));

/** Makes something else of a body, if there is one. */
export const bodied = (that: string, caughtBy: string, change: (body: Buffer) => Buffer | string): HttpBite =>
  requested(that, caughtBy, async (request) => {
    if (request.body === null) return request;
    const body = change(Buffer.from(await request.arrayBuffer()));
    const headers = new Headers(request.headers);
    if (headers.has('content-length')) headers.set('Content-Length', String(Buffer.byteLength(body)));
    const { url, method } = request;
    return new Request(url, { method, headers, body: new Uint8Array(Buffer.from(body)) });
  });

/** Makes something else of an answer. */
export const answered = (
  that: string,
  caughtBy: string,
  change: (response: Response, request: Request) => Response | Promise<Response>,
): HttpBite => handled(that, caughtBy, (handle) => async (request) => change(await handle(request), request));

/** Sets headers of every answer, or takes them away. */
export const headed = (
  that: string,
  caughtBy: string,
  change: (headers: Headers, response: Response, request: Request) => void,
): HttpBite =>
  answered(that, caughtBy, (response, request) => {
    const headers = new Headers(response.headers);
    change(headers, response, request);
    return new Response(response.body, { status: response.status, headers });
  });

/** A request listener with something wrong around it. */
export const listened = (
  that: string,
  caughtBy: string,
  fault: (listener: RequestListener) => RequestListener,
): HttpBite => ({
  that,
  caughtBy,
  open: listenerSubjects((http) => {
    const handle = createKoaApp(http).callback();
    return fault((request, response) => void handle(request, response));
  }),
});

/** The same interface, for a transport that goes by other settings. */
export const withSettings = (http: HttpInterface, settings: Partial<HttpSettings>): HttpInterface => {
  const changed = {
    routes: http.routes,
    settings: { ...http.settings, ...settings },
    answer: http.answer.bind(http),
  };
  return changed as unknown as HttpInterface;
};

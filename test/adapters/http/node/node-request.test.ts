import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { HttpInterface } from '../../../../src/adapters/http/http-interface.js';
import { NodeRequest } from '../../../../src/adapters/http/node/index.js';
import { createRouteFinder } from '../../../../src/adapters/http/routes/route-finder.js';
import { bindContract } from '../../../contract/bind-contract.js';
import { httpContract } from '../../../contract/http-contract.js';
import { listenerSubjects } from '../../../contract/http/http-subjects.js';

/** A transport on nothing but `node:http`, as an author would write it. */
const bareListener = (http: HttpInterface): RequestListener => {
  const findRoute = createRouteFinder(http.routes);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = new NodeRequest(request, response, http.settings.bodyLimit);
    const found = findRoute(sent.path);
    const { status, headers, body } = await http.answer(sent, found?.route, found?.parameters ?? {});
    const hasBody = status !== 204 && status !== 304;
    response.writeHead(status, { ...headers, ...(hasBody && { 'Content-Length': Buffer.byteLength(body) }) });
    response.end(hasBody && sent.method !== 'HEAD' ? body : undefined);
  };
  return (request, response) => void answer(request, response);
};

/** What the request itself has a part in: the rest is the interface's, and is tried over other transports. */
const TOPICS = new Set([
  'request bodies',
  'what is said of request bodies',
  'messages that are not well-formed',
]);

describe('A transport on NodeRequest', () => {
  const cases = httpContract.cases.filter(({ topic = '' }) => TOPICS.has(topic));
  bindContract({ ...httpContract, cases }, listenerSubjects(bareListener));
});

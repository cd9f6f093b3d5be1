import type { RequestListener } from 'node:http';
import type { HttpInterface } from '../../../../src/adapters/http/http-interface.js';
import { NodeRequest } from '../../../../src/adapters/http/node/index.js';
import { createRouteFinder } from '../../../../src/adapters/http/routes/route-finder.js';
import { bindContract } from '../../../contract/bind-contract.js';
import { httpContract } from '../../../contract/http-contract.js';
import { listenerSubjects } from '../../../contract/http/http-subjects.js';

/** A transport on nothing but `node:http`, as an author would write it. */
const bareListener = (http: HttpInterface): RequestListener => {
  const findRoute = createRouteFinder(http.routes);
  return async (request, response) => {
    const sent = new NodeRequest(request, response, http.settings.bodyLimit);
    const found = findRoute(sent.path);
    const { status, headers, body } = await http.answer(sent, found?.route, found?.parameters ?? {});
    const hasBody = status !== 204 && status !== 304;
    response.writeHead(status, { ...headers, ...(hasBody && { 'Content-Length': Buffer.byteLength(body) }) });
    response.end(hasBody && sent.method !== 'HEAD' ? body : undefined);
  };
};

/** What the request itself has a part in: the rest is the interface's, and is tried over other transports. */
const TOPICS = ['request bodies', 'what is said of request bodies', 'messages that are not well-formed'];

describe('A transport on NodeRequest', () => {
  const cases = httpContract.cases.filter(({ topic = '' }) => TOPICS.includes(topic));
  bindContract({ ...httpContract, cases }, listenerSubjects(bareListener));
});

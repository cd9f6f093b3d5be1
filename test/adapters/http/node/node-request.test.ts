import { createNodeListener } from '../../../../src/adapters/http/node/index.js';
import { bindContract } from '../../../contract/bind-contract.js';
import { httpContract } from '../../../contract/http-contract.js';
import { listenerSubjects } from '../../../contract/http/http-subjects.js';

/** The topics that requests and connections of `node:http` can break. Other transports run the rest. */
const TOPICS = new Set([
  'request bodies',
  'the type, encoding and size of request bodies',
  'malformed messages and connections',
  'what depends on the transport',
]);

describe('createNodeListener', () => {
  const cases = httpContract.cases.filter(({ topic = '' }) => TOPICS.has(topic));
  bindContract({ ...httpContract, cases }, listenerSubjects(createNodeListener));
});

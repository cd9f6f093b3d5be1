import { expect } from 'chai';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.js';
import { createKoaApp } from '../../src/adapters/http/koa/index.js';
import {
  REQUEST_TABLE,
  fetchSubjects,
  listenerSubjects,
  type HttpSubject,
  type OpenHttp,
  type Situation,
} from '../contract/http-contract.js';
import { fillRequest, type Row, type RowRequest } from '../contract/http/request-row.js';
import { startReady } from '../contract/http/run-row.js';

const koa = listenerSubjects((http) => {
  const handle = createKoaApp(http).callback();
  return (request, response) => void handle(request, response);
});
const overFetch = fetchSubjects(createFetchHandler);

/** Headers that only a connection has. */
const OF_CONNECTIONS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** Sends the requests of rows in their order, and returns every response as text. */
async function responsesOf(
  open: OpenHttp,
  situation: Situation,
  rows: readonly Row[],
): Promise<ReadonlyArray<readonly [name: string, response: string]>> {
  const subject: HttpSubject = await open(situation);
  try {
    const { values } = await startReady(subject, situation);
    const responses: Array<readonly [string, string]> = [];
    for (const [index, { name, request }] of rows.entries()) {
      const sent = fillRequest(request, values) as RowRequest;
      const hasId = sent.headers.some(([header]) => header.toLowerCase() === 'x-request-id');
      const id = ['X-Request-Id', `request-${index}`] as const;
      const { answers } = await subject.send(hasId ? sent : { ...sent, headers: [...sent.headers, id] });
      for (const { status, headers, body } of answers) {
        const lines = headers
          .map(([header, value]) => [header.toLowerCase(), value] as const)
          .filter(([header]) => !OF_CONNECTIONS.has(header))
          .map(([header, value]) => `${header}: ${value}`);
        responses.push([name, [status, ...lines.sort(), '', body.toString('latin1')].join('\n')]);
      }
    }
    return responses;
  } finally {
    await subject.dispose();
  }
}

/** An id that the service made for an unsafe one, and the type that only Koa's socket has of a body it did not read. */
const isComparable = ({ name, request, socketOnly }: Row): boolean =>
  !('raw' in request) && socketOnly === undefined && !name.startsWith('replaces a request id');

describe('The transports', () => {
  const rows = Object.values(REQUEST_TABLE).flat().filter(isComparable);

  for (const [situation, ofSituation] of Map.groupBy(rows, ({ given = 'plain' }) => given)) {
    it(`give the same ${ofSituation.length} responses byte for byte in the situation ${situation}`, async () => {
      const responses = await responsesOf(koa, situation, ofSituation);
      expect(responses.length).to.be.at.least(ofSituation.length);
      expect(await responsesOf(overFetch, situation, ofSituation)).to.deep.equal(responses);
    });
  }
});

import assert from 'node:assert/strict';
import { parse } from '../../src/exact-json.js';
import type { HttpSubject, OpenHttp } from '../contract/http/http-subjects.js';
import type { RawRequest, RowRequest } from '../contract/http/request-row.js';
import { AnswerCheck, type Asked } from './answer-check.js';
import type { OpenApiDocument } from './document.js';

/** How many answers were held to a document, and how many were to requests that it does not speak of. */
export interface Tally {
  held: number;
  outside: number;
}

/** Starts the same services, every answer of theirs being held to the document that they publish. */
export const heldToDocument =
  (start: OpenHttp, tally: Tally): OpenHttp =>
  async (situation) => {
    const subject = await start(situation);
    // A service that is too busy has no answer to spare: it is held to the document of one that is not.
    const publisher = situation === 'busy' ? await start('plain') : subject;
    const check = new AnswerCheck(await documentOf(publisher), new URL(subject.url).pathname);
    if (publisher !== subject) await publisher.dispose();
    return {
      ...subject,
      async send(request, wanted) {
        const conversation = await subject.send(request, wanted);
        for (const [index, answer] of conversation.responses.entries()) {
          const asked = requestsOf(request)[index];
          const faults = asked && check.faultsOf(answer, asked);
          if (faults === undefined) tally.outside += 1;
          else tally.held += 1;
          assert.deepEqual(faults ?? [], [], 'the answer is not as the OpenAPI document says');
        }
        return conversation;
      },
    };
  };

async function documentOf(service: HttpSubject): Promise<OpenApiDocument> {
  const { responses } = await service.send({ method: 'GET', target: '/openapi.json', headers: [] });
  assert.equal(responses[0]?.status, 200);
  return parse(responses[0].body.toString()) as OpenApiDocument;
}

/** The requests in what was sent; of bytes those whose first line can be read. */
export function requestsOf(request: RowRequest | RawRequest): Asked[] {
  if ('method' in request) return [{ method: request.method, path: pathOf(request.target) }];
  const lines = request.raw.matchAll(/^([A-Z]+) (\S+) HTTP\/1\.[01]\r$/gm);
  return [...lines].map(([, method = '', target = '']) => ({ method, path: pathOf(target) }));
}

const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';

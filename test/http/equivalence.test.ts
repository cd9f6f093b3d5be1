import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeOnMongo, dropDatabase, newDatabaseName, uriOf } from '../adapters/mongodb/mongo-server.js';
import { equivalenceDocument, recordingOf, type Result } from './equivalence.js';
import type { OpenHttp } from '../contract/http/http-subject.js';
import { fetchServices } from './fetch-service.js';
import { koaServices } from './koa-service.js';
import { recordTranscript } from './transcript-recording.js';
import { readTranscript, replay, transcriptText } from './transcript.js';

const ROOT = new URL('../../../', import.meta.url);
const RECORDING = readFileSync(new URL('test/http/transcript.jsonl', ROOT), 'utf8');
const DOCUMENT = new URL('docs/equivalence.md', ROOT);
const TRANSCRIPT = readTranscript(RECORDING);
const TRANSPORTS = { 'Koa, over a socket': koaServices, Fetch: fetchServices };

/** Answers the seventh request with a header more. */
const otherwise: OpenHttp = async (situation) => {
  const subject = await fetchServices(() => 'memory:')(situation);
  let asked = 0;
  return {
    ...subject,
    async send(request) {
      const conversation = await subject.send(request);
      const [answer] = conversation.answers;
      asked += 1;
      if (asked !== 7 || answer === undefined) return conversation;
      return { ...conversation, answers: [{ ...answer, headers: [...answer.headers, ['X-Other', '']] }] };
    },
  };
};

describe('The transcript', () => {
  const results: Result[] = [];

  /** A test for each transport; `newStore` gives the URL of an empty store. */
  const answersAlike = (store: string, newStore: () => string): void => {
    for (const [transport, services] of Object.entries(TRANSPORTS)) {
      it(`is answered by ${transport}, on ${store}, as it was recorded`, async () => {
        const replayed = await replay(TRANSCRIPT, services(newStore));
        results.push({ transport, store, ...replayed });
        expect(replayed.difference?.answer).to.deep.equal(replayed.difference?.recorded.answer);
        expect(replayed.equal).to.equal(TRANSCRIPT.length);
      }).timeout(120_000);
    }
  };

  it('is what the recorder records, which npm run equivalence -- --record writes down', async () => {
    const recorded = await recordTranscript(fetchServices(() => 'memory:'));
    expect(transcriptText(recorded)).to.equal(RECORDING);
  });

  it('has 200 requests or more, and every kind of answer', () => {
    expect(TRANSCRIPT.length).to.be.at.least(200);
    const statuses = new Set(TRANSCRIPT.map(({ answer }) => answer.status));
    expect([...statuses]).to.include.members([200, 201, 204, 304, 400, 401, 403, 404, 405]);
    expect([...statuses]).to.include.members([409, 410, 413, 415, 422, 500, 503]);
  });

  it('finds out a service that answers one thing otherwise', async () => {
    const { equal, difference } = await replay(TRANSCRIPT.slice(0, 20), otherwise);
    expect(equal).to.equal(19);
    expect(difference?.recorded).to.equal(TRANSCRIPT[6]);
    expect(difference?.answer.headers).to.include({ 'x-other': '' });
  });

  answersAlike('memory', () => 'memory:');

  describe('(in a folder of its own)', () => {
    let folder = '';
    let files = 0;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
    });
    after(() => rm(folder, { recursive: true }));

    answersAlike('SQLite', () => `sqlite:${join(folder, `${(files += 1)}.db`)}`);
  });

  describeOnMongo('(in databases of its own)', (server) => {
    const databases: string[] = [];
    after(async () => {
      for (const database of databases) await dropDatabase(server, database);
    });

    answersAlike(server.name, () => {
      const database = newDatabaseName();
      databases.push(database);
      return uriOf(server, database);
    });
  });

  const isWriting = process.env['EQUIVALENCE'] === 'write';

  it('is the one that the document of the equivalence is about', function () {
    if (isWriting) this.skip();
    expect(readFileSync(DOCUMENT, 'utf8')).to.include(recordingOf(TRANSCRIPT));
  });

  after(() => {
    if (isWriting && results.length === 6) writeFileSync(DOCUMENT, equivalenceDocument(TRANSCRIPT, results));
  });
});

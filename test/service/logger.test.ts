import { expect } from 'chai';
import type { RespondedRequest } from '../../src/adapters/http/index.js';
import { createLogger } from '../../src/bootstrap/index.js';
import { responseLog } from '../../src/bootstrap/service/response-log.js';
import { UnavailableError } from '../../src/index.js';

const REQUEST: RespondedRequest = {
  requestId: 'r',
  method: 'GET',
  path: '/v1/pets',
  status: 200,
  bytes: 2,
  milliseconds: 1,
};

describe('The log', () => {
  let text: string;
  const stream = {
    write(line: string) {
      text += line;
    },
  };

  beforeEach(() => {
    text = '';
  });

  it('writes JSON lines with an ISO time to the stream that it is given', () => {
    createLogger({ logLevel: 'info' }, stream).info({ a: 1 }, 'said');

    const { time, ...line } = JSON.parse(text);
    expect(line).to.deep.equal({ level: 30, a: 1, msg: 'said' });
    expect(new Date(time).toISOString()).to.equal(time);
    expect(text.endsWith('}\n')).to.equal(true);
  });

  it('escapes control characters, and loses none', () => {
    const path = '\u0000\u001b[31m\u007f\u009b\u2028\u2029\r\n"é';
    createLogger({ logLevel: 'info' }, stream).info({ path });

    expect(text.trimEnd()).not.to.match(/[\p{Cc}\u2028\u2029]/u);
    expect(JSON.parse(text).path).to.equal(path);
  });

  it('omits lines below its level', () => {
    const log = responseLog(createLogger({ logLevel: 'error' }, stream));
    log.responded(REQUEST);

    expect(text).to.equal('');
  });

  const cause = new Error('refused by db1');
  const levels: ReadonlyArray<
    readonly [what: string, level: number, request: Partial<RespondedRequest>, expected?: object]
  > = [
    ['a response', 30, { operation: 'listPets', forwardedFor: '10.0.0.1' }],
    ['a health check', 20, { isHealthCheck: true }],
    ['a refused key', 30, { status: 401, keyFault: 'unknown' }],
    ['an expired key', 40, { status: 401, keyFault: 'expired', keyId: 'k' }],
    [
      'a refusal because the service is busy',
      40,
      { status: 503, error: new UnavailableError('busy') },
      { reason: 'The store is not available (busy).' },
    ],
    [
      'an unreachable store',
      50,
      { status: 503, error: new UnavailableError('reading', { cause }) },
      { reason: 'The store is not available (reading). refused by db1' },
    ],
    [
      'an unexpected error',
      50,
      { status: 500, error: new TypeError('oops') },
      { err: { type: 'TypeError', message: 'oops', stack: 'TypeError: oops' } },
    ],
  ];
  for (const [what, level, request, expected] of levels)
    it(`writes ${what} at level ${level}`, () => {
      const { error: _error, isHealthCheck: _, ...members } = { ...REQUEST, ...request };
      responseLog(createLogger({ logLevel: 'trace' }, stream)).responded({
        ...REQUEST,
        ...request,
      });

      // Without the frames of a stack.
      const { time: _time, ...line } = JSON.parse(text.replace(/\\n +at [^"]*/, ''));
      expect(line).to.deep.equal({ ...members, ...expected, level, msg: 'responded' });
    });
});

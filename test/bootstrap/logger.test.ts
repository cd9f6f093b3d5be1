import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { createLogger, deprecatedCallLogTo, httpLogTo } from '../../src/bootstrap/logger.js';
import { readSettings } from '../../src/bootstrap/settings.js';
import { UnavailableError } from '../../src/domain/errors.js';
import { TestIo } from './test-io.js';

describe('The log', () => {
  let io: TestIo;
  beforeEach(() => {
    io = new TestIo();
  });
  const logger = (environment: Record<string, string> = {}) => createLogger(readSettings(environment), io.io);

  it('is lines of JSON off a terminal, with the time in UTC', async () => {
    (await logger()).info({ url: 'http://a' }, 'ready');
    const [{ time, ...rest } = {}, ...more] = io.lines;
    expect([rest, more]).to.deep.equal([{ level: 30, url: 'http://a', msg: 'ready' }, []]);
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(io.out).to.equal('');
  });

  it('is made for people on a terminal, and says nothing twice', async () => {
    io = new TestIo({}, { isTTY: true });
    (await logger()).info({ url: 'a', docs: 'b', store: 'c', requestId: 'd' }, 'ready at a');
    expect(stripVTControlCharacters(io.err)).to.match(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: ready at a \{"requestId":"d"\}\n$/,
    );
  });

  it('has the format and the level that are set', async () => {
    (await logger({ LOG_FORMAT: 'pretty' })).info('ready');
    expect(io.err).to.match(/^\[[\d:.]+\] INFO: ready\n$/);
    for (const [LOG_LEVEL, messages] of Object.entries({ trace: ['a', 'b', 'c'], error: ['c'] })) {
      io = new TestIo({}, { isTTY: true });
      const log = await logger({ LOG_LEVEL, LOG_FORMAT: 'json' });
      log.debug('a');
      log.warn('b');
      log.error('c');
      expect(io.messages).to.deep.equal(messages);
    }
  });

  it('has a line for every response, its time to the microsecond', async () => {
    const response = { requestId: 'r-1', method: 'POST', path: '/v1/pets', status: 400, keyId: 'k-1' };
    httpLogTo(await logger()).responded({ ...response, code: 'invalid_pet', milliseconds: 1.23456 });
    const [{ time: _, ...rest } = {}] = io.lines;
    expect(rest).to.deep.equal({
      level: 30,
      ...response,
      code: 'invalid_pet',
      milliseconds: 1.235,
      msg: 'responded',
    });
  });

  it('has the stack and the causes of a fault of the program', async () => {
    const log = httpLogTo(await logger());
    log.failed('r-1', new TypeError('not a function', { cause: new Error('the disk is on fire') }));
    log.failed('r-2', 'a string');
    expect(io.lines[0]).to.include({ level: 50, requestId: 'r-1', msg: 'failed' });
    expect(JSON.stringify(io.lines[0])).to.include('logger.test').and.include('the disk is on fire');
    expect(io.lines[1]).to.include({ requestId: 'r-2', err: 'a string' });
  });

  it('says why a driven side is not available, each cause once and without a stack', async () => {
    const log = httpLogTo(await logger());
    const refused = new Error('ECONNREFUSED', { cause: new Error('ECONNREFUSED') });
    log.failed('r-1', new UnavailableError('reading an animal', { cause: refused }));
    log.failed('r-2', new UnavailableError('too many requests at once'));
    const lines = io.lines.map(({ time: _time, ...rest }) => Object.values(rest));
    expect(lines).to.deep.equal([
      [50, 'r-1', 'The store is not available (reading an animal). ECONNREFUSED', 'failed'],
      [40, 'r-2', 'The store is not available (too many requests at once).', 'refused'],
    ]);
  });

  it('warns of deprecated calls once a day in UTC for each key and operation', async () => {
    let now = new Date('2026-11-20T23:59:59.999Z');
    const sunset = new Date('2030-12-05T00:00:00Z');
    const called = deprecatedCallLogTo(await logger(), { now: () => now });
    for (const keyId of ['k-1', 'k-2', 'k-1', 'k-2']) called({ operationId: 'getPet', keyId, sunset });
    now = new Date('2026-11-21T00:00:00Z');
    called({ operationId: 'getPet', keyId: 'k-1', sunset });
    expect(io.lines.map(({ keyId }) => keyId)).to.deep.equal(['k-1', 'k-2', 'k-1']);
    const { time: _, ...rest } = io.lines[0] ?? {};
    const msg = 'deprecated operation called';
    expect(rest).to.deep.equal({ level: 40, operationId: 'getPet', keyId: 'k-1', sunset: '2030-12-05', msg });
  });
});

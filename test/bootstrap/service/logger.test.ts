import { execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { BusyError } from '../../../src/adapters/http/index.js';
import { createLogger, httpLogTo, logDestination } from '../../../src/bootstrap/service/logger.js';
import { readSettings } from '../../../src/bootstrap/service/settings.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { cleanUp, temporaryFolder } from '../../service/running-service.js';
import { TestIo } from '../test-io.js';

const lines = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, index) => `${JSON.stringify({ index, msg: 'é'.repeat(500) })}\n`,
  );

const readers: number[] = [];

/** Whether enough was read, by the last characters and the number of all: to look at a text that grows is slow. */
type IsEnough = (end: string, length: number) => boolean;

/** A pipe whose read end is closed after the case: then a blocked write fails, in place of holding the process. */
async function pipe(): Promise<{ fd: number; read: (isEnough: IsEnough) => Promise<string> }> {
  const path = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  readers.push(reader);
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const chunk = Buffer.alloc(64 * 1024);
  let text = '';
  let end = '';
  const read = async (isEnough: IsEnough): Promise<string> => {
    while (!isEnough(end, text.length))
      try {
        const part = chunk.toString('latin1', 0, readSync(reader, chunk));
        text += part;
        end = (end + part).slice(-20);
      } catch (error) {
        expect(error).to.include({ code: 'EAGAIN' });
        await delay(1);
      }
    return Buffer.from(text, 'latin1').toString();
  };
  return { fd, read };
}

const DESTINATION = new URL('../../../src/bootstrap/service/logger.js', import.meta.url).href;
/** Writes 400 lines in two turns, the last of them just before the process ends. `speed` is that of its clock. */
const programOf = (speed: number) => `
  process.stderr.on('error', () => {}); // as the program does: makes a pipe non-blocking
  performance.now = ((now) => () => now() * ${speed} + 60_000)(performance.now.bind(performance)); // it has run for a while
  const log = await (await import('${DESTINATION}')).logDestination(2);
  for (let line = 1; line < 400; line += 1) log.write('x'.repeat(2000) + ' ' + line + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 150));
  log.write('last\\n');
  process.exit(3);`;

/** Runs the program with this as its stderr. */
const writing = (stderr: 'pipe' | number, speed = 1) => {
  const stdio: StdioOptions = ['ignore', 'ignore', stderr];
  return spawn(process.execPath, ['--input-type=module', '--eval', programOf(speed)], { stdio });
};

describe('The log', () => {
  let io: TestIo;
  beforeEach(() => {
    io = new TestIo();
  });
  afterEach(() => {
    for (const reader of readers.splice(0)) closeSync(reader);
    return cleanUp();
  });
  const logger = (environment: Record<string, string> = {}) =>
    createLogger(readSettings(environment), io.io.stderr);

  it('is lines of JSON off a terminal, with the time in UTC', async () => {
    (await logger()).info({ url: 'http://a' }, 'ready');
    const [{ time, ...rest } = {}, ...more] = io.lines;

    expect([rest, more]).to.deep.equal([{ level: 30, url: 'http://a', msg: 'ready' }, []]);
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(io.out).to.equal('');
  });

  it('is made for people on a terminal, and says nothing twice', async () => {
    io = new TestIo({}, { isTTY: true });
    (await logger()).info({ url: 'a', docs: 'b', store: 'c', port: 1 }, 'ready at a');
    expect(stripVTControlCharacters(io.err)).to.match(
      /^\[\d\d:\d\d:\d\d\] INFO: ready at a \{"port":1\}\n$/,
    );
  });

  it('has the format and the level that are set', async () => {
    (await logger({ LOG_FORMAT: 'pretty' })).info('ready');
    expect(io.err).to.match(/^\[[\d:]+\] INFO: ready\n$/);
    for (const [LOG_LEVEL, messages] of Object.entries({ trace: ['a', 'b', 'c'], error: ['c'] })) {
      io = new TestIo({}, { isTTY: true });
      const log = await logger({ LOG_LEVEL, LOG_FORMAT: 'json' });
      log.debug('a');
      log.warn('b');
      log.error('c');
      expect(io.messages).to.deep.equal(messages);
    }
  });

  it('has the time of each line to the millisecond, also after the clock was set back', async () => {
    const log = await logger();
    const times = [
      '2026-11-20T23:59:59.999Z',
      '2026-11-21T00:00:00.000Z',
      '2026-11-21T00:00:00.007Z',
      '2026-11-21T00:00:00.990Z',
      '2026-11-21T00:00:01.000Z',
      '2026-11-21T00:00:00.999Z',
    ];
    const { now } = Date;
    try {
      for (const time of times) {
        Date.now = () => Date.parse(time);
        log.info('a line');
      }
    } finally {
      Date.now = now;
    }

    expect(io.lines.map(({ time }) => time)).to.deep.equal(times);
  });

  const REQUEST = {
    requestId: 'r-1',
    method: 'POST',
    path: '/v1/pets',
    operation: 'createPet',
  } as const;
  const CLIENT = { clientAddress: '192.0.2.1', userAgent: 'till/2', keyId: 'k-1' };
  const RESPONSE = { ...REQUEST, ...CLIENT, status: 201, bytes: 60, milliseconds: 1.23456 };
  const unavailable = new BusyError('too many requests at once');

  it('has a line for every response, its time to the microsecond', async () => {
    httpLogTo(await logger()).responded({
      ...RESPONSE,
      isProbe: undefined,
      code: undefined,
      error: undefined,
    });
    const [{ time: _, ...rest } = {}] = io.lines;
    expect(rest).to.deep.equal({ level: 30, ...RESPONSE, milliseconds: 1.235, msg: 'responded' });
  });

  it('has one short line for it on a terminal', async () => {
    io = new TestIo({}, { isTTY: true });
    const log = httpLogTo(await logger());
    log.responded(RESPONSE);
    log.responded({ ...RESPONSE, status: 400, code: 'invalid_pet' });
    log.responded({ ...RESPONSE, status: 503, code: 'service_unavailable', error: unavailable });

    expect(
      stripVTControlCharacters(io.err)
        .replaceAll(/\d\d:\d\d:\d\d/g, 'TIME')
        .split('\n'),
    ).to.deep.equal([
      '[TIME] INFO: responded POST /v1/pets 201 1.235 ms k-1 ',
      '[TIME] INFO: responded POST /v1/pets 400 1.235 ms k-1 invalid_pet',
      '[TIME] WARN: responded POST /v1/pets 503 1.235 ms k-1 service_unavailable {"reason":"The service is busy (too many requests at once)."}',
      '',
    ]);
  });

  it('has no control character of a client that a terminal would obey', async () => {
    io = new TestIo({}, { isTTY: true });
    const log = await logger();
    const error = new TypeError('a fault \b\x1bc');
    httpLogTo(log).responded({ ...RESPONSE, path: '/\x9b2J\x7f', status: 500, error });
    log.warn('store: \r\x1b]2;title\x07 in C:\\bin\\u001b, \u0085é "quoted"');
    const colors = new RegExp(`${String.fromCodePoint(27)}\\[\\d+m`, 'g'); // pino-pretty's
    const text = io.err.replaceAll(colors, '');

    expect(text).to.include('/\\u009b2J\\u007f').and.include('a fault \\b\\u001bc');
    expect(text).to.include(
      'store: \\r\\u001b]2;title\\u0007 in C:\\bin\\u001b, \\u0085é "quoted"',
    );
    expect(text.replaceAll('\n', '')).to.not.match(/\p{Cc}/u);
  });

  it('has no C1 control character and no line separator of a client', async () => {
    const text = '\x7f \x80 \x9b2J \x9d0;title\x9c \x9f \u2028 \u2029 é \xa0 "\\';
    const error = new TypeError(text, { cause: text });
    for (const LOG_FORMAT of ['pretty', 'json']) {
      io = new TestIo();
      const log = await logger({ LOG_FORMAT });
      const sent = { path: text, userAgent: text, traceparent: text, clientAddress: text };
      httpLogTo(log).responded({ ...RESPONSE, ...sent, status: 500, error });
      log.warn({ [text]: text }, text);
      expect(io.err, LOG_FORMAT).to.not.match(/[\x7f-\x9f\u2028\u2029]/);
      expect(io.err).to.include('\\u009b2J \\u009d0;title\\u009c').and.include('é \xa0');
    }
    const [line] = io.lines;

    expect([line?.['path'], line?.['userAgent']]).to.deep.equal([text, text]);
  });

  it('has requests with an expired or revoked key at warn, with an unknown one at info', async () => {
    const log = httpLogTo(await logger());
    const refused = {
      ...RESPONSE,
      keyId: undefined,
      status: 401,
      code: 'invalid_api_key',
    } as const;
    for (const keyFault of ['expired', 'unknown', 'revoked'] as const)
      log.responded({ ...refused, keyFault });

    expect(io.lines.map(({ level, keyFault }) => [level, keyFault])).to.deep.equal([
      [40, 'expired'],
      [30, 'unknown'],
      [40, 'revoked'],
    ]);
  });

  it('has health checks at debug', async () => {
    httpLogTo(await logger()).responded({ ...RESPONSE, isProbe: true });
    httpLogTo(await logger({ LOG_LEVEL: 'debug' })).responded({ ...RESPONSE, isProbe: true });
    expect(io.lines.map(({ level }) => level)).to.deep.equal([20]);
  });

  it('has the stack and the causes of a fault of the program', async () => {
    const log = httpLogTo(await logger());
    const error = new TypeError('not a function', { cause: new Error('the disk is on fire') });
    log.responded({ ...RESPONSE, status: 500, error });
    log.responded({ ...RESPONSE, requestId: 'r-2', status: 500, error: 'a string' });

    expect(io.lines[0]).to.include({ level: 50, requestId: 'r-1' });
    expect(JSON.stringify(io.lines[0]))
      .to.include('logger.test')
      .and.include('the disk is on fire');
    expect(io.lines[1]).to.include({ requestId: 'r-2', err: 'a string' });
  });

  it('says why a driven side is not available, each cause once and without a stack', async () => {
    const log = httpLogTo(await logger());
    const cause = new Error('ECONNREFUSED', { cause: 'ECONNREFUSED' });
    log.responded({
      ...RESPONSE,
      status: 503,
      error: new UnavailableError('reading an animal', { cause }),
    });
    log.responded({ ...RESPONSE, status: 503, error: unavailable });

    expect(io.lines.map(({ level, reason, err }) => [level, reason, err])).to.deep.equal([
      [50, 'The store is not available (reading an animal). ECONNREFUSED', undefined],
      [40, 'The service is busy (too many requests at once).', undefined],
    ]);
  });

  it('warns of deprecated calls once a day in UTC for each key and operation', async () => {
    let now = new Date('2026-11-20T23:59:59.999Z');
    const sunset = new Date('2030-12-05T00:00:00Z');
    const log = httpLogTo(await logger({ LOG_LEVEL: 'warn' }), { now: () => now });
    const call = (rest: object) =>
      log.responded({ ...RESPONSE, operation: 'getPet', sunset, ...rest });
    for (const keyId of ['k-1', 'k-2', undefined, 'k-1', 'k-2']) call({ keyId });
    now = new Date('2026-11-21T00:00:00Z');
    call({ keyId: 'k-1' });
    call({ keyId: 'k-1', sunset: undefined });

    expect(io.lines.map(({ keyId }) => keyId)).to.deep.equal(['k-1', 'k-2', 'k-1']);

    const { time: _, ...rest } = io.lines[0] ?? {};
    const msg = 'deprecated operation called';

    expect(rest).to.deep.equal({
      level: 40,
      operationId: 'getPet',
      keyId: 'k-1',
      sunset: '2030-12-05',
      msg,
    });
  });

  it('remembers at most 10,000 deprecated calls', async () => {
    const log = httpLogTo(await logger({ LOG_LEVEL: 'warn' }), {
      now: () => new Date('2026-11-20'),
    });
    const sunset = new Date('2030-12-05');
    const call = (key: number) =>
      log.responded({ ...RESPONSE, operation: 'getPet', sunset, keyId: `k-${key}` });
    for (let key = 1; key <= 10_001; key += 1) call(key);
    io.err = '';
    for (const key of [10_001, 1]) call(key); // the last one is remembered, the first one not

    expect(io.lines.map(({ keyId }) => keyId)).to.deep.equal(['k-1']);
  });

  it('is written in order, and soon', async () => {
    const path = join(temporaryFolder(), 'log');
    const fd = openSync(path, 'w');
    const log = await logDestination(fd);
    const text = lines(1_000);
    for (const line of text) log.write(line);
    while (readFileSync(path, 'utf8').length < text.join('').length) await delay(20);

    expect(readFileSync(path, 'utf8')).to.equal(text.join(''));

    closeSync(fd);
  });

  it('comes whole through a pipe that is full for a while', async () => {
    const { fd, read } = await pipe();
    const log = await logDestination(fd);
    const text = lines(300);
    for (const line of text) log.write(line);
    await delay(150);
    const size = Buffer.byteLength(text.join(''));

    expect(await read((_, length) => length >= size)).to.equal(text.join(''));

    closeSync(fd);
  });

  it('waits for nobody who does not read it, and says how many lines were dropped', async () => {
    const { fd, read } = await pipe();
    const log = await logDestination(fd, 500_000);
    const text = lines(1_000); // a million bytes
    for (const line of text) log.write(line);
    const written = (await read((end) => end.endsWith('dropped"}\n'))).split('\n').slice(0, -1);
    const { level, msg, dropped } = JSON.parse(written.pop() ?? '') as Record<string, unknown>;

    expect([level, msg]).to.deep.equal([40, 'lines of the log were dropped']);
    expect(written).to.have.length(text.length - Number(dropped));
    expect(`${written.join('\n')}\n`).to.equal(text.slice(0, written.length).join(''));

    log.write('{"msg":"last"}\n');
    const all = await read((end) => end.endsWith('last"}\n'));

    expect(all.match(/were dropped/g)).to.have.length(1);

    closeSync(fd);
  });

  it('has its last lines when the process ends, although its reader is slow', async () => {
    const child = writing('pipe', 0.2); // a busy machine gets five of the second that it waits for the reader
    if (child.stderr === null) throw new Error('there is no pipe');
    await once(child.stderr, 'readable');
    await delay(300); // the process waits for its end then
    let text = '';
    for await (const part of child.stderr) text += String(part);

    expect(text.match(/^x+ \d+$/gm)).to.have.length(399);
    expect(text).to.match(/\nlast\n$/);
  });

  const readersAtFault: Record<string, () => Promise<'pipe' | number>> = {
    'that has closed the pipe': async () => 'pipe',
    'that does not read': async () => (await pipe()).fd,
    'whose disk is full': async () => openSync('/dev/full', 'w'),
  };
  for (const [reader, stderr] of Object.entries(readersAtFault))
    it(`lets the process go on and end with a reader ${reader}`, async () => {
      const child = writing(await stderr());
      child.stderr?.destroy();
      const [code, signal] = await once(child, 'exit');

      expect([code, signal]).to.deep.equal([3, null]);
    });
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Settings } from '../../src/bootstrap/settings.js';

const at = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href;

/** What a program that logs leaves on its stderr; on its stdout it leaves nothing. */
async function logged(settings: Partial<Settings>, terminal: boolean, statements: string): Promise<string> {
  const program = `
    import { createLogger, deprecatedCallLogTo, httpLogTo } from '${at('bootstrap/logger.js')}';
    import { UnavailableError } from '${at('domain/errors.js')}';
    const logger = await createLogger(${JSON.stringify({ logLevel: 'info', logFormat: 'auto', ...settings })}, ${terminal});
    const log = httpLogTo(logger);
    ${statements}
  `;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    program,
  ]);
  expect(stdout).to.equal('');
  return stderr;
}

async function loggedLines(
  settings: Partial<Settings>,
  statements: string,
): Promise<Array<Record<string, unknown>>> {
  const lines = (await logged(settings, false, statements)).split('\n');
  expect(lines.pop()).to.equal('');
  return lines.map((line) => JSON.parse(line));
}

describe('The log', () => {
  it('is lines of JSON where nobody sits at a terminal, with the time in UTC', async () => {
    const [line, ...others] = await loggedLines({}, "logger.info({ url: 'http://a' }, 'ready');");
    expect(others).to.deep.equal([]);
    const { time, ...rest } = line ?? {};
    expect(rest).to.deep.equal({ level: 30, url: 'http://a', msg: 'ready' });
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('is for people on a terminal, and says nothing twice', async () => {
    const statement =
      "logger.info({ url: 'a', docs: 'b', store: 'c', requestId: 'd' }, 'ready at a, docs at b, animals in c');";
    expect(await logged({}, true, statement)).to.match(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: ready at a, docs at b, animals in c \{"requestId":"d"\}\n$/,
    );
  });

  it('has the format that is set, terminal or not', async () => {
    const pretty = await logged({ logFormat: 'pretty' }, false, "logger.info('ready');");
    expect(pretty).to.match(/INFO: ready\n$/);
    const json = await logged({ logFormat: 'json' }, true, "logger.info('ready');");
    expect(JSON.parse(json)).to.include({ msg: 'ready' });
  });

  it('leaves out what is below the level that is set', async () => {
    const statements = "logger.debug('a'); logger.warn('b'); logger.error('c');";
    const messages = async (logLevel: Settings['logLevel']): Promise<unknown[]> =>
      (await loggedLines({ logLevel }, statements)).map(({ msg }) => msg);
    expect(await messages('trace')).to.deep.equal(['a', 'b', 'c']);
    expect(await messages('error')).to.deep.equal(['c']);
    expect(await messages('silent')).to.deep.equal([]);
  });

  it('tells of every answer what it is told, its time to the microsecond', async () => {
    const [line] = await loggedLines(
      {},
      `log.answered({ requestId: 'r-1', method: 'POST', path: '/v1/pets', status: 400, code: 'invalid_pet',
         keyId: 'k-1', milliseconds: 1.23456 });`,
    );
    const { time: _, ...rest } = line ?? {};
    expect(rest).to.deep.equal({
      level: 30,
      requestId: 'r-1',
      method: 'POST',
      path: '/v1/pets',
      status: 400,
      code: 'invalid_pet',
      keyId: 'k-1',
      milliseconds: 1.235,
      msg: 'answered',
    });
  });

  it('tells of a failure the request, the error and what caused it', async () => {
    const [line] = await loggedLines(
      { logLevel: 'error' },
      `log.failed('r-1', new UnavailableError('reading an animal', {
         cause: new Error('the disk is on fire'),
       }));`,
    );
    expect(line).to.include({ level: 50, requestId: 'r-1', msg: 'failed' });
    expect(JSON.stringify(line?.['err']))
      .to.include('reading an animal')
      .and.to.include('the disk is on fire')
      .and.to.include('service_unavailable');
  });

  it('tells of a refusal that nothing is behind why it was, as a warning without a stack', async () => {
    const [line] = await loggedLines(
      {},
      "log.failed('r-1', new UnavailableError('too many requests at once'));",
    );
    const { time: _, ...rest } = line ?? {};
    expect(rest).to.deep.equal({
      level: 40,
      requestId: 'r-1',
      reason: 'The store is not available (too many requests at once).',
      msg: 'refused',
    });
  });

  it('tells even of what is thrown and is no error', async () => {
    const [line] = await loggedLines({}, "log.failed('r-1', 'a string');");
    expect(line).to.include({ requestId: 'r-1', err: 'a string' });
  });

  it('names who calls what is deprecated, and until when it goes', async () => {
    const [line, ...others] = await loggedLines(
      { logLevel: 'warn' },
      `deprecatedCallLogTo(logger).firstOfDay({
         operationId: 'getPet', keyId: 'k-1', sunset: new Date('2030-12-05T00:00:00Z'),
       });`,
    );
    expect(others).to.deep.equal([]);
    const { time: _, ...rest } = line ?? {};
    expect(rest).to.deep.equal({
      level: 40,
      operationId: 'getPet',
      keyId: 'k-1',
      sunset: '2030-12-05',
      msg: 'a deprecated operation is called, first time today',
    });
  });

  it('tells of counts that the store does not take, and why, and of those that are lost', async () => {
    const [notWritten, lost, ...others] = await loggedLines(
      {},
      `const counts = deprecatedCallLogTo(logger);
       counts.notWritten(new UnavailableError('counting', { cause: new Error('the disk is on fire') }));
       counts.lost(7);`,
    );
    expect(others).to.deep.equal([]);
    expect(notWritten).to.include({
      level: 40,
      msg: 'counts of deprecated calls are not written yet, and will be tried again',
    });
    expect(JSON.stringify(notWritten?.['err'])).to.include('the disk is on fire');
    expect(lost).to.include({ level: 40, msg: '7 deprecated calls are not counted' });
  });
});

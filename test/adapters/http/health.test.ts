import { rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Readiness } from '../../../src/adapters/http/index.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { httpInterface, keepAlive, outcome, requestWith } from './fixtures.js';

/** Readiness whose checks end when the test says so, after a first one that succeeded. */
async function heldAfterOneCheck() {
  const checks: Array<PromiseWithResolvers<void>> = [];
  const readiness = new Readiness(() => {
    const check = Promise.withResolvers<void>();
    checks.push(check);
    return check.promise;
  });
  const first = readiness.check();
  checks[0]?.resolve();
  await first;
  return { readiness, checks };
}

describe('Readiness', () => {
  keepAlive();
  let later = 0;
  beforeEach(() => {
    later = 0;
    mock.method(performance, 'now', () => later);
  });
  afterEach(() => mock.reset());

  it('checks the store at most once a second, whatever the result and however many ask', async () => {
    let checks = 0;
    let isUnreachable = true;
    const readiness = new Readiness(async () => {
      checks += 1;
      if (isUnreachable) throw new UnavailableError('checking');
    });

    await rejects(readiness.check(), UnavailableError);
    isUnreachable = false;
    later = 900;
    await rejects(readiness.check(), UnavailableError);
    expect(checks, 'checks within a second').to.equal(1);

    later = 1100;
    await readiness.check();
    expect(checks, 'checks after a second').to.equal(2);
  });

  it('counts the age of a result from the beginning of its check', async () => {
    let checks = 0;
    const readiness = new Readiness(async () => {
      checks += 1;
      later += 900;
    });

    await readiness.check();
    later += 200;
    await readiness.check();

    expect(checks, 'checks').to.equal(2);
  });

  it('uses the latest result while another request checks', async () => {
    const { readiness, checks } = await heldAfterOneCheck();

    later = 1100;
    const second = readiness.check();
    await Promise.all([readiness.check(), readiness.check()]);

    expect(checks, 'checks').to.have.length(2);
    checks[1]?.resolve();
    await second;
  });

  it('checks again while another request takes too long to check: it may have died', async () => {
    const { readiness, checks } = await heldAfterOneCheck();
    later = 1100;
    const second = readiness.check();

    later = 2200;
    const third = readiness.check();
    expect(checks, 'checks').to.have.length(3);
    checks[2]?.reject(new UnavailableError('checking'));

    await rejects(third, UnavailableError);
    await rejects(readiness.check(), UnavailableError);
    checks[1]?.resolve();
    await second;
  });

  it('uses no result that is older than three seconds, whatever has become of the checks since', async () => {
    const { readiness, checks } = await heldAfterOneCheck();
    for (later = 1100; later < 3000; later += 300) void readiness.check().catch(() => {});

    later = 3100;
    const before = checks.length;
    void readiness.check().catch(() => {});
    void readiness.check().catch(() => {});

    expect(checks.length - before, 'checks that began').to.equal(2);
  });

  it('ends when the service is about to stop, whatever the store says', async () => {
    const readiness = new Readiness(async () => {});
    await readiness.check();

    readiness.stop();

    await rejects(readiness.check(), {
      code: 'service_unavailable',
      message: 'The service is stopping.',
    });
  });

  it('ends after a second when the store does not answer, and /livez is 200 meanwhile', async () => {
    let signal: AbortSignal | undefined;
    const readiness = new Readiness((options) => {
      signal = options.signal;
      return new Promise(() => {});
    });
    const http = httpInterface({ readiness });
    mock.timers.enable({ apis: ['setTimeout'] });

    const ready = http.handle(requestWith({}, { path: '/readyz' }));
    const live = await http.handle(requestWith({}, { path: '/livez' }));
    expect(outcome(live)).to.equal('200');

    mock.timers.tick(999);
    expect(signal?.aborted, 'aborted within the second').to.equal(false);

    mock.timers.tick(1);
    expect(outcome(await ready)).to.equal('503 service_unavailable');
    expect(signal?.aborted, 'aborted after it').to.equal(true);
  });
});

import { rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Readiness } from '../../../src/adapters/http/index.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { httpInterface, keepAlive, outcome, requestWith } from './fixtures.js';

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

    await Promise.all([1, 2].map(() => rejects(readiness.check(), UnavailableError)));
    isUnreachable = false;
    later = 900;
    await rejects(readiness.check(), UnavailableError);
    expect(checks, 'checks within a second').to.equal(1);

    later = 1100;
    await readiness.check();
    expect(checks, 'checks after a second').to.equal(2);
  });

  it('ends when the service is about to stop, whatever the store says', async () => {
    const readiness = new Readiness(async () => {});
    await readiness.check();

    readiness.stop();

    await rejects(readiness.check(), { code: 'service_unavailable' });
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

import { rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Readiness } from '../../../src/adapters/http/index.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { httpInterface, keepAlive, outcome, requestWith } from './fixtures.js';

describe('Readiness', () => {
  keepAlive();
  const now = performance.now.bind(performance);
  let later = 0;
  beforeEach(() => {
    later = 0;
    mock.method(performance, 'now', () => now() + later);
  });
  afterEach(() => mock.reset());

  it('checks the store at most once a second, whatever the result and however many ask', async () => {
    let checks = 0;
    let isAway = true;
    const readiness = new Readiness(async () => {
      checks += 1;
      if (isAway) throw new UnavailableError('checking');
    });
    await rejects(readiness.check(), UnavailableError);
    isAway = false;
    later = 900;
    await rejects(readiness.check(), UnavailableError);
    expect(checks).to.equal(1);
    later = 1100;
    await readiness.check();
    expect(checks).to.equal(2);
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
    expect(checks).to.equal(2);
  });

  it('uses the latest result while another request checks, until that takes too long', async () => {
    const pending: Array<(result?: Promise<never>) => void> = [];
    const readiness = new Readiness(() => new Promise((resolve) => void pending.push(resolve)));
    const first = readiness.check();
    pending[0]?.();
    await first;
    later = 1100;
    const second = readiness.check();
    await Promise.all([readiness.check(), readiness.check()]);
    expect(pending).to.have.length(2);
    // The request that checks may have died: no other waits for it.
    later = 2200;
    const third = readiness.check();
    expect(pending).to.have.length(3);
    pending[2]?.(Promise.reject(new UnavailableError('checking')));
    await rejects(third, UnavailableError);
    await rejects(readiness.check(), UnavailableError);
    pending[1]?.();
    await second;
  });

  it('uses no result that is older than three seconds, whatever has become of the checks since', async () => {
    let checks = 0;
    const readiness = new Readiness(() => {
      checks += 1;
      return checks === 1 ? Promise.resolve() : new Promise(() => {});
    });
    await readiness.check();
    for (later = 1100; later < 3000; later += 300) void readiness.check().catch(() => {});
    later = 3100;
    const before = checks;
    void readiness.check().catch(() => {});
    void readiness.check().catch(() => {});
    expect(checks - before).to.equal(2);
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
    const readiness = new Readiness((call) => {
      ({ signal } = call);
      return new Promise(() => {});
    });
    const http = httpInterface({ readiness });
    mock.timers.enable({ apis: ['setTimeout'] });
    const ready = http.handle(requestWith({}, { path: '/readyz' }));
    expect(outcome(await http.handle(requestWith({}, { path: '/livez' })))).to.equal('200');
    mock.timers.tick(999);
    expect(signal?.aborted).to.equal(false);
    mock.timers.tick(1);
    expect(outcome(await ready)).to.equal('503 service_unavailable');
    expect(signal?.aborted).to.equal(true);
  });
});

import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { Readiness } from '../../../src/adapters/http/routes/readiness.js';
import { UnavailableError } from '../../../src/domain/errors.js';

describe('Readiness', () => {
  const now = performance.now.bind(performance);
  let later = 0;
  beforeEach(() => {
    later = 0;
    performance.now = () => now() + later;
  });
  afterEach(() => {
    performance.now = now;
  });

  it('is what the store says', async () => {
    await new Readiness(async () => {}).check();
    const away = new UnavailableError('checking');
    await rejects(new Readiness(() => Promise.reject(away)).check(), away);
  });

  it('asks the store at most once a second, whatever it said and however many ask', async () => {
    let asked = 0;
    let failing = true;
    const readiness = new Readiness(async () => {
      asked += 1;
      if (failing) throw new UnavailableError('checking');
    });
    await Promise.all([rejects(readiness.check()), rejects(readiness.check())]);
    failing = false;
    later = 900;
    await rejects(readiness.check(), UnavailableError);
    expect(asked).to.equal(1);
    later = 1100;
    await readiness.check();
    expect(asked).to.equal(2);
  });

  it('is not given when the service is about to stop, whatever the store says', async () => {
    let asked = 0;
    const readiness = new Readiness(async () => void (asked += 1));
    await readiness.check();
    readiness.stop();
    await rejects(readiness.check(), UnavailableError);
    expect(asked).to.equal(1);
  });

  it('is not given by a store that does not answer within a second, which is told to leave it', async () => {
    let signal: AbortSignal | undefined;
    const readiness = new Readiness((call) => {
      ({ signal } = call);
      return new Promise(() => {});
    });
    const alive = setInterval(() => {}, 1000);
    const began = now();
    await rejects(readiness.check(), UnavailableError);
    clearInterval(alive);
    expect(now() - began).to.be.within(990, 5000);
    expect(signal?.aborted).to.equal(true);
  });
});

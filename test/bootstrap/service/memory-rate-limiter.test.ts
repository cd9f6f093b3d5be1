import { expect } from 'chai';
import { memoryRateLimiter } from '../../../src/bootstrap/service/memory-rate-limiter.js';

describe('The rate limiter in memory', () => {
  it('gives each key a window of its own from its first request, and then a new one', async () => {
    let time = 5000;
    const limiter = memoryRateLimiter({ requests: 2, seconds: 10 }, () => time);
    const taken: unknown[] = [];
    for (const [at, keyId] of [
      [5000, 'one'],
      [7000, 'one'],
      [7000, 'other'],
      [14_999, 'one'],
      [15_000, 'one'],
    ] as const) {
      time = at;
      const { allowed, remaining, resetsIn } = await limiter.take(keyId);
      taken.push([keyId, allowed, remaining, resetsIn]);
    }

    expect(taken).to.deep.equal([
      ['one', true, 1, 10_000],
      ['one', true, 0, 8000],
      ['other', true, 1, 10_000],
      ['one', false, 0, 1],
      ['one', true, 1, 10_000],
    ]);
  });

  it('does not follow the clock of the machine when that goes back', async () => {
    const limiter = memoryRateLimiter({ requests: 1, seconds: 10 });
    await limiter.take('one');
    const { now } = Date;
    Date.now = () => now() - 7_200_000;
    try {
      expect((await limiter.take('one')).resetsIn).to.be.at.most(10_000);
    } finally {
      Date.now = now;
    }
  });
});

import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { Deadlines } from '../../../src/adapters/http/deadline.js';
import { UnavailableError } from '../../../src/domain/errors.js';

/** Work that is never done. */
const forever = (): Promise<never> => new Promise(() => {});

/** The timers of deadlines keep no process alive: something else has to while a test waits for them. */
function keepAlive(): () => void {
  const timer = setInterval(() => {}, 1000);
  return () => clearInterval(timer);
}

describe('A deadline', () => {
  let letGo: () => void;
  before(() => {
    letGo = keepAlive();
  });
  after(() => letGo());

  it('hands on what is done in time', async () => {
    const deadline = new Deadlines(1000).start();
    expect(await deadline.within(Promise.resolve('done'))).to.equal('done');
    await rejects(deadline.within(Promise.reject(new Error('failed'))), { message: 'failed' });
    expect(deadline.signal.aborted).to.equal(false);
  });

  it('waits no longer than its time, whether or not the work heeds the signal', async () => {
    const began = performance.now();
    const deadline = new Deadlines(30).start();
    await rejects(deadline.within(forever()), UnavailableError);
    expect(performance.now() - began).to.be.within(29, 10_000);
    expect(deadline.signal.reason).to.be.instanceOf(UnavailableError);
  });

  it('gives each request its own time, by one timer', async () => {
    const deadlines = new Deadlines(40);
    const ends: string[] = [];
    const wait = async (name: string): Promise<number> => {
      const began = performance.now();
      const deadline = deadlines.start();
      await rejects(deadline.within(forever()), UnavailableError);
      ends.push(name);
      return performance.now() - began;
    };
    const first = wait('first');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = wait('second');
    expect(await first).to.be.greaterThan(39);
    expect(await second).to.be.greaterThan(39);
    expect(ends).to.deep.equal(['first', 'second']);
  });

  it('does not end for a request that was answered', async () => {
    const deadlines = new Deadlines(20);
    const answered = deadlines.start();
    const waiting = deadlines.start();
    answered.stop();
    await rejects(waiting.within(forever()));
    expect(answered.signal.aborted).to.equal(false);
  });

  it('does not count the time in which the client is waited for, and gives the whole time after it', async () => {
    const deadlines = new Deadlines(40);
    const slow = deadlines.start();
    const other = deadlines.start();
    await slow.outside(other.within(forever()).catch(() => 'the time of the other is over'));
    expect(slow.signal.aborted).to.equal(false);
    const began = performance.now();
    await rejects(slow.within(forever()), UnavailableError);
    expect(performance.now() - began).to.be.greaterThan(39);
  });

  it('runs on after a client whose sending failed', async () => {
    const deadline = new Deadlines(20).start();
    await rejects(deadline.outside(Promise.reject(new Error('cut off'))), { message: 'cut off' });
    await rejects(deadline.within(forever()), UnavailableError);
  });

  it('ends at once for a client that goes away', async () => {
    const deadline = new Deadlines(60_000).start();
    const gone = new Error('gone');
    const work = deadline.within(forever());
    deadline.abort(gone);
    await rejects(work, gone);
    expect(deadline.signal.reason).to.equal(gone);
  });

  it('stops waiting for a client that went away, though nobody says that its body will not come', async () => {
    const deadline = new Deadlines(60_000).start();
    const gone = new Error('gone');
    const body = deadline.outside(forever());
    deadline.abort(gone);
    await rejects(body, gone);
  });

  it('has no time left for work that begins after its client went away', async () => {
    const deadline = new Deadlines(60_000).start();
    const gone = new Error('gone');
    deadline.abort(gone);
    await rejects(deadline.within(forever()), gone);
  });

  it('ends where timers are numbers, as outside Node.js, too', async () => {
    const { setTimeout: startTimer } = globalThis;
    const numbers = (run: () => void, milliseconds: number): number => Number(startTimer(run, milliseconds));
    Object.assign(globalThis, { setTimeout: numbers });
    try {
      await rejects(new Deadlines(20).start().within(forever()), UnavailableError);
    } finally {
      Object.assign(globalThis, { setTimeout: startTimer });
    }
  });
});

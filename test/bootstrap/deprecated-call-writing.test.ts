import { expect } from 'chai';
import { MemoryDeprecatedCallRepository } from '../../src/adapters/memory/memory-deprecated-call-repository.js';
import { DeprecatedCallCounter } from '../../src/application/deprecated-call-counter.js';
import type { Call } from '../../src/application/call.js';
import type { DeprecatedCallBatch } from '../../src/application/ports/deprecated-call-repository.js';
import { startDeprecatedCallWriting } from '../../src/bootstrap/deprecated-call-writing.js';

const CALL = { operationId: 'getPet', keyId: 'k', sunset: new Date('2030-12-05T00:00:00Z') };

/** A store that says when it took a batch, and refuses some before. */
class TellingRepository extends MemoryDeprecatedCallRepository {
  readonly signals: Array<AbortSignal | undefined> = [];
  refusals = 0;
  #taken = Promise.withResolvers<void>();

  override async record(batch: DeprecatedCallBatch, call: Call = {}): Promise<void> {
    this.signals.push(call.signal);
    this.refusals -= 1;
    if (this.refusals >= 0) throw new Error('the store is away');
    await super.record(batch, call);
    this.#taken.resolve();
    this.#taken = Promise.withResolvers();
  }

  /** Resolves when the next batch was taken. */
  taken(): Promise<void> {
    return this.#taken.promise;
  }
}

describe('The writing of counts of deprecated calls', () => {
  let repository: TellingRepository;
  let counter: DeprecatedCallCounter;
  let alive: NodeJS.Timeout;
  beforeEach(() => {
    alive = setInterval(() => {}, 1000); // the writing keeps no process alive
    repository = new TellingRepository();
    counter = new DeprecatedCallCounter({ repository });
  });
  afterEach(() => clearInterval(alive));
  const calls = async (): Promise<number | undefined> => (await repository.list())[0]?.calls;

  it('goes on by itself, also after the store refused, and gives the store a bounded time', async () => {
    const writing = startDeprecatedCallWriting(counter, 5);
    try {
      counter.count(CALL);
      await repository.taken();
      expect(await calls()).to.equal(1);
      repository.refusals = 3;
      counter.count(CALL);
      await repository.taken();
      expect(await calls()).to.equal(2);
      expect(repository.signals).to.have.length(5);
      for (const signal of repository.signals) expect(signal).to.be.instanceOf(AbortSignal);
    } finally {
      await writing.stop();
    }
  });

  it('writes what is left when it is stopped, and nothing more', async () => {
    const writing = startDeprecatedCallWriting(counter, 5);
    counter.count(CALL);
    await writing.stop();
    expect(await calls()).to.equal(1);
    counter.count(CALL);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    expect(repository.signals).to.have.length(1);
  });
});

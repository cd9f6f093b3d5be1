import { expect } from 'chai';
import { MemoryDeprecatedCallRepository } from '../../src/adapters/memory/memory-deprecated-call-repository.js';
import type { Call } from '../../src/application/call.js';
import {
  DeprecatedCallCounter,
  type DeprecatedCall,
  type DeprecatedCallLog,
} from '../../src/application/deprecated-call-counter.js';
import type { DeprecatedCallBatch } from '../../src/application/ports/deprecated-call-repository.js';
import { times } from '../contract/samples.js';

const SUNSET = new Date('2030-12-05T00:00:00Z');

const callBy = (keyId: string, operationId = 'getPet'): DeprecatedCall => ({
  operationId,
  keyId,
  sunset: SUNSET,
});

/** A store whose answers a test gives: it takes nothing by itself. */
class HeldRepository {
  readonly batches: DeprecatedCallBatch[] = [];
  readonly calls: Call[] = [];
  /** What becomes of the batches, the next first; those without are taken. */
  readonly answers: Array<Promise<void>> = [];

  record(batch: DeprecatedCallBatch, call: Call = {}): Promise<void> {
    this.batches.push(batch);
    this.calls.push(call);
    return this.answers.shift() ?? Promise.resolve();
  }

  get counts(): ReadonlyArray<readonly [keyId: string, calls: number]> {
    return this.batches.flatMap(({ counts }) => counts.map(({ keyId, calls }) => [keyId, calls] as const));
  }
}

const refused = (): Promise<never> => Promise.reject(new Error('the store is away'));

describe('DeprecatedCallCounter', () => {
  let now: Date;
  let told: unknown[];
  let repository: HeldRepository;
  let counter: DeprecatedCallCounter;
  const clock = { now: () => now };
  const log: DeprecatedCallLog = {
    firstOfDay: ({ operationId, keyId, sunset }) => void told.push([operationId, keyId, sunset]),
    notWritten: (error) => void told.push(error),
    lost: (calls) => void told.push(calls),
  };
  beforeEach(() => {
    now = new Date('2026-11-20T10:00:00.000Z');
    told = [];
    repository = new HeldRepository();
    counter = new DeprecatedCallCounter({ repository, clock, log });
  });

  const count = (...keyIds: readonly string[]): void => {
    for (const keyId of keyIds) counter.count(callBy(keyId));
  };

  it('sums the calls of each key and operation, and brings them to the store when it is told to write', async () => {
    const memory = new MemoryDeprecatedCallRepository();
    counter = new DeprecatedCallCounter({ repository: memory, clock, log });
    count('a', 'b', 'a');
    counter.count(callBy('a', 'oldList'));
    expect(await memory.list()).to.deep.equal([]);
    now = new Date('2026-11-20T10:00:00.007Z');
    count('a');
    await counter.write();
    const [day, early] = ['2026-11-20', new Date('2026-11-20T10:00:00.000Z')];
    expect(await memory.list()).to.deep.equal([
      { day, operationId: 'getPet', keyId: 'a', calls: 3, lastAt: now },
      { day, operationId: 'getPet', keyId: 'b', calls: 1, lastAt: early },
      { day, operationId: 'oldList', keyId: 'a', calls: 1, lastAt: early },
    ]);
  });

  it('tells operations and keys apart, however alike they are together', async () => {
    const alike = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['a', 'b c'],
      ['a b', 'c'],
      ['a', '1 bc'],
    ] as const;
    for (const [operationId, keyId] of alike) counter.count(callBy(keyId, operationId));
    await counter.write();
    expect(
      repository.batches.flatMap(({ counts }) =>
        counts.map(({ operationId, keyId }) => [operationId, keyId]),
      ),
    ).to.deep.equal(alike);
  });

  it('counts by the day in UTC that the clock says', async () => {
    for (const time of [
      '2026-11-20T23:59:59.999Z',
      '2026-11-21T00:00:00.000Z',
      '2026-11-21T01:00:00+02:00',
    ]) {
      now = new Date(time);
      count('a');
    }
    await counter.write();
    expect(
      repository.batches.flatMap(({ counts }) => counts.map(({ day, calls }) => [day, calls])),
    ).to.deep.equal([
      ['2026-11-20', 2],
      ['2026-11-21', 1],
    ]);
  });

  it('keeps the later time when the clock is set back', async () => {
    count('a');
    now = new Date('2026-11-20T09:00:00.000Z');
    count('a');
    await counter.write();
    expect(repository.batches[0]?.counts[0]?.lastAt).to.deep.equal(new Date('2026-11-20T10:00:00.000Z'));
  });

  it('writes nothing when nothing came, and nothing twice', async () => {
    await counter.write();
    count('a');
    await counter.write();
    await counter.write();
    count('a', 'a');
    await counter.write();
    expect(repository.counts).to.deep.equal([
      ['a', 1],
      ['a', 2],
    ]);
    expect(new Set(repository.batches.map(({ id }) => id)).size).to.equal(2);
  });

  it('counts on while the store takes its time, and writes one batch at a time', async () => {
    const taken = Promise.withResolvers<void>();
    repository.answers.push(taken.promise);
    count('a');
    const writing = [counter.write(), counter.write()];
    await new Promise(setImmediate);
    count('a', 'b');
    await new Promise(setImmediate);
    expect(repository.counts).to.deep.equal([['a', 1]]);
    taken.resolve();
    await Promise.all(writing);
    expect(repository.counts).to.deep.equal([
      ['a', 1],
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('keeps what the store refuses, and gives the same batch again before what came since', async () => {
    repository.answers.push(refused(), refused());
    count('a');
    await counter.write();
    count('a', 'a');
    await counter.write();
    await counter.write();
    const [first, second, third, fourth, ...more] = repository.batches;
    expect(more).to.deep.equal([]);
    expect([second, third]).to.deep.equal([first, first]);
    expect([first, fourth].map((batch) => batch?.counts[0]?.calls)).to.deep.equal([1, 2]);
    expect(fourth?.id).to.not.equal(first?.id);
  });

  it('tells of a store that refuses once, and once again after it took some', async () => {
    count('a');
    told.length = 0;
    repository.answers.push(refused(), refused());
    await counter.write();
    await counter.write();
    expect(told).to.have.length(1);
    expect(String(told[0])).to.equal('Error: the store is away');
    await counter.write();
    count('a');
    repository.answers.push(refused());
    await counter.write();
    expect(told).to.have.length(2);
  });

  it('gives the store no more than 100 counts at a time', async () => {
    const keyIds = times(250, (number) => `k${number}`);
    count(...keyIds);
    repository.answers.push(Promise.resolve(), refused());
    await counter.write();
    await counter.write();
    const sizes = repository.batches.map(({ counts }) => counts.length);
    expect(sizes).to.deep.equal([100, 100, 100, 50]);
    expect(repository.batches[2]).to.equal(repository.batches[1]);
    expect(new Set(repository.counts.map(([keyId]) => keyId)).size).to.equal(250);
  });

  it('has bounds: of calls by more than 100,000 keys it tells how many it did not count', async () => {
    count(...times(100_003, (number) => `k${number}`), 'k1');
    told.length = 0;
    await counter.write();
    expect(repository.counts).to.have.length(100_000);
    expect(repository.counts[0]).to.deep.equal(['k1', 2]);
    expect(told).to.deep.equal([3]);
    await counter.write();
    expect(told).to.deep.equal([3]);
  });

  it('passes the signal on, and keeps what was not written when it is aborted', async () => {
    const { signal } = new AbortController();
    count('a');
    await counter.write({ signal });
    expect(repository.calls).to.deep.equal([{ signal }]);
    const memory = new MemoryDeprecatedCallRepository();
    counter = new DeprecatedCallCounter({ repository: memory, clock });
    count('a');
    await counter.write({ signal: AbortSignal.abort() });
    expect(await memory.list()).to.deep.equal([]);
    await counter.write();
    expect(await memory.list()).to.have.length(1);
  });

  describe('tells the log', () => {
    it('of the first call of a key and operation on a day, and of no other', async () => {
      count('a', 'a', 'b');
      counter.count(callBy('a', 'oldList'));
      await counter.write();
      count('a', 'b');
      expect(told).to.deep.equal([
        ['getPet', 'a', SUNSET],
        ['getPet', 'b', SUNSET],
        ['oldList', 'a', SUNSET],
      ]);
      now = new Date('2026-11-21T00:00:00.000Z');
      count('a', 'a');
      expect(told.slice(3)).to.deep.equal([['getPet', 'a', SUNSET]]);
    });

    it('of first calls where no store keeps counts, and of nothing else', async () => {
      counter = new DeprecatedCallCounter({ clock, log });
      count('a', 'a', 'b');
      await counter.write();
      await counter.close();
      expect(told).to.deep.equal([
        ['getPet', 'a', SUNSET],
        ['getPet', 'b', SUNSET],
      ]);
    });
  });

  describe('at its end', () => {
    it('writes what is left, and tells of no loss', async () => {
      count('a', 'a');
      told.length = 0;
      await counter.close();
      expect(repository.counts).to.deep.equal([['a', 2]]);
      expect(told).to.deep.equal([]);
    });

    it('tells how many calls are lost that the store did not take', async () => {
      count('a', 'a');
      repository.answers.push(refused(), refused());
      await counter.write();
      count('b');
      told.length = 0;
      await counter.close();
      expect(told).to.deep.equal([3]);
    });
  });
});

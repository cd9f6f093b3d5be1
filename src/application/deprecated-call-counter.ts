import type { Call } from './call.js';
import { systemClock, type Clock } from './ports/clock.js';
import type {
  DeprecatedCallBatch,
  DeprecatedCallRepository,
  DeprecatedCalls,
} from './ports/deprecated-call-repository.js';

/** A call of an operation that is deprecated, by a key that is good. */
export interface DeprecatedCall {
  /** As in the interface's description: `getPet`. */
  readonly operationId: string;
  /** Names the key, never tells it. */
  readonly keyId: string;
  /** When the operation is to be removed. */
  readonly sunset: Date;
}

/** What the counter tells of its work. Nothing here may throw. */
export interface DeprecatedCallLog {
  /** A key calls the operation for the first time on this day, as far as this process knows. */
  firstOfDay(call: DeprecatedCall): void;
  /** The store did not take the counts. They stay, and are tried again; told once until it takes some. */
  notWritten(error: unknown): void;
  /** So many calls will never be counted: the counter was full, or ends with counts that the store did not take. */
  lost(calls: number): void;
}

export const silentDeprecatedCallLog: DeprecatedCallLog = {
  firstOfDay: () => {},
  notWritten: () => {},
  lost: () => {},
};

/** Where a counter takes what it counts. */
export interface DeprecatedCallCounterOptions {
  /** Where counts are kept; left out, calls are told to the log only. Whoever opened it closes it. */
  readonly repository?: Pick<DeprecatedCallRepository, 'record'> | undefined;
  /** Decides what day it is. The machine's clock when left out. */
  readonly clock?: Clock | undefined;
  /** Told of each first call of a day, and of what goes wrong; nobody is when left out. */
  readonly log?: DeprecatedCallLog | undefined;
}

/** How many counts go to the store at a time: none is held up by the work on one batch. */
const BATCH_SIZE = 100;

/**
 * How many keys are remembered as told of, and how many counts wait for the store. No more than there are keys
 * and days, so that only an authenticator whose key ids have no end comes so far.
 */
const CAPACITY = 100_000;

interface Count {
  readonly day: string;
  readonly operationId: string;
  readonly keyId: string;
  calls: number;
  /** The time of the last call, in milliseconds since 1970. */
  last: number;
}

/** A day in UTC: from `begins`, before `ends`, in milliseconds since 1970. */
interface Day {
  readonly text: string;
  readonly begins: number;
  readonly ends: number;
}

const MILLISECONDS_OF_DAY = 86_400_000;

function dayOf(time: number): Day {
  const begins = Math.floor(time / MILLISECONDS_OF_DAY) * MILLISECONDS_OF_DAY;
  return {
    text: new Date(begins).toISOString().slice(0, 10),
    begins,
    ends: begins + MILLISECONDS_OF_DAY,
  };
}

/**
 * Counts who still calls deprecated operations. Counting is a few steps in memory: it waits for nothing and
 * never throws. Somebody else calls `write` every few seconds, and `close` at the end; what was counted since
 * the last `write` that went well is lost when the process is killed.
 */
export class DeprecatedCallCounter {
  readonly #repository: Pick<DeprecatedCallRepository, 'record'> | undefined;
  readonly #clock: Clock;
  readonly #log: DeprecatedCallLog;
  /** Not yet on their way to the store, by day, operation and key. */
  #counts = new Map<string, Count>();
  /** On their way, or refused and to be given again as they are. */
  readonly #batches: DeprecatedCallBatch[] = [];
  #today: Day = dayOf(0);
  readonly #toldToday = new Set<string>();
  #uncounted = 0;
  #failing = false;
  #writing = Promise.resolve();

  constructor({
    repository,
    clock = systemClock,
    log = silentDeprecatedCallLog,
  }: DeprecatedCallCounterOptions) {
    this.#repository = repository;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Counts one call on the current day in UTC. Costs a look-up in memory; the store hears of it with `write`.
   */
  count(call: DeprecatedCall): void {
    const { operationId, keyId } = call;
    const now = this.#clock.now().getTime();
    const day = this.#dayAt(now);
    // The length tells where the one ends and the other begins.
    const id = `${day} ${operationId.length} ${operationId}${keyId}`;
    this.#tellFirst(id, call);
    if (this.#repository === undefined) return;
    const counted = this.#counts.get(id);
    if (counted !== undefined) {
      counted.calls += 1;
      counted.last = Math.max(counted.last, now);
    } else if (this.#counts.size < CAPACITY) {
      this.#counts.set(id, { day, operationId, keyId, calls: 1, last: now });
    } else {
      this.#uncounted += 1;
    }
  }

  /**
   * Brings what was counted to the store. Never rejects: what the store does not take now stays for the next
   * time. Resolves when it is done, or given up because of the signal; overlapping calls take their turns.
   */
  write(call: Call = {}): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(call));
    return this.#writing;
  }

  /** Writes for the last time, and tells the log how many calls are lost if it did not go well. */
  async close(call: Call = {}): Promise<void> {
    await this.write(call);
    this.#takeBatches();
    const waiting = this.#batches.splice(0).flatMap(({ counts }) => counts);
    const lost = waiting.reduce((sum, { calls }) => sum + calls, 0);
    if (lost > 0) this.#log.lost(lost);
  }

  /** The day in UTC, as text: made once a day, for it costs more than all else. */
  #dayAt(time: number): string {
    if (time < this.#today.begins || time >= this.#today.ends) {
      this.#today = dayOf(time);
      this.#toldToday.clear();
    }
    return this.#today.text;
  }

  #tellFirst(id: string, call: DeprecatedCall): void {
    if (this.#toldToday.has(id)) return;
    if (this.#toldToday.size >= CAPACITY) this.#toldToday.clear();
    this.#toldToday.add(id);
    this.#log.firstOfDay(call);
  }

  async #write(call: Call): Promise<void> {
    try {
      // Those refused before as they were: the store may have added a part of them, and knows them by their id.
      await this.#recordBatches(call);
      this.#takeBatches();
      await this.#recordBatches(call);
    } catch (error) {
      if (!this.#failing) this.#log.notWritten(error);
      this.#failing = true;
    }
    if (this.#uncounted > 0) this.#log.lost(this.#uncounted);
    this.#uncounted = 0;
  }

  #takeBatches(): void {
    const counts = Array.from(
      this.#counts.values(),
      ({ day, operationId, keyId, calls, last }): DeprecatedCalls => ({
        day,
        operationId,
        keyId,
        calls,
        lastAt: new Date(last),
      }),
    );
    this.#counts = new Map();
    for (let start = 0; start < counts.length; start += BATCH_SIZE) {
      this.#batches.push({ id: crypto.randomUUID(), counts: counts.slice(start, start + BATCH_SIZE) });
    }
  }

  async #recordBatches(call: Call): Promise<void> {
    for (;;) {
      const [batch] = this.#batches;
      if (batch === undefined) return;
      await this.#repository?.record(batch, call);
      this.#batches.shift();
      this.#failing = false;
    }
  }
}

import { AssertionError } from 'node:assert';
import { OPENING } from './open-handles.js';
import { shown } from './shown.js';

/** A call of an operation of the subject. */
interface RecordedCall {
  readonly operation: string;
  readonly args: readonly unknown[];
  /** What came of it, as text: values may change later, and are made into text only when a case fails. */
  outcome: () => string;
}

type Operation = (...args: unknown[]) => unknown;

/** How many of the last calls the message of a failure has. */
const LAST = 4;

/** The members of subjects whose operations are recorded. */
const PORTS = new Set<PropertyKey>([
  'pets',
  'apiKeys',
  'transfer',
  'changes',
  'animalStore',
  'authenticator',
]);

/** The last calls on one subject, for the messages of failing cases: what was done, and what came. */
export class Recorder {
  #calls: RecordedCall[] = [];

  /** Forgets the calls of the case before. */
  clear(): void {
    this.#calls = [];
  }

  /**
   * Stands for `target`, and records the operations of it and of its ports. A rejection counts as handled: a case that
   * fails leaves the calls that it did not get to await.
   */
  record<Recorded extends object>(target: Recorded, prefix = ''): Recorded {
    // A proxy of the target itself could not replace the members of a frozen one.
    return new Proxy<Recorded>(Object.create(target), {
      get: (_, property) => this.#member(target, property, prefix),
    });
  }

  /**
   * The error of a failed case. Its message has the last calls and both values; `actual` and `expected` are cleared:
   * reporters that write them as JSON fail on bigints, some silently.
   */
  explain(error: unknown): unknown {
    const calls = this.#calls.map(({ operation, args, outcome }) => {
      const given = args.filter((arg) => arg !== undefined).map(shown);
      return `\n  ${operation}(${given.join(', ')}) ${outcome()}`;
    });
    const done = calls.length > 0 ? `\nThe last calls:${calls.join('')}` : '';
    if (!(error instanceof AssertionError))
      return done === '' ? error : new Error(`${String(error)}${done}`, { cause: error });
    const { message, actual, expected, generatedMessage, stack = '' } = error;
    // The messages that node:assert makes have both values; so do others, depending on its version.
    const hasValues = generatedMessage || /\+ actual| !== /.test(message);
    // Without either value, nothing was compared: a call resolved that must reject.
    const isCompared = actual !== expected;
    const values =
      hasValues || !isCompared ? '' : `\nCame: ${shown(actual)}\nExpected: ${shown(expected)}`;
    const explained = message + values + done;
    return Object.assign(error, {
      message: explained,
      stack: stack.replace(message, () => explained),
      actual: undefined,
      expected: undefined,
    });
  }

  /** A member as cases see it: operations and ports are recorded, values are as they are now. */
  #member(target: object, property: PropertyKey, prefix: string): unknown {
    const member: unknown = Reflect.get(target, property);
    const name = prefix + String(property);
    if (PORTS.has(property) && typeof member === 'object' && member !== null)
      return this.record(member, `${name}.`);
    if (typeof member !== 'function') return member;
    // Bound, as the proxy has no private fields.
    const operation = (member as Operation).bind(target);
    return property === 'dispose' ? operation : this.#recordCall(name, operation);
  }

  #recordCall(operation: string, run: Operation): Operation {
    return (...args) => {
      const call: RecordedCall = { operation, args, outcome: () => 'has not ended' };
      this.#calls = [...this.#calls, call].slice(-LAST);
      const result = run(...args);
      if (!isPromise(result)) {
        call.outcome = () => `returned ${shown(result)}, which is no promise`;
        return result;
      }
      void noteOutcome(call, result);
      return OPENING.includes(operation)
        ? result.then((store) => this.record(Object(store) as object, `${operation}().`))
        : result;
    };
  }
}

/** By its method: test runners may run adapters in another realm, whose promises are of another class. */
const isPromise = (result: unknown): result is Promise<unknown> =>
  typeof Object(result).then === 'function';

async function noteOutcome(call: RecordedCall, result: Promise<unknown>): Promise<void> {
  try {
    const value = await result;
    call.outcome = () => `resolved to ${shown(value)}`;
  } catch (error) {
    call.outcome = () => `rejected with ${String(error)}`;
  }
}

import type { Subject } from './contract.js';
import { doBoth, settleAll } from './settle.js';

/** The operations of subjects that open one more handle on a store. */
export const OPENING: readonly string[] = ['reopen', 'another', 'open'];

type Opening = (...args: unknown[]) => Promise<Handle>;

interface Handle {
  readonly close: () => Promise<void>;
}

/**
 * The subject, whose `dispose` also closes the handles that its operations opened: a case that fails or takes too long
 * does not.
 */
export function closingHandles<Tested extends Subject>(subject: Tested): Tested {
  const handles = new OpenHandles();
  const replaced = new Map<PropertyKey, unknown>();
  replaced.set('dispose', () =>
    doBoth(
      () => handles.close(),
      () => subject.dispose(),
    ),
  );
  for (const name of OPENING) {
    const open: unknown = Reflect.get(subject, name);
    if (typeof open === 'function')
      replaced.set(name, (...args: unknown[]) =>
        handles.add((open as Opening).apply(subject, args)),
      );
  }
  return new Proxy<Tested>(Object.create(subject), {
    get(_, name) {
      if (replaced.has(name)) return replaced.get(name);
      const member: unknown = Reflect.get(subject, name);
      // Bound, as a subject of a class may have private fields.
      return typeof member === 'function' ? (member.bind(subject) as unknown) : member;
    },
  });
}

class OpenHandles {
  readonly #handles: Handle[] = [];
  #isClosed = false;

  async add(opening: Promise<Handle>): Promise<Handle> {
    const handle = await opening;
    this.#handles.push(handle);
    if (this.#isClosed) await this.close(); // a case that took too long went on
    return handle;
  }

  /** Closes all of them, also those that the case has closed, and those that are still to open. */
  close(): Promise<void> {
    this.#isClosed = true;
    return settleAll(this.#handles.splice(0).map(async (handle) => handle.close()));
  }
}

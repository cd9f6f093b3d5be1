import { settleAll } from './settle.js';

/** The handles that a case opened on one store. A case that fails or takes too long closes none itself. */
export class OpenHandles<Handle extends { close(): Promise<void> }> {
  readonly #handles: Handle[] = [];
  #isDisposed = false;

  /** Adds a handle. A case that took too long may go on, and open one more: that is closed at once. */
  async add(opening: Promise<Handle>): Promise<Handle> {
    const handle = await opening;
    this.#handles.push(handle);
    if (this.#isDisposed) await this.close();
    return handle;
  }

  /** Closes all of them, also those that the case has closed. */
  close(): Promise<void> {
    return settleAll(this.#handles.splice(0).map(async (handle) => handle.close()));
  }

  /** Closes all of them, and then removes the store, even if one does not close. */
  async dispose(remove: () => Promise<void>): Promise<void> {
    this.#isDisposed = true;
    try {
      await this.close();
    } finally {
      await remove();
    }
  }
}

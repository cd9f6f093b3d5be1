import { FakeProcess, type Environment, type Given } from './fake-process.js';

/** A static key for services whose keys are not what the test is about. */
export const KEY = 'a-static-key-of-the-tests';

/** A service that `serve` runs in this process, on a free port. */
export class RunningService {
  static readonly #running = new Set<RunningService>();
  readonly process: FakeProcess;
  readonly code: Promise<number>;

  constructor(env: Environment, given: Given = {}) {
    this.process = new FakeProcess({ PORT: '0', STORE_URL: 'memory:', ...env }, given);
    this.code = this.process.run(['serve'], given.modules);
    void this.code.finally(() => RunningService.#running.delete(this));
    RunningService.#running.add(this);
  }

  /** The address of the operations, once the service has said that it is ready. */
  async ready(): Promise<string> {
    const found = await Promise.race([this.process.said(/ready at (http:[^\s,"]+)/i), this.code]);
    if (typeof found === 'number') throw new Error(`ended with ${found}: ${this.process.err}`);
    return found[1] ?? '';
  }

  stop(signal = 'SIGTERM'): Promise<number> {
    this.process.emit(signal, signal);
    return this.code;
  }

  /** Stops what a test left running. */
  static async stopAll(): Promise<void> {
    await Promise.all([...RunningService.#running].map((service) => service.stop()));
  }
}

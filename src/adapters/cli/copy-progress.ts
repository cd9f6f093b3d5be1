import type { CopyProgress } from '../../application/copy-catalogue.js';
import type { Terminal } from './operations.js';

/** How often something is shown, in milliseconds: a line that is rewritten, and lines that add up. */
const INTERVAL = { rewritten: 100, added: 5000 } as const;

/** What is known of the rate before, in milliseconds, says nothing. */
const SETTLED = 1000;

/** Leaves room for the rest in the 80 columns of a terminal. */
const BAR_WIDTH = 12;

/**
 * Shows how a copy gets on: a bar on a terminal, a line now and then elsewhere. The rate is that of the phase
 * so far, and the remaining time goes by it.
 */
export class CopyProgressDisplay {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #phase: CopyProgress['phase'] | undefined;
  /** When the phase began, and when something was shown last. */
  #begun: number;
  #shown = -Infinity;
  #told: number;
  #complete = false;

  /** @param now a clock in milliseconds that only goes forward */
  constructor(terminal: Terminal, now: () => number) {
    this.#terminal = terminal;
    this.#now = now;
    this.#begun = this.#told = now();
  }

  tell(progress: CopyProgress): void {
    const now = this.#now();
    if (progress.phase !== this.#phase) {
      // A phase takes from the last word of the one before.
      this.#begun = this.#told;
      this.#phase = progress.phase;
      this.#complete = false;
    }
    this.#told = now;
    const { show, note } = this.#terminal;
    const complete = progress.done === progress.total;
    const first = complete && !this.#complete;
    this.#complete = complete;
    if (!first && now - this.#shown < (show ? INTERVAL.rewritten : INTERVAL.added)) return;
    this.#shown = now;
    const line = describe(progress, now - this.#begun);
    if (show) show(`${bar(progress)} ${line}`);
    else note(line);
  }

  /** Leaves the line free for other words. */
  end(): void {
    this.#terminal.show?.('');
  }
}

const bar = ({ done, total }: CopyProgress): string => {
  const filled = Math.floor((BAR_WIDTH * done) / total);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`;
};

function describe({ phase, done, total }: CopyProgress, elapsed: number): string {
  const parts = [
    `${phase} ${String(Math.floor((100 * done) / total)).padStart(3)} %`,
    `${number(done)} of ${number(total)}`,
  ];
  if (elapsed >= SETTLED) {
    const rate = (1000 * done) / elapsed;
    parts.push(`${number(Math.round(rate))}/s`);
    if (done < total) parts.push(`${duration((total - done) / rate)} left`);
  }
  return parts.join(', ');
}

export const number = (value: number | bigint): string => value.toLocaleString('en-US');

/** In the two greatest units, as people say it. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

import { note, type HostProcess } from './command-line.js';

/** How far a command has come. */
export interface Progress {
  /** Returns how much is done. */
  readonly done: () => number;
  /** What `done` counts. Default: animals. */
  readonly unit?: string;
  /** Returns the part of the work that is done, from 0 to 1; `undefined` if nobody knows. */
  readonly part: () => number | undefined;
}

/** How often there is a line where no terminal shows a bar, in milliseconds. */
const LINE_EVERY = 5000;

/** Shows on stderr, while `work` runs, how far it is, its rate and the remaining time: by a bar on a terminal. */
export async function withProgress<T>(
  io: HostProcess,
  { done, unit = 'animals', part }: Progress,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  const text = (): string => {
    const seconds = (performance.now() - start) / 1000;
    const ready = part() ?? 0;
    const left = ready > 0 ? ` | ${Math.ceil(seconds / ready - seconds)} s left` : '';
    return `${done()} ${unit} | ${Math.round(done() / seconds)}/s${left}`;
  };
  if (!io.stderr.isTTY) {
    const timer = setInterval(() => note(io, text()), LINE_EVERY);
    return work().finally(() => clearInterval(timer));
  }
  const { SingleBar } = (await import('cli-progress')).default;
  const format = part() === undefined ? '{text}' : '[{bar}] {percentage} % | {text}';
  // `linewrap` cuts what is too long for the terminal.
  const bar = new SingleBar({ stream: io.stderr, format, barsize: 20, linewrap: true });
  const update = (): void => bar.update(Math.round((part() ?? 0) * 100), { text: text() });
  bar.start(100, 0, { text: '' });
  const timer = setInterval(update, 100);
  return work().finally(() => {
    clearInterval(timer);
    update();
    bar.stop();
  });
}

import type { Command } from './command.js';
import { readDuration } from './duration.js';
import { InterruptedError } from './interrupted-error.js';
import type { CheckedCase, PortCheck, StoreCheckRequest } from './operations.js';
import { UsageError } from './usage-error.js';

export const checkStore: Command = {
  name: 'check-store',
  summary:
    'Holds a store of your own to the contracts of its ports. MODULE exports openStore, or adapter as for ADAPTERS.',
  usage: 'check-store MODULE [--url URL] [--only TEXT] [--animals N] [--time-limit 30s] [--json]',
  example: "animal-store check-store ./my-store.mjs --url 'shelf:{folder}/animals'",
  positional: 'MODULE',
  options: {
    url: { type: 'string' },
    only: { type: 'string' },
    animals: { type: 'string' },
    'time-limit': { type: 'string' },
    json: { type: 'boolean' },
  },
  terms: [
    ['MODULE', 'a file or a package, named as in ADAPTERS'],
    ['--url URL', 'where the stores of adapter are: {folder} stands for a new folder, {name} for a new name'],
    ['--only TEXT', 'runs only the cases with the text in their names'],
    ['--animals N', 'how many animals the longest case walks through (10000)'],
    ['--time-limit 30s', 'how long one case may take'],
    ['--json', 'prints the outcome of each case as JSON, for machines'],
  ],
  async run(operations, { out, note, show }, { values, argument }) {
    const request = readRequest(argument, values);
    try {
      const checks = await operations.checkStore(request, ({ port, done, count, failed }) =>
        show?.(`${port}: ${done} of ${count}${failed === 0 ? '' : `, ${failed} failed`}`),
      );
      show?.('');
      const passed = checks.every(({ cases }) => cases.every(({ outcome }) => outcome !== 'failed'));
      out(values['json'] ? `${JSON.stringify({ passed, checks: checks.map(plain) })}\n` : report(checks));
      return passed ? 0 : 1;
    } catch (error) {
      show?.('');
      if (!(error instanceof InterruptedError)) throw error;
      note(error.message);
      return error.exitCode;
    }
  },
};

function readRequest(module: string, values: Readonly<Record<string, unknown>>): StoreCheckRequest {
  const { url, only, animals, 'time-limit': timeLimit } = values;
  return {
    module,
    ...(typeof url === 'string' && { url }),
    ...(typeof only === 'string' && { only }),
    ...(typeof animals === 'string' && { animals: readCount(animals) }),
    ...(typeof timeLimit === 'string' && { timeLimit: readLimit(timeLimit) }),
  };
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError('--animals must be a number from 1 to 9999999');
}

function readLimit(text: string): number {
  try {
    const limit = readDuration(text);
    if (limit > 0) return limit;
  } catch {
    // Said below.
  }
  throw new UsageError('--time-limit must be a duration like 500ms, 30s or 2m');
}

/** As JSON: an error is its texts. */
const plain = ({ cases, ...check }: PortCheck) => ({
  ...check,
  cases: cases.map(({ error, ...rest }) => ({
    ...rest,
    ...(rest.outcome === 'failed' && { error: told(error) }),
  })),
});

const told = (error: unknown) =>
  error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: typeof error, message: String(error) };

function report(checks: readonly PortCheck[]): string {
  const all = checks.flatMap(({ cases }) => cases);
  return `${checks.flatMap(portLines).join('\n')}\n\n${counts(all)}.\n`;
}

function portLines({ port, cases, undeclared }: PortCheck): string[] {
  const seconds = cases.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000;
  return [
    `${port}: ${counts(cases)} (${seconds.toFixed(1)} s)`,
    ...cases.filter(({ outcome }) => outcome === 'failed').flatMap(failureLines),
    ...skippedLines(cases),
    ...undeclared.map((name) => `  note: not declared to be ${name}, though every case of it passed`),
    ...cases.flatMap(({ name, notes }) => notes.map((note) => `  note: ${name}: ${note}`)),
  ];
}

function counts(cases: readonly CheckedCase[]): string {
  const count = (wanted: CheckedCase['outcome']): number =>
    cases.filter(({ outcome }) => outcome === wanted).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
}

const failureLines = ({ name, error }: CheckedCase): string[] => [
  `  failed: ${name}`,
  ...indented(description(error), 40),
];

/** By reason: many cases are skipped for the same. */
function skippedLines(cases: readonly CheckedCase[]): string[] {
  const skipped = cases.filter(({ outcome }) => outcome === 'skipped');
  const lines: string[] = [];
  for (const [reason, others] of Map.groupBy(skipped, (checked) => checked.reason ?? '')) {
    if (others.length === cases.length) lines.push(`  skipped: all of it, for ${reason}`);
    else lines.push(`  skipped: ${reason}`, ...others.map(({ name }) => `    ${name}`));
  }
  return lines;
}

/** What an assertion says is enough; of other errors one wants to know where they are from, and their causes. */
function description(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AssertionError') return error.message;
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${description(error.cause)}`;
}

const indented = (text: string, most: number): string[] => {
  const lines = text.split('\n');
  const shown = lines.slice(0, most).map((line) => `    ${line}`.trimEnd());
  return lines.length > most ? [...shown, `    ... (${lines.length - most} more lines; see --json)`] : shown;
};

import type { Command } from './command.js';
import type { ReportedCalls } from './operations.js';
import { table } from './table.js';
import { UsageError } from './usage-error.js';

export const listDeprecations: Command = {
  name: 'deprecations',
  summary:
    'Lists who calls deprecated operations, by day (UTC) and API key. A running service adds its counts every 5 s.',
  usage: 'deprecations [--since DAY] [--json]',
  example: 'animal-store deprecations --since 2026-11-01',
  options: { since: { type: 'string' }, json: { type: 'boolean' } },
  terms: [
    ['--since DAY', 'leaves out the days before it, like 2026-11-01 (in UTC)'],
    ['--json', 'prints JSON, for machines'],
  ],
  async run(operations, { out, note }, { values }) {
    const since = typeof values['since'] === 'string' ? readDay(values['since']) : undefined;
    const reported = await operations.deprecatedCalls({ since });
    if (values['json']) out(`${JSON.stringify(reported)}\n`);
    else if (reported.length > 0) out(table(HEAD, reported.map(row)));
    else note(`No key has called a deprecated operation${since === undefined ? '' : ` since ${since}`}.`);
    return 0;
  },
};

/** A day in the calendar, as it is kept: the text itself is what is compared. */
function readDay(text: string): string {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(text) : undefined;
  // 31 February is no date, but Date makes another day of it.
  const exists = day && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (exists) return text;
  throw new UsageError('--since must be a day (in UTC) like 2026-11-01');
}

const HEAD = ['DAY', 'OPERATION', 'KEY ID', 'KEY NAME', 'CALLS', 'LAST CALL'] as const;

const row = ({ day, operationId, keyId, keyName, calls, lastAt }: ReportedCalls): string[] => [
  day,
  operationId,
  keyId,
  keyName ?? '-',
  String(calls),
  lastAt.toISOString(),
];

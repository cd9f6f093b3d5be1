import { SCOPES, isScope, type Scope } from '../../application/ports/authenticator.js';
import type { Command } from './command.js';
import { readDuration } from './duration.js';
import type { Key } from './operations.js';
import { table } from './table.js';
import { UsageError } from './usage-error.js';

const json = { json: { type: 'boolean' } } as const;

const JSON_TERM = ['--json', 'prints JSON, for machines'] as const;

/** For commands on keys that are there: a mistyped STORE_URL must not make a store. */
const OF_A_STORE = { mustExist: true } as const;

export const issueKey: Command = {
  name: 'keys issue',
  summary: 'Makes an API key and prints it, alone on stdout: it is shown only this once.',
  usage: 'keys issue --name NAME [--scope SCOPE,...] [--expires DURATION] [--json]',
  example: 'animal-store keys issue --name shop-window --scope pets:read --expires 90d',
  options: { name: { type: 'string' }, scope: { type: 'string' }, expires: { type: 'string' }, ...json },
  terms: [
    ['--name NAME', 'what the key is listed as: 1 to 100 characters'],
    ['--scope SCOPE,...', `what it may do: ${SCOPES.join(', ')}; else all of it`],
    ['--expires DURATION', 'how long it is good, like 12h or 90d; else for ever'],
    JSON_TERM,
  ],
  run: (operations, { out, note }, { values }) => {
    const { name, scope, expires } = values;
    if (typeof name !== 'string') throw new UsageError('--name is missing');
    const scopes = typeof scope === 'string' ? readScopes(scope) : undefined;
    const lifetime = typeof expires === 'string' ? duration('--expires', expires) : undefined;
    return operations.withKeys(async (keys, clock) => {
      const expiresAt = lifetime === undefined ? undefined : new Date(clock.now().getTime() + lifetime);
      const { key, record } = await keys.issue({ name, scopes, expiresAt });
      out(values['json'] ? line({ key, ...record }) : `${key}\n`);
      const noun = record.scopes.length === 1 ? 'scope' : 'scopes';
      note(`Key ${record.id} (${name}) has the ${noun} ${record.scopes.join(', ')}; it ${end(record)}.`);
      return 0;
    });
  },
};

export const listKeys: Command = {
  name: 'keys list',
  summary: 'Lists the API keys of the store, oldest first.',
  usage: 'keys list [--json]',
  example: 'animal-store keys list',
  options: json,
  terms: [JSON_TERM],
  run: (operations, { out, note }, { values }) =>
    operations.withKeys(async (keys) => {
      const all = await keys.list();
      if (values['json']) out(line(all));
      else if (all.length === 0) note('The store has no API keys.');
      else out(table(HEAD, all.map(row)));
      return 0;
    }, OF_A_STORE),
};

export const revokeKey: Command = {
  name: 'keys revoke',
  summary: 'Ends an API key, within a second in every running service.',
  usage: 'keys revoke ID [--json]',
  example: 'animal-store keys revoke 4fZk02Qa',
  options: json,
  terms: [['ID', 'as keys list shows it'], JSON_TERM],
  positional: 'ID',
  run: (operations, { out, note }, { values, argument }) =>
    operations.withKeys(async (keys) => {
      const revoked = await keys.revoke(argument);
      if (values['json']) out(line(revoked));
      else note(`Key ${revoked.id} (${revoked.name}) is revoked since ${time(revoked.revokedAt)}.`);
      return 0;
    }, OF_A_STORE),
};

export const rotateKey: Command = {
  name: 'keys rotate',
  summary:
    'Puts a new API key in the place of an old one, which stays good for the overlap (24h; 0 ends it at once).',
  usage: 'keys rotate ID [--overlap DURATION] [--json]',
  example: 'animal-store keys rotate 4fZk02Qa --overlap 24h',
  options: { overlap: { type: 'string' }, ...json },
  terms: [
    ['ID', 'as keys list shows it'],
    ['--overlap DURATION', 'how long the old key stays good, like 30m or 24h; 0 ends it at once'],
    JSON_TERM,
  ],
  positional: 'ID',
  run: (operations, { out, note }, { values, argument }) => {
    const overlap = duration('--overlap', typeof values['overlap'] === 'string' ? values['overlap'] : '24h');
    return operations.withKeys(async (keys) => {
      const { key, record, old } = await keys.rotate(argument, { overlap });
      out(values['json'] ? line({ key, ...record, old }) : `${key}\n`);
      note(
        `Key ${record.id} replaces ${old?.id ?? argument}.`,
      );
      return 0;
    }, OF_A_STORE);
  },
};

function readScopes(text: string): readonly Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  if (scopes.every(isScope)) return scopes;
  throw new UsageError(`--scope takes ${SCOPES.join(' and ')}, separated by a comma`);
}

function duration(option: string, text: string): number {
  try {
    return readDuration(text);
  } catch (error) {
    throw new UsageError(`${option} ${error instanceof Error ? error.message : 'is not valid'}`, {
      cause: error,
    });
  }
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

const time = (instant: Date | undefined): string => instant?.toISOString() ?? '-';

const end = ({ expiresAt }: Key): string => (expiresAt ? `expires at ${time(expiresAt)}` : 'does not expire');

const HEAD = ['ID', 'NAME', 'SCOPES', 'STATE', 'CREATED', 'EXPIRES'] as const;

const row = ({ id, name, scopes, state, createdAt, expiresAt }: Key): string[] => [
  id,
  name,
  scopes.join(','),
  state,
  time(createdAt),
  time(expiresAt),
];

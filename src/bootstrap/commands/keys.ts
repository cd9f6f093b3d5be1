import type { Command } from 'commander';
import type { Container } from 'inversify';
import type { ManagedApiKey, ManagedApiKeys } from '../../application/manage-api-keys.js';
import { SCOPES, isScope, type Scope } from '../../application/ports/authenticator.js';
import type { Clock } from '../../application/ports/clock.js';
import type { OpenOptions, Store } from '../../application/ports/store.js';
import { createLogger } from '../service/logger.js';
import { duration, lifetime, list, refuse } from '../service/setting-values.js';
import { JSON_OPTION, addCommand, note, print, resultText, type Commands } from './command-line.js';
import { READING, STORE_SETTINGS, withStore } from './with-store.js';

interface Options {
  readonly name: string;
  readonly scope?: readonly Scope[];
  readonly expires?: number;
  readonly after?: number;
  readonly json?: true;
}

/** Adds `keys issue`, `keys list` and `keys revoke`. */
export function addKeyCommands(program: Command, commands: Commands): void {
  const { io } = commands;
  const example = 'animal-store keys issue --name shop-window --scope pets:read --expires 90d';
  const keys = addCommand(program, 'keys', 'Manages the API keys of the store.', example);

  addCommand(keys, 'issue', 'Issues an API key and prints it, alone on stdout and only this once.', example)
    .requiredOption('--name <name>', 'name of the key in lists: 1 to 100 characters')
    .option('--scope <scopes>', `what the key may do: ${SCOPES.join(',')} (default: all)`, scopes)
    .option('--expires <duration>', 'lifetime, such as 12h or 90d (default: unlimited)', lifetime)
    .option(...JSON_OPTION)
    .action(({ name, scope, expires, json }: Options) =>
      withKeys(commands, {}, async (managed, { clock, location, say }) => {
        const expiresAt = expires === undefined ? undefined : new Date(clock.now().getTime() + expires);
        const { key, record } = await managed.issue({ name, scopes: scope, expiresAt });
        try {
          await print(io.stdout, resultText(json, { key, ...record }, `${key}\n`));
        } catch (cause) {
          await managed.revoke(record.id);
          throw new Error(`Key ${record.id} was revoked, because nobody has seen it.`, { cause });
        }
        say('Issued', record, ` in ${location} with ${record.scopes.join(', ')}`);
      }),
    );

  addCommand(keys, 'list', 'Lists the API keys of the store, oldest first.', 'animal-store keys list')
    .option(...JSON_OPTION)
    .action(({ json }: Options) =>
      withKeys(commands, READING, async (managed) => {
        const all = await managed.list();
        const table = [Object.keys(COLUMNS), ...all.map(cellsOf)].map(lineOf).join('');
        await print(io.stdout, resultText(json, all, table));
      }),
    );

  const revoke = 'Revokes an API key. Every running service notices within a second.';
  addCommand(keys, 'revoke', revoke, 'animal-store keys revoke 4fZk02Qa --after 24h')
    .argument('<ID>', 'id of the key, as keys list shows it')
    .option('--after <duration>', 'how long the key stays valid, such as 24h (default: 0)', duration)
    .action((id: string, { after }: Options) =>
      withKeys(commands, { mustExist: true }, async (managed, { say }) => {
        say('Revoked', await managed.revoke(id, { after }));
      }),
    );
}

/** What the commands work with. */
interface Tools {
  readonly clock: Clock;
  /** The store, as the service shows it. */
  readonly location: string;
  /** Says on stderr what happened to a key. With LOG_FORMAT=json it is a line of the log, for audits. */
  readonly say: (what: 'Issued' | 'Revoked', key: ManagedApiKey, more?: string) => void;
}

/** Opens the keys of the store for `use`, and closes the store afterwards. */
async function withKeys(
  commands: Commands,
  how: OpenOptions,
  use: (managed: ManagedApiKeys, tools: Tools) => Promise<void>,
): Promise<void> {
  const inMemory = 'A store in memory belongs to its service: its keys cannot be reached. Use API_KEYS.';
  const work = async ({ location }: Store, container: Container): Promise<void> => {
    const { TOKENS } = await import('../service/container.js');
    const managed = await container.getAsync(TOKENS.managedApiKeys);
    if (managed === undefined) throw new Error('This store keeps no API keys. Use API_KEYS.');
    const settings = container.get(TOKENS.settings);
    const logger =
      settings.logFormat === 'json' ? await createLogger(settings, commands.io.stderr) : undefined;
    await use(managed, {
      clock: await container.getAsync(TOKENS.clock),
      location,
      say(what, key, more = '') {
        const { id: keyId, name, scopes, expiresAt, revokedAt } = key;
        const told = what === 'Revoked' && key.state === 'active' ? 'Will revoke' : what;
        const text = `${told} key ${keyId} (${name})${more}. End: ${endOf(key)}`;
        const line = { event: `api_key_${what.toLowerCase()}`, keyId, name, scopes, expiresAt, revokedAt };
        if (logger) logger.info(line, text);
        else note(commands.io, text);
      },
    });
  };
  const more = how.readOnly ? [] : ['KEY_ENVIRONMENT', 'LOG_LEVEL', 'LOG_FORMAT'];
  await withStore(commands, inMemory, how, work, [...STORE_SETTINGS, ...more]);
}

function scopes(text: string): readonly Scope[] {
  const read = list(text);
  if (read.length > 0 && read.every(isScope)) return read;
  return refuse(`must be one or more of ${SCOPES.join(', ')}`);
}

/** When a key expires or is revoked, whichever is first. */
const endOf = ({ expiresAt, revokedAt }: ManagedApiKey): string =>
  // As of 1970: revoked on every clock.
  revokedAt?.getTime() === 0
    ? 'at once'
    : ([expiresAt, revokedAt].flatMap((end) => end?.toISOString() ?? []).sort()[0] ?? 'never');

/** The headings of a list, and the widths of its columns. A key's name may be longer than any: it is last. */
const COLUMNS = { ID: 8, STATE: 7, CREATED: 24, ENDS: 24, SCOPES: 32, NAME: 0 };

const cellsOf = (key: ManagedApiKey): string[] => {
  const { id, state, createdAt, scopes, name } = key;
  return [id, state, createdAt.toISOString(), endOf(key), scopes.join(','), name];
};

/** A line of a list. U+FFFD replaces what a terminal would obey: control characters, also of text direction. */
const lineOf = (cells: readonly string[]): string => {
  const text = Object.values(COLUMNS).map((width, column) => cells[column]?.padEnd(width));
  return `${text.join('  ').replaceAll(CONTROLS, '\ufffd').toWellFormed()}\n`;
};

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

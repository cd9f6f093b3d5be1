import type { Command } from 'commander';
import type { Container } from 'inversify';
import { fstatSync } from 'node:fs';
import type { ManagedApiKey, ManagedApiKeys } from '../../application/manage-api-keys.js';
import { SCOPES, isScope, type Scope } from '../../application/ports/authenticator.js';
import type { Clock } from '../../application/ports/clock.js';
import type { OpenMode, Store } from '../../application/ports/store.js';
import { duration, listOf, refuse } from '../service/setting-values.js';
import {
  JSON_OPTION,
  UsageError,
  addCommand,
  note,
  print,
  printable,
  resultText,
  type Commands,
} from './command-line.js';
import { withStore } from './with-store.js';
import { TOKENS } from '../service/wiring.js';

interface Options {
  readonly name: string;
  readonly scope?: readonly Scope[];
  readonly expires?: number;
  readonly after?: number;
  readonly json?: true;
}

const MAX_DAYS = 36_500; // a hundred years
const SCOPES_RULE = `must be one or more of ${SCOPES.join(', ')}`;
function readScopes(text: string): readonly string[] {
  const given = listOf(SCOPES_RULE, isScope)(text);
  return given.length > 0 ? given : refuse(SCOPES_RULE);
}

export function addKeyCommands(program: Command, commands: Commands): void {
  const { io } = commands;
  const example = 'animal-store keys issue --name shop-window --scope pets:read --expires 90d';
  const keys = addCommand(program, 'keys', 'Manages the API keys of the store.', example);

  addCommand(
    keys,
    'issue',
    'Issues an API key and prints it, alone on stdout and only this once.',
    example,
  )
    .requiredOption('--name <name>', 'name of the key in lists: 1 to 100 characters')
    .option(
      '--scope <scopes>',
      `what the key may do: ${SCOPES.join(',')} (default: all)`,
      readScopes,
    )
    .option(
      '--expires <duration>',
      'lifetime, such as 12h or 90d (default: unlimited)',
      duration(1, MAX_DAYS),
    )
    .option(...JSON_OPTION)
    .action(({ name, scope, expires, json }: Options) =>
      withKeys(commands, 'create', async (managed, { location }, clock) => {
        const now = clock.now().getTime();
        const expiresAt = expires === undefined ? undefined : new Date(now + expires);
        const { key, record } = await managed.issue({ name, scopes: scope ?? SCOPES, expiresAt });
        const text = resultText(json, { key, ...record }, [key]);
        await printKey(io, text, record.id, managed);
        const scopes = record.scopes.join(', ');
        note(
          io,
          `Issued key ${record.id} (${name}) in ${location} with ${scopes}. End: ${endOf(record)}`,
        );
      }),
    );

  addCommand(
    keys,
    'list',
    'Lists the API keys of the store, oldest first.',
    'animal-store keys list',
  )
    .option(...JSON_OPTION)
    .action(({ json }: Options) =>
      withKeys(commands, 'read', async (managed) => {
        const all = await managed.list();
        await print(io.stdout, resultText(json, all, [HEADINGS, ...all.map(lineOf)]));
      }),
    );

  const revoke = 'Revokes an API key. Every running service notices within a second.';
  addCommand(keys, 'revoke', revoke, 'animal-store keys revoke 4fZk02Qa --after 24h')
    .argument('<ID>', 'id of the key, as keys list shows it')
    .option(
      '--after <duration>',
      'how long the key stays valid, such as 24h (default: 0)',
      duration(0, MAX_DAYS),
    )
    .action((id: string, { after }: Options) =>
      withKeys(commands, 'existing', async (managed) => {
        const key = await managed.revoke(id, { after });
        // The id is not repeated: it may be a key, given by mistake.
        if (key === undefined) throw new Error('No API key has this id.');
        note(io, `Revoked key ${key.id} (${key.name}). End: ${endOf(key)}`);
      }),
    );
}

/**
 * Prints a text with a new key.
 * @throws {Error} nobody can see it, so the key was revoked if the store could be reached
 */
export async function printKey(
  { stdout }: Commands['io'],
  text: string,
  id: string,
  managed: ManagedApiKeys,
) {
  let cause: unknown;
  try {
    const isRead = await print(stdout, text);
    if (isRead && !leadsNowhere(stdout)) return;
    cause = new Error('Nobody reads standard output.');
  } catch (error) {
    cause = error;
  }
  let outcome = 'was revoked, because nobody has seen it: issue one with keys issue';
  try {
    await managed.revoke(id);
  } catch {
    outcome = 'is valid, though nobody has seen it: revoke it with keys revoke';
  }
  throw new Error(`Key ${id} ${outcome}.`, { cause });
}

/** A process that starts with its standard output closed gets the null device, a character device like a terminal. */
function leadsNowhere({ fd, isTTY }: Commands['io']['stdout']): boolean {
  return fd === 1 && !isTTY && fstatSync(fd).isCharacterDevice();
}

async function withKeys(
  commands: Commands,
  mode: OpenMode,
  use: (managed: ManagedApiKeys, store: Store, clock: Clock) => Promise<void>,
): Promise<void> {
  const useKeys = async (store: Store, container: Container): Promise<void> => {
    const managed = await container.getAsync(TOKENS.managedApiKeys);
    if (managed === undefined) throw new UsageError('This store keeps no API keys. Use API_KEYS.');
    await use(managed, store, await container.getAsync(TOKENS.clock));
  };
  await withStore(commands, mode, useKeys);
}

/** When a key expires or is revoked, whichever is first. */
function endOf({ expiresAt, revokedAt }: ManagedApiKey): string {
  const times = [expiresAt, revokedAt].filter((time) => time !== undefined);
  const [first] = times.map((time) => time.toISOString()).sort();
  return first ?? 'never';
}

const SCOPES_WIDTH = SCOPES.join(',').length;

const HEADINGS = `ID        STATE    CREATED                   ENDS                      ${'SCOPES'.padEnd(SCOPES_WIDTH)}  NAME`;

/** A line of a list. */
function lineOf(key: ManagedApiKey): string {
  const { id, state, createdAt, scopes, name } = key;
  const times = `${createdAt.toISOString()}  ${endOf(key).padEnd(24)}`;
  const line = `${id.padEnd(8)}  ${state.padEnd(7)}  ${times}  ${scopes.join(',').padEnd(SCOPES_WIDTH)}  ${name}`;
  return printable(line);
}

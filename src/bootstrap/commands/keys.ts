import type { Command } from 'commander';
import { generateApiKey } from '../../adapters/api-keys/api-key.js';
import { ManagedApiKeys, type ManagedApiKey } from '../../application/manage-api-keys.js';
import { SCOPES, type Scope } from '../../application/ports/authenticator.js';
import type { Clock } from '../../application/ports/clock.js';
import type { OpenMode, Store } from '../../application/ports/store.js';
import { duration, list } from '../service/setting-readers.js';
import { TOKENS } from '../service/tokens.js';
import { UsageError, addCommand, note, print, type CommandContext } from './command-context.js';
import { withStore } from './with-store.js';

const MAX_DAYS = 36_500; // a hundred years

interface IssueOptions {
  readonly name: string;
  readonly scope?: string;
  readonly expires?: string;
}

export function addKeyCommands(program: Command, context: CommandContext): void {
  const { io, signal } = context;
  const issueExample = 'animal-store keys issue --name shop-window --scope pets:read --expires 90d';
  const keys = addCommand(program, 'keys', 'Manages the API keys of the store.', issueExample);

  const issueSummary = 'Issues an API key and prints it, alone on stdout and only this once.';
  addCommand(keys, 'issue', issueSummary, issueExample)
    .requiredOption('--name <name>', 'name of the key in lists: 1 to 100 characters')
    .option('--scope <scopes>', `what the key may do: ${SCOPES.join(',')} (default: all)`)
    .option('--expires <duration>', 'lifetime, such as 12h or 90d (default: unlimited)')
    .action((options: IssueOptions) => issueKey(context, options));

  addCommand(keys, 'list', 'Lists the API keys, oldest first.', 'animal-store keys list')
    .option('--json', 'print JSON, for machines')
    .action(({ json }: { readonly json?: true }) =>
      withKeys(context, 'read', async (managed) => {
        const all = await managed.list({ signal });
        await print(io, json ? `${JSON.stringify(all)}\n` : HEADINGS + all.map(lineOf).join(''));
      }),
    );

  const revokeSummary = 'Revokes an API key. Every running service notices within half a second.';
  addCommand(keys, 'revoke', revokeSummary, 'animal-store keys revoke 4fZk02Qa')
    .argument('<ID>', 'id of the key, as keys list shows it')
    .action((id: string) =>
      withKeys(context, 'existing', async (managed) => {
        const key = await managed.revoke(id, { signal });
        // The id is not repeated: it may be a key, given by mistake.
        if (key === undefined) throw new UsageError('No API key has this id: see keys list.');
        note(io, `Revoked key ${key.id} (${key.name}).`);
      }),
    );
}

async function issueKey(
  context: CommandContext,
  { name, scope, expires }: IssueOptions,
): Promise<void> {
  const { io, signal } = context;
  // If the name is missing, commander takes the next option as the name.
  if (name.startsWith('--')) throw new UsageError('--name needs a value.');
  const scopes = scope === undefined ? SCOPES : (list(scope) as readonly Scope[]);
  const lifetime = expires === undefined ? undefined : lifetimeIn(expires);
  await withKeys(context, 'create', async (managed, { location }, clock) => {
    const expiresAt =
      lifetime === undefined ? undefined : new Date(clock.now().getTime() + lifetime);
    const { key, details } = await managed.issue({ name, scopes, expiresAt }, { signal });
    await print(io, `${key}\n`);
    const what = `key ${details.id} (${details.name}) in ${location}`;
    note(io, `Issued ${what} with ${details.scopes.join(', ')}. End: ${endOf(details)}`);
  });
}

/** @throws {UsageError} naming the rule that the text breaks, but not the text: it may be a key */
function lifetimeIn(text: string): number {
  try {
    return duration(1, MAX_DAYS)(text);
  } catch (error) {
    throw new UsageError(`--expires ${(error as Error).message}.`);
  }
}

/** The managed keys of a store; `undefined` if the store cannot hold any. */
export const managedKeysOf = ({ apiKeys }: Store, clock: Clock): ManagedApiKeys | undefined =>
  apiKeys && new ManagedApiKeys({ apiKeys, generate: generateApiKey, clock });

const withKeys = (
  context: CommandContext,
  mode: OpenMode,
  use: (managed: ManagedApiKeys, store: Store, clock: Clock) => Promise<void>,
): Promise<void> =>
  withStore(context, { mode }, async (store, container) => {
    const clock = container.get(TOKENS.clock);
    const managed = managedKeysOf(store, clock);
    if (managed === undefined) throw new UsageError('This store keeps no API keys. Use API_KEYS.');
    await use(managed, store, clock);
  });

/** When a key was revoked, or else expires. */
const endOf = ({ expiresAt, revokedAt }: ManagedApiKey): string =>
  (revokedAt ?? expiresAt)?.toISOString() ?? 'never';

const HEADINGS = 'ID        STATE    CREATED                   ENDS                      NAME\n';

function lineOf(key: ManagedApiKey): string {
  const { id, state, createdAt, scopes, name } = key;
  const times = `${createdAt.toISOString()}  ${endOf(key).padEnd(24)}`;
  return `${id.padEnd(8)}  ${state.padEnd(7)}  ${times}  ${name} (${scopes.join(', ')})\n`;
}

import { CopyError } from '../../application/copy-catalogue.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { stringify } from '../../exact-json.js';
import type { Command } from './command.js';
import { CopyProgressDisplay, number } from './copy-progress.js';
import { InterruptedError } from './interrupted-error.js';
import type { CopiedStore } from './operations.js';
import { UsageError } from './usage-error.js';

const GO_ON = 'The target is incomplete: copy again into a new one.';

export const copyStore: Command = {
  name: 'copy',
  summary:
    'Copies a store into an empty one: animals with their ids, live claims, API keys. Stop what writes to them first.',
  usage: 'copy --from URL --to URL [--json]',
  example: 'animal-store copy --from sqlite:data/animal-store.db --to sqlite:data/copy.db',
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    json: { type: 'boolean' },
  },
  terms: [
    ['--from URL', 'the store to copy, written as in STORE_URL'],
    ['--to URL', 'the store to copy it to: empty'],
    ['--json', 'prints the figures as JSON, for machines'],
  ],
  async run(operations, terminal, { values }) {
    const { from, to, json } = values;
    if (typeof from !== 'string') throw new UsageError('--from is missing');
    if (typeof to !== 'string') throw new UsageError('--to is missing');
    const display = new CopyProgressDisplay(terminal, () => performance.now());
    try {
      const copied = await operations.copy({ from, to }, (progress) => display.tell(progress));
      display.end();
      terminal.out(json ? `${stringify({ ...copied })}\n` : sentences(copied));
      return 0;
    } catch (error) {
      display.end();
      if (error instanceof InterruptedError) {
        terminal.note(`${error.message} ${GO_ON}`);
        return error.exitCode;
      }
      if (error instanceof CopyError) {
        terminal.note(error.message);
        return 1;
      }
      if (isAnimalStoreError(error)) {
        const { cause } = error;
        terminal.note([error.message, cause instanceof Error ? cause.message : [], GO_ON].flat().join('\n'));
        return 1;
      }
      throw error;
    }
  },
};

const sentences = ({ from, to, pets, claims, apiKeys, lastId }: CopiedStore): string => {
  return [
    `${count(pets, 'animal')}, ${count(claims, 'live claim')} and ${count(apiKeys, 'API key')} copied`,
    `  from ${from}`,
    `  to   ${to}`,
    `New animals get ids greater than ${number(lastId)}.`,
    '',
  ].join('\n');
};

const count = (amount: number, what: string): string => `${number(amount)} ${what}${amount === 1 ? '' : 's'}`;

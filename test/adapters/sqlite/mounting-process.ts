// A process of its own that lives in its own mount namespace, where argv[3] is a small file system. Prints
// what it met as JSON.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';

const [scenario, folder = ''] = process.argv.slice(2);
const file = join(folder, 'animals.db');
const remount = (options: string): void => {
  const command = 'mount -o "remount,$1" "$2"';
  const { status, stderr } = spawnSync('sh', ['-c', command, 'sh', options, folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};
const pet = { name: 'x'.repeat(1000), categoryId: 7n, status: 'sold' } as const;

const open = (path: string): Promise<string> => openSqliteStore(path).then(() => 'opened', String);

async function fillUp(): Promise<object> {
  const { pets, close } = await openSqliteStore(file);
  const count = async (): Promise<number> => (await pets.list({ limit: 100_000 })).length;
  let acknowledged = 0;
  const refusal = await (async () => {
    for (;;) {
      await pets.add(pet);
      acknowledged += 1;
    }
  })().catch((error: unknown) => error);
  const keptWhileFull = await count();
  remount('size=8m');
  await pets.add(pet);
  const keptInTheEnd = await count();
  await close();
  const database = new DatabaseSync(file);
  const integrity = database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
  database.close();
  return {
    refusal: refusal instanceof Error && refusal.name,
    acknowledged,
    'kept while full': keptWhileFull,
    'kept in the end': keptInTheEnd,
    integrity,
  };
}

async function openReadOnly(): Promise<object> {
  const { pets, close } = await openSqliteStore(file);
  await pets.add(pet);
  await close();
  const before = await readFile(file);
  remount('ro');
  return {
    'existing store': await open(file),
    'new store': await open(join(folder, 'new.db')),
    unchanged: before.equals(await readFile(file)),
  };
}

console.log(JSON.stringify(scenario === 'full' ? await fillUp() : await openReadOnly()));

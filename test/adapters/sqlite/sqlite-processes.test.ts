import { expect } from 'chai';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { inFolder } from './temporary-store.js';

/** A process that adds animals to the file; `acknowledged` are the ids it printed until it ended. */
function startAdding(file: string, limit: number): { child: ChildProcess; acknowledged: Promise<bigint[]> } {
  const child = fork(fileURLToPath(new URL('./adding-process.js', import.meta.url)), [file, String(limit)], {
    silent: true,
  });
  if (child.stdout === null) throw new Error('its output is not piped');
  // The last line may have been cut off by the kill.
  const acknowledged = text(child.stdout).then((output) => output.split('\n').slice(0, -1).map(BigInt));
  return { child, acknowledged };
}

async function storedIds(file: string): Promise<bigint[]> {
  const store = await openSqliteStore(file);
  const pets = await store.pets.list({ limit: 1_000_000 });
  await store.close();
  return pets.map(({ id }) => id);
}

describe('an SQLite store and the processes that use it', () => {
  it(
    'lets two of them make it and add to it at once: every animal is there, no id is given twice',
    inFolder(async (folder) => {
      const file = join(folder, 'new', 'animals.db');
      const processes = [startAdding(file, 1000), startAdding(file, 1000)];
      const [one = [], other = []] = await Promise.all(processes.map(({ acknowledged }) => acknowledged));
      expect(one).to.have.length(1000);
      expect(other).to.have.length(1000);
      const ids = await storedIds(file);
      expect(new Set(ids).size).to.equal(2000);
      expect([...one, ...other].sort((a, b) => Number(a - b))).to.deep.equal(ids);
    }),
  );

  it(
    'keeps every animal it acknowledged, under one id, through ten kills in the middle of adding',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const acknowledged: bigint[] = [];
      for (let round = 0; round < 10; round += 1) {
        const adding = startAdding(file, Infinity);
        if (adding.child.stdout) await once(adding.child.stdout, 'readable');
        await delay(Math.random() * 100);
        adding.child.kill('SIGKILL');
        acknowledged.push(...(await adding.acknowledged));
      }
      const ids = new Set(await storedIds(file));
      expect(acknowledged.length).to.be.greaterThan(100);
      expect(new Set(acknowledged).size).to.equal(acknowledged.length);
      expect(acknowledged.filter((id) => !ids.has(id))).to.deep.equal([]);
      const database = new DatabaseSync(file);
      expect(database.prepare('PRAGMA integrity_check').get()).to.include({ integrity_check: 'ok' });
      database.close();
    }),
  );
});

// Measures a copy of so many animals from an SQLite file: time and peak memory of the command, which compares both
// stores in full at its end. Usage: npm run build && node tools/measure-copy.mjs [ANIMALS]; the copy goes to a new
// database on the server that MONGODB_TEST_URI names, which is dropped afterwards, or else to another SQLite file.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { openSqliteStore } from '../build/src/adapters/sqlite/index.js';

const BATCH = 1000;
const PROGRAM = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));
const TELL_MEMORY = `data:text/javascript,process.on('exit', () => {
  console.error('peak memory ' + Math.round(process.resourceUsage().maxRSS / 1024) + ' MiB');
});`;

async function fill(file, animals) {
  const { transfer, close } = await openSqliteStore(file);
  await transfer.reserveIds(BigInt(animals));
  for (let first = 1; first <= animals; first += BATCH) {
    const count = Math.min(BATCH, animals - first + 1);
    await transfer.writePets(
      Array.from({ length: count }, (_, index) => ({
        id: BigInt(first + index),
        name: `Bella ${first + index}`,
        categoryId: 2n ** 63n - 1n,
        status: ['available', 'pending', 'sold'][index % 3],
      })),
    );
  }
  await close();
}

async function measure(animals, uri) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-measure-'));
  const file = join(folder, 'animals.db');
  const url = uri && new URL(uri);
  if (url) url.pathname = `/animals-${randomUUID()}`;
  try {
    await fill(file, animals);
    const to = url ? url.href : `sqlite:${join(folder, 'copy.db')}`;
    const began = performance.now();
    const copy = spawn(
      process.execPath,
      ['--import', TELL_MEMORY, PROGRAM, 'copy', '--from', `sqlite:${file}`, '--to', to],
      { stdio: 'inherit' },
    );
    const [code] = await once(copy, 'exit');
    console.log(`exit code ${code} after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    if (url) {
      const client = new MongoClient(url.href);
      await client.db().dropDatabase();
      await client.close();
    }
  }
}

await measure(Number(process.argv[2] ?? 100_000), process.env.MONGODB_TEST_URI);

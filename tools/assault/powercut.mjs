// Records what the service does to the files of its store, and cuts the power at many points of the record: rebuilds
// the files as they may then be, opens them with the product, and compares them with what was acknowledged before.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../temporary-folder.mjs';
import { CUTS, Disk } from './support/disk.mjs';
import { Ledger, serve, write } from './support/sqlite-creates.mjs';
import { events, recording } from './support/strace-record.mjs';

const WRITERS = 8;

/**
 * Runs the service under strace and creates animals. It ends once in order, and then `crashes` times while a commit is
 * being synced; the writers retry what was not acknowledged. Returns the record, the number of animals that were created,
 * and the number of crashes that did not happen.
 */
async function recordOf(folder, { creates, crashes }) {
  const logs = [];
  let service;
  const start = async (isAfterCrash, ...inject) => {
    const log = join(folder, `log${logs.length}`);
    logs.push({ log, isAfterCrash });
    const wrapper = ['strace', ...recording(log), ...inject];
    service = await serve(join(folder, 'store', 'animals.db'), wrapper);
  };
  let number = 0;
  let last = creates;
  let missed = 0;
  const nextName = () => {
    if (number >= last) return undefined;
    number += 1;
    return `animal-${number}-`.padEnd(100 + ((number * 97) % 800), 'x');
  };
  const writeAll = (writers) => write(writers, nextName, () => service);

  await start(false);
  await writeAll(WRITERS);
  await service.stop();
  for (let crash = 0; crash < crashes; crash += 1) {
    // It dies in a sync of its log, when all of the commit is written.
    await start(false, '-e', `inject=fsync,fdatasync:signal=KILL:when=${10 + crash}`);
    last += 1000;
    // One writer: were others waiting, their commits after the restart would sync the log, too.
    const writing = writeAll(1);
    const isKilled = service.end().then(([, signal]) => signal === 'SIGKILL');
    if (!(await Promise.race([isKilled, writing.then(() => false)]))) missed += 1;
    await service.end('SIGKILL');
    last = number; // no new creates: only the writers' retries are still to come
    await start(true);
    await writing;
    await service.end(crash % 2 ? 'SIGKILL' : 'SIGTERM');
  }
  await delay(200); // strace may have a line to write
  const record = logs.flatMap(({ log, isAfterCrash }) => {
    const all = events(readFileSync(log, 'latin1'), folder);
    return all.map((event) => Object.assign(event, { isAfterCrash }));
  });
  return { record, created: number, missed };
}

/**
 * Some of the events of a record, and every acknowledgement after a crash: it may rest on what the dead process wrote and
 * did not sync.
 */
function chosenFrom(record, points, random) {
  const chosen = new Set();
  for (const [index, { acknowledged, isAfterCrash }] of record.entries())
    if (acknowledged && isAfterCrash) chosen.add(index);
  while (chosen.size < Math.min(points, record.length))
    chosen.add(Math.floor(random() * record.length));
  return chosen;
}

/** Cuts the power at `points` points, in each way. Returns how many of these disks lack or double something. */
async function cut(folder, record, points, random) {
  const store = join(folder, 'store');
  const image = join(folder, 'image');
  const chosen = chosenFrom(record, points, random);
  const disk = new Disk(random);
  const ledger = new Ledger();
  const found = { disks: 0, lost: 0, twice: 0, refused: 0 };
  for (const [index, event] of record.entries()) {
    const { acknowledged } = event;
    if (acknowledged) ledger.acknowledge(JSON.parse(acknowledged).name, acknowledged);
    else disk.apply(event);
    if (!chosen.has(index)) continue;
    for (const how of Object.keys(CUTS)) {
      disk.cutInto(image, store, how);
      found.disks += 1;
      const { lost, twice, error } = await ledger
        .compare(join(image, 'animals.db'))
        .catch((reason) => ({ lost: 0, twice: 0, error: reason }));
      // Until its first sync, the first page of a new store may be torn. Nothing was acknowledged then.
      const isRefused = error !== undefined && ledger.size > 0;
      if (lost > 0) found.lost += 1;
      if (twice > 0) found.twice += 1;
      if (isRefused) found.refused += 1;
      if (lost > 0 || twice > 0 || isRefused)
        console.log(`event ${index}, unsafe changes ${how}:`, { lost, twice, error });
    }
  }
  return { ...found, acknowledged: ledger.size };
}

export async function attack({ short, show, random }) {
  if (spawnSync('strace', ['-f', 'true']).status !== 0)
    return 'strace, and the right to trace processes';
  using folder = temporaryFolder();
  const amount = short ? { creates: 200, crashes: 2 } : { creates: 800, crashes: 6 };
  const { record, created, missed } = await recordOf(folder.path, amount);
  const found = await cut(folder.path, record, short ? 60 : 300, random);
  console.log(
    `${record.length} events, ${found.acknowledged} creates acknowledged, ${found.disks} disks`,
  );
  show('crashes that did not happen', missed);
  show('creates whose acknowledgement was not recorded', created - found.acknowledged);
  show('disks that lack what was acknowledged', found.lost);
  show('disks with an animal twice, or not claimed once', found.twice);
  show('disks that the service refuses', found.refused);
  return undefined;
}

// Records what the service does to the files of its store, and cuts the power at many points of the record: rebuilds
// the files as they may then be, opens them with the product, and compares them with what was acknowledged before.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CUTS, Disk, events, recording } from './power-record.mjs';
import { openSqliteStore } from '../../build/src/adapters/sqlite/index.js';
import { Ledger, inFolder, persist, serve } from './keyed-creates.mjs';

const WRITERS = 8;

/** Makes the store of the control sync less, as synchronous=NORMAL does. */
const LESS = `import { DatabaseSync } from 'node:sqlite';
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    return exec.call(this, sql.replace('synchronous = FULL', 'synchronous = NORMAL'));
  };`;

/** The flags of a service that may write in this folder only. */
const permissions = (folder) => [
  '--permission',
  ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
  '--allow-fs-read=*',
  `--allow-fs-write=${folder}`,
];

/**
 * Runs the service under strace and creates animals. It ends once in order, and then `crashes` times while a commit is
 * being synced; the writers retry what they do not know of. Returns the record.
 */
async function recordOf(folder, { creates, crashes, options }) {
  const file = join(folder, 'store', 'animals.db');
  let service;
  let logs = 0;
  const start = async (...inject) => {
    const log = join(folder, `log${logs}`);
    logs += 1;
    service = await serve(`sqlite:${file}`, {
      wrapper: ['strace', ...recording(log), ...inject],
      options,
    });
  };
  let number = 0;
  let last = creates;
  const write = async () => {
    while (number < last) {
      number += 1;
      await persist(
        `animal-${number}-`.padEnd(100 + ((number * 97) % 800), 'x'),
        () => service.url,
      );
    }
  };
  const writeAll = () => Promise.all(Array.from({ length: WRITERS }, write));

  await start();
  await writeAll();
  await service.stop();
  for (let crash = 0; crash < crashes; crash += 1) {
    // It dies in a sync of its log, when all of the commit is written.
    await start('-e', `inject=fsync,fdatasync:signal=KILL:when=${10 + crash}`);
    last += 1000;
    const writing = writeAll();
    await service.end();
    last = number; // from here on only retries: they must not depend on what comes after them
    await start();
    await writing;
    await service.end(crash % 2 ? 'SIGKILL' : 'SIGTERM');
  }
  await delay(200); // strace may have a line to write
  const logNames = Array.from({ length: logs }, (_, index) => join(folder, `log${index}`));
  return logNames.flatMap((name) => events(readFileSync(name, 'latin1'), folder));
}

/** Cuts the power at `points` points, in each way. Returns how many of these disks lack or double something. */
async function cut(folder, record, points, random) {
  const store = join(folder, 'store');
  const image = join(folder, 'image');
  // Half of the points are right after an acknowledgement, when the least time was left to sync.
  const everywhere = [...record.keys()];
  const acks = everywhere.filter((index) => record[index].acknowledged);
  const chosen = new Set();
  const choose = (from, count) => {
    while (chosen.size < count) chosen.add(from[Math.floor(random() * from.length)]);
  };
  choose(acks, Math.min(points / 2, acks.length));
  choose(everywhere, points);
  const disk = new Disk(random);
  const ledger = new Ledger();
  const found = { disks: 0, lost: 0, twice: 0, refused: 0, unborn: 0 };
  for (const [index, event] of record.entries()) {
    if (event.acknowledged)
      ledger.acknowledge(JSON.parse(event.acknowledged).name, event.acknowledged);
    else disk.apply(event);
    if (!chosen.has(index)) continue;
    for (const how of Object.keys(CUTS)) {
      disk.cutInto(image, store, how);
      found.disks += 1;
      const where = `event ${index} (${event.call}) of ${record.length}, unsafe changes ${how}`;
      try {
        const { lost, twice } = await ledger.compare(openSqliteStore(join(image, 'animals.db')));
        if (lost > 0 && found.lost < 3) console.log(`${where}: ${lost} of ${ledger.size} lost`);
        found.lost += Number(lost > 0);
        found.twice += Number(twice > 0);
      } catch (error) {
        // Until its first sync, the first page of a new store may be torn. Nothing was acknowledged then.
        const kind = ledger.size > 0 ? 'refused' : 'unborn';
        if (found[kind] < 3) console.log(`${where}: ${error.message}`);
        found[kind] += 1;
      }
    }
  }
  // The record is complete if it makes the files as they are.
  disk.cutInto(image, store, 'kept');
  const files = readdirSync(store).filter((name) => !name.endsWith('-shm'));
  const same = (name) =>
    existsSync(join(image, name)) &&
    readFileSync(join(image, name)).equals(readFileSync(join(store, name)));
  if (!files.every(same)) throw new Error('the record does not make the files that are there');
  return { ...found, acknowledged: ledger.size };
}

export async function attack({ short, show, random }) {
  if (spawnSync('strace', ['-f', 'true']).status !== 0) return 'strace, and leave to trace';
  const points = short ? 60 : 300;
  for (const model of ['', " under Node.js's permission model"])
    await inFolder(async (folder) => {
      // It lets no new folder be synced, so this one was made before.
      const made = { mkdir: join(folder, 'store'), fsync: folder };
      if (model !== '') mkdirSync(made.mkdir);
      const options = model === '' ? [] : permissions(folder);
      const record = await recordOf(folder, {
        creates: short ? 200 : 800,
        crashes: short ? 2 : 6,
        options,
      });
      if (model !== '')
        record.unshift(...Object.entries(made).map(([call, path]) => ({ call, path })));
      const { acknowledged, disks, lost, twice, refused, unborn } = await cut(
        folder,
        record,
        points,
        random('cuts'),
      );
      console.log(
        `${record.length} events, ${acknowledged} creates acknowledged, ${points} cuts, ${disks} disks after them`,
      );
      show(`disks that lack what was acknowledged${model}`, lost, 'equals', 0);
      show(`disks with an animal twice${model}`, twice, 'equals', 0);
      show(`disks that the service refuses${model}`, refused, 'equals', 0);
      show(`disks refused before anything was acknowledged${model}`, unborn, 'at most', 3);
    });
  await inFolder(async (folder) => {
    const options = ['--import', `data:text/javascript,${encodeURIComponent(LESS)}`];
    const record = await recordOf(folder, { creates: short ? 100 : 400, crashes: 0, options });
    const { disks, lost } = await cut(folder, record, points / 3, random('cuts of the control'));
    console.log(`the control syncs less: ${lost} of its ${disks} disks lack something`);
    show(
      'share of the disks of the control that lack something',
      Math.round((100 * lost) / disks),
      'at least',
      30,
      ' %',
    );
  });
}

// The model of a disk that a power cut can hit. It is stricter than most file systems: what was not synced may be lost,
// kept, reordered with other writes or torn between sectors; a name in a folder is not safe before the folder is synced.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const SECTOR = 512;

/** A disk, of which some is safe and the rest still in memory. What survives a cut is up to `random`. */
export class Disk {
  #random;
  #files = new Map(); // by path, as the process sees them
  #safeFiles = new Map();
  #unsafeNames = []; // changes of names

  constructor(random) {
    this.#random = random;
  }

  apply({ call, path, position, isNew, bytes }) {
    const file = this.#files.get(path);
    if (call === 'openat' && isNew && !file)
      this.#name(path, { safe: Buffer.alloc(0), writes: [] });
    else if (call === 'mkdir') this.#name(path, 'folder');
    else if (call === 'unlink') this.#name(path, undefined);
    else if (call === 'pwrite64') file?.writes.push({ position, bytes });
    else if (call === 'ftruncate') file?.writes.push({ size: position });
    else if (call.endsWith('sync') && file?.writes) {
      file.safe = written(file.safe, file.writes);
      file.writes = [];
    } else if (call.endsWith('sync')) {
      const isHere = (change) => dirname(change.path) === path;
      for (const change of this.#unsafeNames.filter(isHere))
        this.#safeFiles.set(change.path, change.file);
      this.#unsafeNames = this.#unsafeNames.filter((change) => !isHere(change));
    }
  }

  #name(path, file) {
    if (file) this.#files.set(path, file);
    else this.#files.delete(path);
    this.#unsafeNames.push({ path, file });
  }

  /** Writes what is left after a power cut into the folder `image`, for the store's folder `store`. */
  cutInto(image, store, how) {
    const { ofNames, ofWrites } = CUTS[how];
    const files = new Map(this.#safeFiles);
    for (const { path, file } of ofNames(this.#unsafeNames, this.#random)) files.set(path, file);
    rmSync(image, { recursive: true, force: true });
    mkdirSync(image);
    if (files.get(store) !== 'folder') return;
    for (const [path, file] of files) {
      if (!file?.writes) continue;
      const content = written(file.safe, ofWrites(file.writes, this.#random));
      writeFileSync(join(image, basename(path)), content);
    }
  }
}

const none = () => [];
const some = (all, random) => all.filter(() => random() < 0.5);
const first = (all, random) => all.slice(0, Math.floor(random() * (all.length + 1)));

/** Each write in sectors of its own. */
const sectors = (writes) =>
  writes.flatMap((write) => {
    if (!write.bytes) return [write];
    const pieces = [];
    for (let from = 0; from < write.bytes.length;) {
      const to = from + SECTOR - ((write.position + from) % SECTOR);
      pieces.push({ position: write.position + from, bytes: write.bytes.subarray(from, to) });
      from = to;
    }
    return pieces;
  });

/** What survives of the changes that were not safe. */
export const CUTS = {
  dropped: { ofNames: none, ofWrites: none },
  'cut off': { ofNames: first, ofWrites: first },
  reordered: { ofNames: some, ofWrites: some },
  torn: { ofNames: some, ofWrites: (writes, random) => some(sectors(writes), random) },
  kept: { ofNames: (all) => all, ofWrites: (all) => all },
};

const end = ({ position, bytes, size }) => size ?? position + bytes.length;

/** The content after the writes, which may be truncations to a size too. */
function written(content, writes) {
  let size = content.length;
  const next = Buffer.alloc(Math.max(size, ...writes.map(end)));
  content.copy(next);
  for (const write of writes) {
    if (write.bytes) write.bytes.copy(next, write.position);
    else next.fill(0, write.size);
    size = write.bytes ? Math.max(size, end(write)) : write.size;
  }
  return next.subarray(0, size);
}

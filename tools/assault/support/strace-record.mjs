// Reads what strace recorded of the service: what it did to files, and which creates it acknowledged.

const CALLS = 'openat,mkdir,unlink,write,writev,pwrite64,ftruncate,fsync,fdatasync';

/**
 * Arguments of strace for a record in the file `log`. -D: the process stays our child. Not --seccomp-bpf: with it
 * signals are not injected.
 */
export const recording = (log) => [
  ...`-D -f -qq -y -xx -s 200000 -e trace=${CALLS} -o`.split(' '),
  log,
];

/** A line: the thread, whether a call is resumed, and the rest. */
const LINE = /^(\d+) +(<\.\.\. \w+ resumed>)?(.*)$/;

/** A call: its name, its arguments, and the number that it returned, if it did. */
const CALL = /^(\w+)\((.*?)(?:\) += (-?\d+).*)?$/;

/** The texts among the arguments: what the first file descriptor stands for, and those in quotes. */
const TEXTS = /(?:^\d+<|")((?:\\x\w\w)*)[>"]/g;

const bytesOf = (hex) => Buffer.from(hex.replaceAll(String.raw`\x`, ''), 'hex');

/**
 * The calls of a record in the order in which they end. An unfinished call is also yielded when it begins. Lines are like:
 *     12 pwrite64(5</tmp/x/animals.db>, "data", 4, 4096) = 4
 *     12 fsync(5</tmp/x/animals.db> <unfinished ...>
 *     12 <... fsync resumed>) = 0
 */
function* callsIn(record) {
  const begun = new Map(); // the beginnings of unfinished calls, by thread
  for (const line of record.split('\n')) {
    const [, thread, resumed, rest] = LINE.exec(line) ?? [];
    if (thread === undefined) continue;
    const begins = resumed === undefined;
    const ends = !rest.endsWith('<unfinished ...>');
    const text = begins ? rest.replace(' <unfinished ...>', '') : begun.get(thread) + rest;
    if (!ends) begun.set(thread, text);
    yield { text, begins, ends };
  }
}

/**
 * Reads a record. Returns in order what was done to files below `folder`, and for each 201 that began to leave
 * `{ call: 'ack', acknowledged }` with its body.
 */
export function events(record, folder) {
  const found = [];
  for (const { text, begins, ends } of callsIn(record)) {
    const [, call, inside = '', result] = CALL.exec(text) ?? [];
    // The first text is a path; the others are data.
    const [first, ...others] = inside.matchAll(TEXTS).map(([, hex]) => bytesOf(hex));
    const path = String(first ?? '');
    const data = Buffer.concat(others);
    if (/^writev?$/.test(call) && !path.startsWith('/')) {
      // Counted from its beginning on: nobody knows when the client reads it.
      const [head, body] = String(data).split('\r\n\r\n');
      if (begins && head.startsWith('HTTP/1.1 201'))
        found.push({ call: 'ack', acknowledged: body });
      continue;
    }
    // Also skipped without a result: the process died in the call.
    if (!ends || !(Number(result) >= 0)) continue;
    if (!path.startsWith(folder) || path.endsWith('-shm')) continue;
    // The last number: of pwrite64 where the write begins, of ftruncate where the file then ends.
    const position = Number(/, (\d+)$/.exec(inside)?.[1]);
    const isNew = inside.includes('O_CREAT');
    found.push({ call, path, position, isNew, bytes: data.subarray(0, Number(result)) });
  }
  return found;
}

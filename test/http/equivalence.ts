import { createHash } from 'node:crypto';
import { transcriptText, type Exchange, type Replay } from './transcript.js';

/** A transport on a store, and how many answers of the transcript it gave to the byte. */
export interface Result extends Replay {
  readonly transport: string;
  readonly store: string;
}

/** What tells one recording from another. */
export const recordingOf = (transcript: readonly Exchange[]): string =>
  `${transcript.length} requests, SHA-256 ${createHash('sha256').update(transcriptText(transcript)).digest('hex').slice(0, 16)}`;

/** The table of the transports and the stores, in Markdown. */
export function equivalenceDocument(transcript: readonly Exchange[], results: readonly Result[]): string {
  const statuses = Map.groupBy(transcript, ({ answer }) => answer.status);
  const counts = [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, { length }]) => `${length} x ${status}`);
  const rows = [
    ['transport', 'store', 'requests', 'equal'],
    ...results.map(({ transport, store, requests, equal }) => [
      transport,
      store,
      String(requests),
      String(equal),
    ]),
  ];
  const whole = results.filter(({ requests, equal }) => requests === equal).length;
  return `# One interface, whatever carries it and wherever the animals are

Made by \`npm run equivalence\`, which replays \`test/http/transcript.jsonl\` against every transport on every store.

That transcript (${recordingOf(transcript)}) was recorded by \`npm run equivalence -- --record\`: a client drawn with a fixed seed adds animals, follows links, gets what it was told of, repeats creates under their keys, asks again with entity tags, and makes every mistake there is. The answers: ${counts.join(', ')}.

An answer is equal if its status, its headers and its body are those of the recording, to the byte. Ids, cursors and entity tags are numbered by their first appearance, in later requests too; the client chooses every \`X-Request-Id\`. Left out are Date and what only a socket has: Connection, Keep-Alive, Transfer-Encoding. Names of headers have no case and no order.

${table(rows)}

${whole} of ${results.length} are equal throughout.
`;
}

/** Names to the left, numbers to the right, in columns as wide as they need to be. */
function table(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const isNumber = (column: number): boolean => rows.slice(1).every((row) => /^\d+$/.test(row[column] ?? ''));
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return isNumber(column) ? cell.padStart(width) : cell.padEnd(width);
    });
    return `| ${cells.join(' | ')} |`;
  });
  const rule = widths.map((width, column) =>
    isNumber(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [lines[0], `| ${rule.join(' | ')} |`, ...lines.slice(1)].join('\n');
}

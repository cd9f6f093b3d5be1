/** Commands, options, settings and values that were removed, with what takes their place. */
export const REMOVED: ReadonlyMap<string, string> = new Map([
  ['WORKERS', 'run several services with REUSE_PORT=on'],
  ['changeStatus', 'use changePet'],
  ['backup --keep', 'name a new FILE each time, for example with the date in its name'],
  ['import --delimiter', 'the first line of the file shows it'],
  ['import --max-errors', 'a file with an invalid line stores nothing'],
  ['import --status', 'add a column status to the file'],
  [
    'check-store',
    'run the contract suites of animal-store/contract, as docs/write-an-adapter.md shows',
  ],
  ['keys rotate', 'use keys issue, then keys revoke ID --after 24h'],
]);

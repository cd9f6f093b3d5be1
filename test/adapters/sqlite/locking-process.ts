// A process of its own that is in the middle of writing to the store in argv[2] for argv[3] milliseconds.
import { DatabaseSync } from 'node:sqlite';

const [file = '', milliseconds = '0'] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('BEGIN IMMEDIATE');
process.send?.('locked');
setTimeout(() => {
  database.exec('COMMIT');
  database.close();
  process.disconnect();
}, Number(milliseconds));

// A process of its own that opens the store in argv[2] with an upgrade that never ends.
import { openSqliteConnection } from '../../../src/adapters/sqlite/open-sqlite-connection.js';
import { MIGRATIONS } from '../../../src/adapters/sqlite/schema.js';

const ENDLESS = `
  CREATE TABLE numbers (number INTEGER);
  PRAGMA cache_spill = 10;
  WITH RECURSIVE counter(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counter)
  INSERT INTO numbers SELECT number FROM counter;
`;

process.send?.('opening');
await openSqliteConnection(process.argv[2] ?? '', { migrations: [...MIGRATIONS, ENDLESS] });

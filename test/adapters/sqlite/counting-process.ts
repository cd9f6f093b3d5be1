// A process of its own that counts calls in the store in argv[2]: argv[3] batches, one after the other.
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';

const [file = '', batches = '0'] = process.argv.slice(2);
const store = await openSqliteStore(file);
for (let left = Number(batches); left > 0; left -= 1) {
  const counted = { day: '2026-11-20', operationId: 'getPet', calls: 1, lastAt: new Date(left) };
  const counts = [
    { ...counted, keyId: 'of both' },
    { ...counted, keyId: `of ${process.pid}` },
  ];
  await store.deprecatedCalls.record({ id: crypto.randomUUID(), counts });
}
await store.close();

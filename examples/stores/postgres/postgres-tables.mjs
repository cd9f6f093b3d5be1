// One row holds the last id. An add locks that row until its commit, so ids ascend in the order in which animals
// become visible. (With a sequence, commits overtake one another.)
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS last_id (id bigint NOT NULL);
  INSERT INTO last_id SELECT 0 WHERE NOT EXISTS (SELECT FROM last_id);
  CREATE TABLE IF NOT EXISTS pets (
    id bigint PRIMARY KEY, name text NOT NULL, category_id bigint NOT NULL, status text NOT NULL);
  CREATE INDEX IF NOT EXISTS pets_by_status ON pets (status, id);
  CREATE TABLE IF NOT EXISTS claims (
    key text PRIMARY KEY, fingerprint text NOT NULL, pet_id bigint NOT NULL, keep_until bigint NOT NULL);
  CREATE INDEX IF NOT EXISTS claims_by_end ON claims (keep_until)`;

// Two processes at once would both find no tables, and one would fail.
const ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('animal-store'))";

// The last part of the schema. If it exists, the schema is not run: CREATE INDEX IF NOT EXISTS locks tables in another
// order than an add does, and the two would deadlock.
const IS_THERE = "SELECT to_regclass('claims_by_end') IS NOT NULL AS there";

/** Creates the tables that are missing. */
export const makeTables = (client) =>
  inTransaction(client, async () => {
    await client.query(ONE_AT_A_TIME);
    const { rows } = await client.query(IS_THERE);
    if (!rows[0].there) await client.query(SCHEMA);
  });

/** Commits what `work` does on the client. Rolls it back if `work` rejects. */
export async function inTransaction(client, work) {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {}); // the first error matters more
    throw error;
  }
}

import { hash } from 'node:crypto';
import {
  CLOCK_TOLERANCE,
  IdempotencyKeyReusedError,
  StatusConflictError,
  UnavailableError,
  isAnimalStoreError,
  petWithId,
} from 'animal-store';
import pg from 'pg';
import { inTransaction, makeTables } from './postgres-tables.mjs';

const ADD = `
  WITH next AS (UPDATE last_id SET id = id + 1 RETURNING id)
  INSERT INTO pets SELECT id, $1, $2, $3 FROM next RETURNING *`;

const CLAIMED = 'SELECT pet_id, fingerprint FROM claims WHERE key = $1 AND keep_until > $2';

/** Replaces an expired claim. */
const CLAIM = `
  INSERT INTO claims VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO UPDATE
  SET (fingerprint, pet_id, keep_until) = (excluded.fingerprint, excluded.pet_id, excluded.keep_until)`;

/** For texts of callers, which may be long. */
const digest = (...texts) => hash('sha256', JSON.stringify(texts));

const petOf = ({ id, name, category_id, status }) =>
  petWithId(BigInt(id), { name, categoryId: BigInt(category_id), status });

/** Settles as `work` does, or rejects with the signal's reason as soon as the signal is aborted. */
function unlessAborted(signal, work) {
  if (!signal) return work;
  const { promise, reject } = Promise.withResolvers();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}

/** Animals in a PostgreSQL database, and their changes. */
export class PostgresPetRepository {
  #pool;
  #mayCreate;
  #isReading;
  #ready;
  #closing;

  /** Opens nothing yet: a database that is unreachable now may be reachable by the first call. */
  constructor(connectionString, { mode = 'create' } = {}) {
    this.#mayCreate = mode === 'create';
    this.#isReading = mode === 'read';
    this.#pool = new pg.Pool({
      connectionString,
      connectionTimeoutMillis: 3000,
      query_timeout: 30_000, // else queries that hang could hold all connections of the pool
    });
    this.#pool.on('error', () => {}); // an idle connection failed: the pool replaces it
    // A connection that fails in use rejects its queries, and emits `error`: without a listener the process would end.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  async add(animal, { signal } = {}) {
    return this.#write('adding an animal', signal, (client) => this.#insert(client, animal));
  }

  async addOnce(animal, claim, now, { signal } = {}) {
    return this.#write('adding an animal', signal, (client) =>
      this.#addOnce(client, animal, claim, now),
    );
  }

  async #insert(client, { name, categoryId, status }) {
    const { rows } = await client.query(ADD, [name, categoryId, status]);
    return petOf(rows[0]);
  }

  #addOnce(client, animal, claim, now) {
    const key = digest(claim.scope, claim.key);
    const fingerprint = digest(claim.fingerprint);
    return inTransaction(client, async () => {
      // Locks out other adds, so the second of two equal claims finds the first.
      await client.query('SELECT FROM last_id FOR UPDATE');
      await client.query('DELETE FROM claims WHERE keep_until <= $1', [now - CLOCK_TOLERANCE]);
      const { rows } = await client.query(CLAIMED, [key, now]);
      if (rows.length > 0) {
        if (rows[0].fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
        // The row of the animal may have been changed or removed since.
        return { pet: petWithId(BigInt(rows[0].pet_id), animal), replayed: true };
      }
      const pet = await this.#insert(client, animal);
      await client.query(CLAIM, [key, fingerprint, pet.id, claim.keepUntil]);
      return { pet, replayed: false };
    });
  }

  async findById(id, { signal } = {}) {
    const find = (client) => client.query('SELECT * FROM pets WHERE id = $1', [id]);
    const { rows } = await this.#run('reading an animal', signal, find);
    return rows.map(petOf)[0];
  }

  async list({ after = 0n, limit, status }, { signal } = {}) {
    const [filter, values] = status
      ? ['AND status = $3', [after, limit, status]]
      : ['', [after, limit]];
    const query = `SELECT * FROM pets WHERE id > $1 ${filter} ORDER BY id LIMIT $2`;
    const { rows } = await this.#run('listing animals', signal, (client) =>
      client.query(query, values),
    );
    return rows.map(petOf);
  }

  change(id, fields, from, { signal } = {}) {
    const change = { doing: 'changing an animal', id, from, signal };
    return this.#onLockedRow(change, async (client, pet) => {
      const changed = petWithId(id, { ...pet, ...fields });
      const { name, categoryId, status } = changed;
      await client.query('UPDATE pets SET name = $2, category_id = $3, status = $4 WHERE id = $1', [
        id,
        name,
        categoryId,
        status,
      ]);
      return changed;
    });
  }

  async remove(id, from, { signal } = {}) {
    const removal = { doing: 'removing an animal', id, from, signal };
    const removed = await this.#onLockedRow(removal, (client) =>
      client.query('DELETE FROM pets WHERE id = $1', [id]),
    );
    return removed !== undefined;
  }

  /** Locks the row, so that no other change comes between reading and writing it. */
  #onLockedRow({ doing, id, from, signal }, work) {
    return this.#write(doing, signal, (client) =>
      inTransaction(client, async () => {
        const { rows } = await client.query('SELECT * FROM pets WHERE id = $1 FOR UPDATE', [id]);
        if (rows.length === 0) return undefined;
        const pet = petOf(rows[0]);
        if (from !== undefined && pet.status !== from) throw new StatusConflictError(pet.status);
        return work(client, pet);
      }),
    );
  }

  async check({ signal } = {}) {
    await this.#run('checking the store', signal, (client) => client.query('SELECT FROM last_id'));
  }

  close() {
    this.#closing ??= this.#pool.end();
    return this.#closing;
  }

  async #write(doing, signal, work) {
    signal?.throwIfAborted();
    if (this.#isReading) throw new UnavailableError(`${doing}: the store is only read`);
    return this.#run(doing, signal, work);
  }

  /** Runs `work` on a connection. Rejects only with errors of the animal store and the signal's reason. */
  async #run(doing, signal, work) {
    signal?.throwIfAborted();
    if (this.#closing) throw new UnavailableError(`${doing} after close`);
    try {
      return await unlessAborted(signal, this.#onConnection(signal, work));
    } catch (cause) {
      if (isAnimalStoreError(cause) || cause === signal?.reason) throw cause;
      throw new UnavailableError(doing, { cause });
    }
  }

  async #onConnection(signal, work) {
    const client = await this.#pool.connect();
    let failure;
    try {
      signal?.throwIfAborted(); // perhaps aborted while it waited for the connection
      if (this.#mayCreate)
        this.#ready ??= makeTables(client).catch((error) => {
          this.#ready = undefined; // the next call tries again
          throw error;
        });
      await this.#ready;
      return await work(client);
    } catch (error) {
      if (!isAnimalStoreError(error) && error !== signal?.reason) failure = error;
      throw error;
    } finally {
      client.release(failure); // after a failure the pool closes the connection
    }
  }
}

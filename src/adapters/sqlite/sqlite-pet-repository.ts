import type { Call } from '../../application/animal-store.js';
import type {
  AddedPet,
  AddOptions,
  Claim,
  PetRange,
  PetRepository,
} from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../domain/errors.js';
import { INT64_MAX, isInt64 } from '../../domain/int64.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet.js';
import { writeText } from './exact-text.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { SqliteSession } from './sqlite-session.js';

/** How long a lapsed claim is left, for calls whose clock is behind: an hour, in milliseconds. */
const SWEEP_DELAY = 60n * 60n * 1000n;

/** The statements, apart from the class so that a test can show their query plans. */
export const PET_SQL = {
  insert: 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)',
  find: 'SELECT id, name, category_id, status FROM pets WHERE id = ?',
  // "LIMIT +?": for a bare one SQLite prepares the statement again at each call, to plan by the value.
  list: 'SELECT id, name, category_id, status FROM pets WHERE id > ? ORDER BY id LIMIT +?',
  listByStatus:
    'SELECT id, name, category_id, status FROM pets WHERE id > ? AND status = ? ORDER BY id LIMIT +?',
  findClaimed: `SELECT pets.id, name, category_id, status, fingerprint
    FROM claims JOIN pets ON pets.id = pet_id WHERE scope = ? AND token = ? AND keep_until > ?`,
  keepClaim: `INSERT INTO claims (scope, token, fingerprint, pet_id, keep_until) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (scope, token) DO UPDATE SET
    fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, keep_until = excluded.keep_until`,
  // Two for each that is kept: the lapsed ones grow fewer, at a cost that stays the same.
  sweepClaims: `DELETE FROM claims WHERE (scope, token) IN
    (SELECT scope, token FROM claims WHERE keep_until <= ? ORDER BY keep_until LIMIT 2)`,
} as const;

export type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus];
type ClaimedPetRow = readonly [...PetRow, fingerprint: string];

/** Animals in an SQLite file: what was answered is on the disk, and several processes may share it. */
export class SqlitePetRepository implements PetRepository {
  readonly capabilities = Object.freeze({ durable: true, shared: true, ordered: true });
  readonly #session: SqliteSession;
  readonly #connection: SqliteConnection;
  readonly #insert;
  readonly #find;
  readonly #list;
  readonly #listByStatus;
  readonly #findClaimed;
  readonly #keepClaim;
  readonly #sweepClaims;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#insert = connection.prepare(PET_SQL.insert);
    this.#find = connection.prepare<PetRow>(PET_SQL.find);
    this.#list = connection.prepare<PetRow>(PET_SQL.list);
    this.#listByStatus = connection.prepare<PetRow>(PET_SQL.listByStatus);
    this.#findClaimed = connection.prepare<ClaimedPetRow>(PET_SQL.findClaimed);
    this.#keepClaim = connection.prepare(PET_SQL.keepClaim);
    this.#sweepClaims = connection.prepare(PET_SQL.sweepClaims);
    this.#session = new SqliteSession(connection);
  }

  async add(pet: UnsavedPet, { claim, now = new Date(), signal }: AddOptions = {}): Promise<AddedPet> {
    // Taken now: what the caller does to its objects while the call is queued changes nothing.
    const taken = { ...pet };
    const once = claim && takeClaim(claim, now);
    const outcome = await this.#session.write('adding an animal', { signal }, () =>
      once === undefined ? { pet: this.#keep(taken), replayed: false } : this.#keepOnce(taken, once),
    );
    if (outcome instanceof IdempotencyKeyReusedError) throw outcome;
    return outcome;
  }

  findById(id: bigint, call: Call = {}): Promise<Pet | undefined> {
    return this.#session.read('reading an animal', call, () => {
      const row = isInt64(id) ? this.#find.get(id) : undefined;
      return row && toPet(row);
    });
  }

  list({ after = 0n, limit, status }: PetRange, call: Call = {}): Promise<readonly Pet[]> {
    return this.#session.read('listing animals', call, () => {
      if (after >= INT64_MAX) return [];
      const start = after < 0n ? 0n : after;
      const most = Math.min(limit, Number.MAX_SAFE_INTEGER); // SQLite knows no Infinity
      const rows =
        status === undefined ? this.#list.all(start, most) : this.#listByStatus.all(start, status, most);
      return rows.map(toPet);
    });
  }

  check(call: Call = {}): Promise<void> {
    return this.#session.read('checking the store', call, () => {
      this.#connection.assertInPlace();
      this.#list.get(0n, 1);
    });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #keep({ name, categoryId, status }: UnsavedPet): Pet {
    const { lastInsertRowid } = this.#insert.run(name, categoryId, status);
    return savedPet(lastInsertRowid, { name, categoryId, status });
  }

  /** A refusal is returned, not thrown: it is an answer like any other, and undoes nothing. */
  #keepOnce(pet: UnsavedPet, claim: TakenClaim): AddedPet | IdempotencyKeyReusedError {
    const { scope, token, fingerprint, now, keepUntil } = claim;
    const earlier = this.#findClaimed.get(scope, token, now);
    if (earlier !== undefined) {
      return earlier[4] === fingerprint
        ? { pet: toPet(earlier), replayed: true }
        : new IdempotencyKeyReusedError();
    }
    const added = this.#keep(pet);
    this.#keepClaim.run(scope, token, fingerprint, added.id, keepUntil);
    this.#sweepClaims.run(now - SWEEP_DELAY);
    return { pet: added, replayed: false };
  }
}

type TakenClaim = ReturnType<typeof takeClaim>;

const takeClaim = ({ scope, key, fingerprint, keepUntil }: Claim, now: Date) => ({
  scope: writeText(scope),
  token: writeText(key),
  fingerprint: writeText(fingerprint),
  now: BigInt(now.getTime()),
  keepUntil: BigInt(keepUntil.getTime()),
});

export const toPet = ([id, name, categoryId, status]: PetRow | ClaimedPetRow): Pet =>
  savedPet(id, { name, categoryId, status });

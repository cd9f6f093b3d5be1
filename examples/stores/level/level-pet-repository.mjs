import {
  IdempotencyKeyReusedError,
  UnavailableError,
  isAnimalStoreError,
  parseJson,
  petWithId,
  stringifyJson,
} from 'animal-store';
import { ClassicLevel } from 'classic-level';

/** LevelDB sorts keys by their bytes, so all numbers have 19 digits. */
const ordered = (number) => String(number).padStart(19, '0');

/** As JSON, two different pairs never give the same text. */
const claimId = ({ scope, key }) => JSON.stringify([scope, key]);

const petOf = (text) => {
  const { id, name, categoryId, status } = parseJson(text);
  return petWithId(id, { name, categoryId, status });
};

/** Syncs a write before it is acknowledged. */
const SAFE = { sync: true };

/** Animals in a LevelDB folder, which one process at a time can open. */
export class LevelPetRepository {
  #db;
  #pets;
  #byStatus;
  #claims;
  #expiries;
  #isReading;
  #lastId = 0n;
  #lastWrite = Promise.resolve();
  #closing;

  /** @throws {Error} of LevelDB: the folder cannot be used */
  static async open(folder, { mode = 'create' } = {}) {
    const repository = new LevelPetRepository();
    const db = new ClassicLevel(folder, { createIfMissing: mode === 'create' });
    await db.open();
    repository.#db = db;
    repository.#isReading = mode === 'read';
    repository.#pets = db.sublevel('pets');
    repository.#byStatus = db.sublevel('by-status');
    repository.#claims = db.sublevel('claims', { valueEncoding: 'json' });
    repository.#expiries = db.sublevel('expiries');
    const [last = '0'] = await repository.#pets.keys({ reverse: true, limit: 1 }).all();
    repository.#lastId = BigInt(last);
    return repository;
  }

  async add(animal, call) {
    return this.#write('adding an animal', call, async () => {
      const pet = this.#nextPet(animal);
      await this.#db.batch(this.#petWrites(pet), SAFE);
      return pet;
    });
  }

  async addOnce(animal, claim, now, call) {
    return this.#write('adding an animal', call, async () => {
      const earlier = await this.#findClaim(claim, now);
      if (earlier) return { pet: petWithId(BigInt(earlier.petId), animal), replayed: true };
      const pet = this.#nextPet(animal);
      const claimWrites = await this.#claimWrites(claim, now, pet.id);
      await this.#db.batch([...this.#petWrites(pet), ...claimWrites], SAFE);
      return { pet, replayed: false };
    });
  }

  async findById(id, { signal } = {}) {
    return this.#run('reading an animal', signal, async () => {
      const text = id > 0n ? await this.#pets.get(ordered(id)) : undefined;
      return text === undefined ? undefined : petOf(text);
    });
  }

  async list({ after = 0n, limit, status }, { signal } = {}) {
    return this.#run('listing animals', signal, async () => {
      const first = ordered(after > 0n ? after : 0n);
      const texts = status
        ? this.#byStatus.values({ gt: `${status} ${first}`, lt: `${status}!`, limit }) // "!" follows " "
        : this.#pets.values({ gt: first, limit });
      return (await texts.all()).map(petOf);
    });
  }

  async check({ signal } = {}) {
    await this.#run('checking the store', signal, () => this.#pets.get(ordered(1)));
  }

  close() {
    this.#closing ??= this.#lastWrite.then(() => this.#db.close());
    return this.#closing;
  }

  /** The animal under the next id. Even if its write fails, the id may be on the disk: it is not used again. */
  #nextPet(animal) {
    this.#lastId += 1n;
    return petWithId(this.#lastId, animal);
  }

  async #findClaim(claim, now) {
    const earlier = await this.#claims.get(claimId(claim));
    if (earlier === undefined || earlier.keepUntil <= now) return undefined;
    if (earlier.fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
    return earlier;
  }

  #petWrites(pet) {
    const [key, value] = [ordered(pet.id), stringifyJson(pet)];
    return [
      { type: 'put', sublevel: this.#pets, key, value },
      { type: 'put', sublevel: this.#byStatus, key: `${pet.status} ${key}`, value },
    ];
  }

  /** Writes the claim and an entry to find it by once it has expired, and removes expired claims. */
  async #claimWrites(claim, now, petId) {
    const { fingerprint, keepUntil } = claim;
    const key = claimId(claim);
    const expired = await this.#expiries.iterator({ lt: ordered(now + 1) }).all();
    return [
      ...expired.flatMap(([expiry, expiredKey]) => [
        { type: 'del', sublevel: this.#expiries, key: expiry },
        { type: 'del', sublevel: this.#claims, key: expiredKey },
      ]),
      { type: 'put', sublevel: this.#expiries, key: ordered(keepUntil) + key, value: key },
      {
        type: 'put',
        sublevel: this.#claims,
        key,
        value: { fingerprint, keepUntil, petId: String(petId) },
      },
    ];
  }

  /**
   * Runs one write at a time: ids ascend in the order in which animals become visible, and the second of two equal
   * claims finds the first.
   */
  #write(doing, { signal } = {}, work) {
    return this.#run(doing, signal, () => {
      if (this.#isReading) throw new Error('the store is only read');
      const turn = this.#lastWrite.then(() => {
        signal?.throwIfAborted();
        return work();
      });
      this.#lastWrite = turn.catch(() => {});
      return turn;
    });
  }

  /** Rejects only with errors of the animal store and the reason of the signal. */
  async #run(doing, signal, work) {
    signal?.throwIfAborted();
    if (this.#closing) throw new UnavailableError(`${doing} after close`);
    try {
      return await work();
    } catch (cause) {
      if (isAnimalStoreError(cause) || cause === signal?.reason) throw cause;
      throw new UnavailableError(doing, { cause });
    }
  }
}

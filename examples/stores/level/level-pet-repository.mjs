import {
  IdempotencyKeyReusedError,
  UnavailableError,
  isAnimalStoreError,
  parse,
  savedPet,
  stringify,
} from 'animal-store';
import { ClassicLevel } from 'classic-level';

/** Keys ascend as bytes do, so numbers are written with as many digits as the greatest has. */
const ordered = (number) => String(number).padStart(19, '0');

/** Nothing in it can be mistaken for what separates two texts; U+0000 and lone surrogates are escaped. */
const claimKey = ({ scope, key }) => JSON.stringify([scope, key]);

const petOf = (text) => {
  const { id, name, categoryId, status } = parse(text);
  return savedPet(id, { name, categoryId, status });
};

/** Every acknowledged write is on the disk. LevelDB lets one process at a time open the folder. */
const SAFE = { sync: true };

/** Animals in a folder, by LevelDB. */
export class LevelPetRepository {
  #db;
  #pets;
  #byStatus;
  #claims;
  #lapses;
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
    repository.#isReading = mode === 'read' || mode === 'snapshot';
    repository.#pets = db.sublevel('pets');
    repository.#byStatus = db.sublevel('by-status');
    repository.#claims = db.sublevel('claims', { valueEncoding: 'json' });
    repository.#lapses = db.sublevel('lapses');
    const [last = '0'] = await repository.#pets.keys({ reverse: true, limit: 1 }).all();
    repository.#lastId = BigInt(last);
    return repository;
  }

  async add({ name, categoryId, status }, { claim, now = new Date(), signal } = {}) {
    const pet = { name, categoryId, status };
    const kept = claim && { ...claim, now: now.getTime(), keepUntil: claim.keepUntil.getTime() };
    if (this.#isReading) throw new UnavailableError('adding an animal: the store is only read');
    return this.#ask('adding an animal', signal, () =>
      // One after the other: ids ascend in the order in which animals become visible, and the second of two equal
      // claims finds the first.
      this.#inTurn(async () => {
        signal?.throwIfAborted();
        const earlier = kept && (await this.#findClaim(kept));
        if (earlier) return { pet: savedPet(BigInt(earlier.petId), pet), replayed: true };
        // Before the write: an id whose write failed may be on the disk all the same.
        this.#lastId += 1n;
        const added = savedPet(this.#lastId, pet);
        await this.#db.batch(
          [...this.#petWrites(added), ...(await this.#claimWrites(kept, added))],
          SAFE,
        );
        return { pet: added, replayed: false };
      }),
    );
  }

  async findById(id, { signal } = {}) {
    return this.#ask('reading an animal', signal, async () => {
      const text = id > 0n ? await this.#pets.get(ordered(id)) : undefined;
      return text === undefined ? undefined : petOf(text);
    });
  }

  async list({ after = 0n, limit, status }, { signal } = {}) {
    return this.#ask('listing animals', signal, async () => {
      const first = ordered(after > 0n ? after : 0n);
      const texts = status
        ? this.#byStatus.values({ gt: `${status} ${first}`, lt: `${status}!`, limit })
        : this.#pets.values({ gt: first, limit });
      return (await texts.all()).map(petOf);
    });
  }

  async check({ signal } = {}) {
    await this.#ask('checking the store', signal, () => this.#pets.get(ordered(1)));
  }

  close() {
    this.#closing ??= this.#lastWrite.then(() => this.#db.close());
    return this.#closing;
  }

  async #findClaim(claim) {
    const earlier = await this.#claims.get(claimKey(claim));
    if (earlier === undefined || earlier.keepUntil <= claim.now) return undefined;
    if (earlier.fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
    return earlier;
  }

  #petWrites(pet) {
    const [key, value] = [ordered(pet.id), stringify(pet)];
    return [
      { type: 'put', sublevel: this.#pets, key, value },
      { type: 'put', sublevel: this.#byStatus, key: `${pet.status} ${key}`, value },
    ];
  }

  /** Writes the claim, with an entry by which it is found once it has lapsed, and removes the lapsed ones. */
  async #claimWrites(claim, pet) {
    if (claim === undefined) return [];
    const { fingerprint, keepUntil, now } = claim;
    const key = claimKey(claim);
    const lapsed = await this.#lapses.iterator({ lt: ordered(now + 1) }).all();
    return [
      ...lapsed.flatMap(([lapse, lapsedKey]) => [
        { type: 'del', sublevel: this.#lapses, key: lapse },
        { type: 'del', sublevel: this.#claims, key: lapsedKey },
      ]),
      { type: 'put', sublevel: this.#lapses, key: ordered(keepUntil) + key, value: key },
      {
        type: 'put',
        sublevel: this.#claims,
        key,
        value: { fingerprint, keepUntil, petId: String(pet.id) },
      },
    ];
  }

  #inTurn(work) {
    const turn = this.#lastWrite.then(work);
    this.#lastWrite = turn.catch(() => {});
    return turn;
  }

  /** Lets out only errors of the animal store and the reason of the signal. */
  async #ask(doing, signal, work) {
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

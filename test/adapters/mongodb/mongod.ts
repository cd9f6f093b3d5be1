import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient, type Document } from 'mongodb';
import { freePort } from './free-port.js';
import { until } from '../../until.js';

/** The name of every replica set of the tests. */
export const SET = 'animals';

const OPTIONS =
  '--bind_ip 127.0.0.1 --nounixsocket --wiredTigerCacheSizeGB 0.25 --oplogSize 64 ' +
  '--setParameter enableTestCommands=1 --setParameter diagnosticDataCollectionEnabled=false';

/** A mongod that a test starts, kills and starts again: always on the same port, with the same data. */
export class Mongod {
  readonly #binary: string;
  readonly #port: number;
  readonly #isMember: boolean;
  readonly #folder = mkdtempSync(join(tmpdir(), 'animal-store-mongod-'));
  #process: ChildProcess | undefined;

  private constructor(binary: string, port: number, isMember: boolean) {
    this.#binary = binary;
    this.#port = port;
    this.#isMember = isMember;
  }

  /** A server that does not run yet. Nothing else listens on its port. */
  static async create(binary: string, { replicaSet = true } = {}): Promise<Mongod> {
    return new Mongod(binary, await freePort(), replicaSet);
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** @param login `user:password@` */
  uri(database: string, login = ''): string {
    return `mongodb://${login}${this.host}/${database}?directConnection=true`;
  }

  /** Resolves when it takes writes. As a member it makes a replica set of its own at its first start. */
  async start(...options: readonly string[]): Promise<this> {
    await this.listen(...options);
    if (!this.#isMember) return this;
    const { setName } = await this.administer({ hello: 1 });
    const members = [{ _id: 0, host: this.host }];
    if (!setName) await this.administer({ replSetInitiate: { _id: SET, members } });
    await until('it is primary', async () => (await this.greeting())?.['isWritablePrimary']);
    return this;
  }

  /** Resolves when it answers. */
  async listen(...options: readonly string[]): Promise<void> {
    const args = [
      ...OPTIONS.split(' '),
      '--port',
      `${this.#port}`,
      '--dbpath',
      this.#folder,
      ...options,
    ];
    if (this.#isMember) args.push('--replSet', SET);
    const child = spawn(this.#binary, args, { stdio: 'ignore' });
    this.#process = child;
    // It ends with this process, if nothing has removed it before.
    const end = (): void => this.#erase();
    process.on('exit', end);
    child.on('exit', () => process.off('exit', end));
    child.unref();
    await until('it listens', async () => {
      if (child.exitCode !== null) throw new Error(`${this.#binary} ended at once`);
      return this.greeting();
    });
  }

  /** What it says of itself. `undefined` while it is unreachable. */
  greeting(): Promise<Document | undefined> {
    return this.administer({ hello: 1 }).catch(() => undefined);
  }

  /** Runs a command on the database `admin`, without a login. */
  async administer(command: object): Promise<Document> {
    const client = new MongoClient(this.uri('admin'), { serverSelectionTimeoutMS: 1000 });
    try {
      return await client.db().command({ ...command });
    } finally {
      await client.close();
    }
  }

  /** Ends it without a chance to tidy up. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref(); // else the program may end before
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    this.#erase();
  }

  #erase(): void {
    this.#process?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** How long members wait for their primary before they elect another, in milliseconds. */
const ELECTION_TIMEOUT = 1000;

/** A replica set of three: servers that replicate, elect, and roll back what no majority had. */
export class ReplicaSet {
  readonly members: readonly Mongod[];

  private constructor(members: readonly Mongod[]) {
    this.members = members;
  }

  /** Resolves when it has a primary that the others follow. `arbiter`: the first is primary, the last the arbiter. */
  static async start(binary: string, { arbiter = false } = {}): Promise<ReplicaSet> {
    const creating = [1, 2, 3].map(() => Mongod.create(binary));
    const set = new ReplicaSet(await Promise.all(creating));
    await Promise.all(set.members.map((member) => member.listen()));
    const members = set.members.map(({ host }, index) => ({
      _id: index,
      host,
      arbiterOnly: arbiter && index === 2,
      priority: arbiter && index > 0 ? 0 : 1,
    }));
    const settings = {
      electionTimeoutMillis: ELECTION_TIMEOUT,
      heartbeatIntervalMillis: ELECTION_TIMEOUT / 8,
    };
    const config = { _id: SET, members, settings };
    await set.members[0]?.administer({ replSetInitiate: config });
    await set.untilWhole();
    return set;
  }

  uri(database: string): string {
    const hosts = this.members.map(({ host }) => host);
    return `mongodb://${hosts.join()}/${database}?replicaSet=${SET}`;
  }

  /** The primary, as soon as there is one. */
  primary(): Promise<Mongod> {
    return until('a member is primary', async () => {
      const greetings = await this.#greetings();
      return this.members.find((_, index) => greetings[index]?.['isWritablePrimary']);
    });
  }

  /** Resolves when there is a primary, and every other member follows it. */
  async untilWhole(): Promise<void> {
    await until('the replica set is whole', async () => {
      const greetings = await this.#greetings();
      const follows = greetings.filter((found) => found?.['secondary'] || found?.['arbiterOnly']);
      const primaries = greetings.filter((found) => found?.['isWritablePrimary']);
      return primaries.length === 1 && follows.length === this.members.length - 1;
    });
  }

  /** Makes the primary step down. Resolves when another one is elected. */
  async stepDown(): Promise<void> {
    const old = await this.primary();
    await until('the primary steps down', async () => {
      try {
        await old.administer({ replSetStepDown: 4, secondaryCatchUpPeriodSecs: 2 });
        return true;
      } catch {
        // No secondary had caught up in time, or it had stepped down by itself.
        return (await this.primary()) !== old;
      }
    });
    await this.primary();
  }

  async remove(): Promise<void> {
    await Promise.all(this.members.map((member) => member.remove()));
  }

  #greetings(): Promise<ReadonlyArray<Document | undefined>> {
    return Promise.all(this.members.map((member) => member.greeting()));
  }
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient, type Document } from 'mongodb';
import { freePort } from '../../lasting-port.js';
import { until } from '../../until.js';

/** The name of every replica set of the tests. */
const SET = 'animals';

/** A mongod that a test starts, kills and starts again: always on the same port, with the same data. */
export class Mongod {
  readonly #binary: string;
  readonly #isMember: boolean;
  readonly #folder = mkdtempSync(join(tmpdir(), 'animal-store-mongod-'));
  #port = 0;
  #process: ChildProcess | undefined;

  private constructor(binary: string, isMember: boolean) {
    this.#binary = binary;
    this.#isMember = isMember;
  }

  /** A server that does not run yet. Nothing else listens on its port. */
  static async create(binary: string, { replicaSet }: { replicaSet: boolean }): Promise<Mongod> {
    const server = new Mongod(binary, replicaSet);
    server.#port = await freePort();
    return server;
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** @param login `user:password@`. */
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
    await until(
      'it is primary',
      async () => (await this.greeting())?.['isWritablePrimary'] === true,
    );
    return this;
  }

  /** Resolves when it takes connections. A member of a replica set has no configuration yet at first. */
  async listen(...options: readonly string[]): Promise<void> {
    const fixed =
      `--bind_ip 127.0.0.1 --nounixsocket --port ${this.#port} --wiredTigerCacheSizeGB 0.25 --oplogSize 64 ` +
      '--setParameter enableTestCommands=1 --setParameter diagnosticDataCollectionEnabled=false';
    const args = [...fixed.split(' '), '--dbpath', this.#folder, ...options];
    if (this.#isMember) args.push('--replSet', SET);
    const child = spawn(this.#binary, args, { stdio: 'ignore' });
    this.#process = child;
    // It ends with this process, if nothing has removed it before.
    child.unref();
    const end = (): void => this.#erase();
    process.on('exit', end);
    child.on('exit', () => process.off('exit', end));
    let failure: unknown;
    child.on('error', (error) => {
      failure = error;
    });
    await until('it listens', async () => {
      const hasFailed = failure !== undefined || child.exitCode !== null;
      if (hasFailed) throw new Error(`${this.#binary} does not start`, { cause: failure });
      return this.#listens();
    });
  }

  /** What it says of itself and its replica set. `undefined` while it is unreachable. */
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

  /** Makes it hang: it keeps its connections, takes new ones, and answers none. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  /** Lets it go on after `freeze`. */
  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    this.#erase();
  }

  #erase(): void {
    this.#process?.kill('SIGKILL');
    rmSync(this.#folder, {
      recursive: true,
      force: true,
      maxRetries: 5,
    });
  }

  #listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, '127.0.0.1');
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  }
}

/**
 * Members elect another primary when they have not heard from theirs for this long, in milliseconds, and a primary
 * steps down when it has not heard from a majority. The long form sees what it does alone before.
 */
const ELECTION_TIMEOUT = process.env['LONG'] === '1' ? 2000 : 1000;

/** A replica set of three: servers that replicate, elect, and roll back what no majority had. */
export class ReplicaSet {
  readonly members: readonly Mongod[];

  private constructor(members: readonly Mongod[]) {
    this.members = members;
  }

  /**
   * Resolves when it has a primary, and the others follow it.
   * @param hostOf where clients and the other members reach a member, such as a proxy
   */
  static async start(
    binary: string,
    hostOf: (member: Mongod) => Promise<string> = async ({ host }) => host,
  ): Promise<ReplicaSet> {
    const members = await Promise.all(
      [0, 1, 2].map(() => Mongod.create(binary, { replicaSet: true })),
    );
    const set = new ReplicaSet(members);
    const hosts = await Promise.all(members.map(hostOf));
    await Promise.all(members.map((member) => member.listen()));
    await members[0]?.administer({
      replSetInitiate: {
        _id: SET,
        members: hosts.map((host, _id) => ({ _id, host })),
        settings: {
          electionTimeoutMillis: ELECTION_TIMEOUT,
          heartbeatIntervalMillis: ELECTION_TIMEOUT / 8,
        },
      },
    });
    await set.untilWhole();
    return set;
  }

  uri(database: string): string {
    return `mongodb://${this.members.map(({ host }) => host).join(',')}/${database}?replicaSet=${SET}`;
  }

  /** The primary, as soon as there is one. */
  primary(): Promise<Mongod> {
    return until('a member is primary', async () => {
      const greetings = await this.#greetings();
      return this.members.find((_, index) => greetings[index]?.['isWritablePrimary']);
    });
  }

  async secondaries(): Promise<readonly Mongod[]> {
    const primary = await this.primary();
    return this.members.filter((member) => member !== primary);
  }

  /** Resolves when there is a primary, and every other member is its secondary. */
  async untilWhole(): Promise<void> {
    await until('the replica set is whole', async () => {
      const greetings = await this.#greetings();
      const count = (role: string): number =>
        greetings.filter((greeting) => greeting?.[role]).length;
      return count('isWritablePrimary') === 1 && count('secondary') === this.members.length - 1;
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

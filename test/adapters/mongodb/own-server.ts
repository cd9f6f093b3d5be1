import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient, type Document } from 'mongodb';

/** How long a server may take to start, in milliseconds: a busy machine is slow. */
const START = 30_000;

/** A server that a test starts, kills and starts again: always at the same port, with the same data. */
export class OwnServer {
  readonly #command: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'animal-store-mongod-'));
  #port = 0;
  #process: ChildProcess | undefined;

  /** @param command a command line in which `{port}` and `{path}` stand for these. */
  constructor(command: string) {
    this.#command = command;
  }

  /** Its port is known, and nothing listens there. */
  async reserve(): Promise<this> {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    ({ port: this.#port } = listener.address() as AddressInfo);
    listener.close();
    await once(listener, 'close');
    return this;
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Where its data is, at any time. */
  get folder(): string {
    return this.#folder;
  }

  uri(database: string, login = ''): string {
    return `mongodb://${login}${this.host}/${database}?directConnection=true&authSource=admin`;
  }

  /** Resolves as soon as it takes connections, and, in a replica set of its own, writes. */
  async start(...options: readonly string[]): Promise<void> {
    await this.listen(...options);
    const replicaSet = replicaSetIn(this.#command);
    if (replicaSet !== undefined) await this.#lead(replicaSet);
  }

  /** Resolves as soon as it takes connections. A member of a replica set has no configuration yet at first. */
  async listen(...options: readonly string[]): Promise<void> {
    const words = this.#command
      .replaceAll('{port}', String(this.#port))
      .replaceAll('{path}', this.#folder)
      .split(/\s+/);
    if (replicaSetIn(this.#command) && options.includes('--auth')) words.push('--keyFile', this.#keyFile());
    const [program = '', ...args] = [...words, ...options];
    const child = spawn(program, args, { stdio: 'ignore' });
    this.#process = child;
    // Also where the tests end before their time.
    const end = (): void => void child.kill('SIGKILL');
    process.on('exit', end);
    child.on('exit', () => process.off('exit', end));
    let failure: unknown;
    child.on('error', (error) => (failure = error));
    for (const since = performance.now(); !(await this.#listens()); await delay(20)) {
      if (failure === undefined && child.exitCode === null && performance.now() - since < START) continue;
      await this.kill();
      throw new Error(`MONGODB_TEST_COMMAND does not start a server: ${program}`, { cause: failure });
    }
  }

  /** What members of a replica set know each other by, where they ask for logins. */
  #keyFile(): string {
    const path = join(this.#folder, 'members.key');
    if (!existsSync(path)) writeFileSync(path, randomBytes(96).toString('base64'), { mode: 0o400 });
    return path;
  }

  /** Makes it the primary of a replica set that it is the only member of. */
  async #lead(replicaSet: string): Promise<void> {
    try {
      const { setName } = await this.greeting();
      const members = [{ _id: 0, host: this.host }];
      if (!setName) await this.administer({ replSetInitiate: { _id: replicaSet, members } });
      for (const since = performance.now(); !(await this.greeting())['isWritablePrimary']; await delay(20)) {
        if (performance.now() - since > START) throw new Error('the server does not become a primary');
      }
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** What it says of itself and its replica set. */
  greeting(): Promise<Document> {
    return this.administer({ hello: 1 });
  }

  /** Ends it with no chance to tidy up. */
  async kill(): Promise<void> {
    if (this.#process?.pid === undefined || this.#process.exitCode !== null || this.#process.signalCode)
      return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }

  /** Has it hang: it holds its connections, takes new ones, and answers none. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  /** Lets it go on after `freeze`. */
  thaw(): void {
    this.#process?.kill('SIGCONT');
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

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, '127.0.0.1');
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  }
}

/** The replica set that a command line makes its server a member of. */
export const replicaSetIn = (command: string): string | undefined =>
  /\s--replSet[\s=](?<name>\S+)/.exec(command)?.groups?.['name'];

/** A suite that starts servers of its own: it runs where `MONGODB_TEST_COMMAND` says how that is done. */
export function describeWithServerCommand(title: string, body: (command: string) => void): void {
  const command = process.env['MONGODB_TEST_COMMAND'];
  if (command === undefined || command === '') {
    describe(title, () => void it('is not run: no MONGODB_TEST_COMMAND says how a server is started'));
    return;
  }
  describe(`${title} [${command.split(/\s+/)[0]?.split('/').at(-1)}]`, () => body(command));
}

/** A suite that kills its server. */
export function describeOnOwnServer(title: string, body: (open: () => Promise<OwnServer>) => void): void {
  describeWithServerCommand(title, (command) => {
    const servers: OwnServer[] = [];
    afterEach(async () => {
      for (const server of servers.splice(0)) await server.remove();
    });
    body(async () => {
      const server = await new OwnServer(command).reserve();
      servers.push(server);
      return server;
    });
  });
}

import { setTimeout as delay } from 'node:timers/promises';
import { describeWithServerCommand, OwnServer, replicaSetIn } from './own-server.js';

/** How many members it has: the fewest of which one may be lost. */
const MEMBERS = 3;

/** How long an election may take, in milliseconds: a busy machine is slow. */
const ELECTION = 60_000;

/**
 * Members elect another primary when they have not heard of theirs for so long, in milliseconds, and a primary steps
 * down when it has not heard of a majority: long enough for a test to see what it does alone.
 */
const ELECTION_TIMEOUT = 2000;

/** A replica set that a test starts: servers that replicate, elect, and roll back what no majority had. */
export class OwnReplicaSet {
  readonly members: readonly OwnServer[];
  readonly #name: string;

  /** @param command a command line with `--replSet`, in which `{port}` and `{path}` stand for these. */
  constructor(command: string) {
    this.members = Array.from({ length: MEMBERS }, () => new OwnServer(command));
    this.#name = replicaSetIn(command) ?? '';
  }

  /** Resolves once it has a primary, and the others follow it. */
  async start(): Promise<this> {
    for (const member of this.members) await (await member.reserve()).listen();
    await this.members[0]?.administer({
      replSetInitiate: {
        _id: this.#name,
        members: this.members.map(({ host }, _id) => ({ _id, host })),
        settings: { electionTimeoutMillis: ELECTION_TIMEOUT, heartbeatIntervalMillis: ELECTION_TIMEOUT / 8 },
      },
    });
    await this.untilWhole();
    return this;
  }

  uri(database: string): string {
    return `mongodb://${this.members.map(({ host }) => host).join(',')}/${database}?replicaSet=${this.#name}`;
  }

  /** The primary, as soon as there is one. */
  async primary(): Promise<OwnServer> {
    for (const since = performance.now(); ; await delay(20)) {
      const greetings = await Promise.all(this.members.map(greetingOf));
      const primary = this.members.find((_, index) => greetings[index]?.['isWritablePrimary']);
      if (primary !== undefined) return primary;
      if (performance.now() - since > ELECTION) throw new Error('no member becomes the primary');
    }
  }

  async secondaries(): Promise<readonly OwnServer[]> {
    const primary = await this.primary();
    return this.members.filter((member) => member !== primary);
  }

  /** Resolves once there is a primary, and every other member is its secondary. */
  async untilWhole(): Promise<void> {
    for (const since = performance.now(); ; await delay(50)) {
      const greetings = await Promise.all(this.members.map(greetingOf));
      const primaries = greetings.filter((greeting) => greeting?.['isWritablePrimary']);
      const secondaries = greetings.filter((greeting) => greeting?.['secondary']);
      if (primaries.length === 1 && secondaries.length === MEMBERS - 1) return;
      if (performance.now() - since > ELECTION) throw new Error('the replica set does not become whole');
    }
  }

  /** Has the primary step down, for another to be elected. Resolves once that one is. */
  async stepDown(): Promise<void> {
    const old = await this.primary();
    for (const since = performance.now(); ;) {
      try {
        await old.administer({ replSetStepDown: 4, secondaryCatchUpPeriodSecs: 2 });
        break;
      } catch (error) {
        // No secondary had caught up in time, or it had stepped down by itself.
        if (performance.now() - since > ELECTION) throw error;
        if ((await this.primary()) !== old) break;
      }
    }
    await this.primary();
  }

  async remove(): Promise<void> {
    await Promise.all(this.members.map((member) => member.remove()));
  }
}

/** What a member says of itself; nothing while it is away. */
const greetingOf = (member: OwnServer) => member.greeting().catch(() => undefined);

/** A suite that needs servers that replicate: it runs where `MONGODB_TEST_COMMAND` starts members of a replica set. */
export function describeOnReplicaSet(
  title: string,
  body: (open: () => Promise<OwnReplicaSet>) => void,
): void {
  describeWithServerCommand(title, (command) => {
    if (replicaSetIn(command) === undefined) {
      it('is not run: MONGODB_TEST_COMMAND starts no members of a replica set (--replSet)');
      return;
    }
    const sets: OwnReplicaSet[] = [];
    afterEach(async () => {
      for (const set of sets.splice(0)) await set.remove();
    });
    body(async () => {
      const set = new OwnReplicaSet(command);
      sets.push(set);
      return set.start();
    });
  });
}

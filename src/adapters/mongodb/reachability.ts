import {
  MongoNetworkError,
  type Document,
  type MongoClient,
  type ServerDescription,
  type TopologyDescription,
} from 'mongodb';
import type { notices } from '../../application/ports/store.js';
import { isLasting } from './mongo-errors.js';

const NOT_PRIMARY = new Error(
  'the URL leads to one member, which takes no writes: ' +
    'name the replica set, without directConnection',
);

/** How long a replica set may have no primary before it is unreachable, in milliseconds. An election usually takes less. */
const ELECTION_LIMIT = 3000;

const NO_PRIMARY = new Error('no primary was found in the replica set');

/** A server was reached that cannot serve the URL: it is no member of the replica set that the URL names. */
class WrongServerError extends Error {}

/** Learns from the driver whether a server takes writes, and says so when that changes. */
export function watchReachability(client: MongoClient, notice: ReturnType<typeof notices>) {
  /** Set while the last server that replied cannot serve. */
  let wrongServer: WrongServerError | undefined;
  /** Set while no server takes writes: the reason, and since when. */
  let unreachable: { readonly cause: Error; readonly since: number } | undefined;

  /** Set while a replica set has no primary, and no fault of a member is known. */
  let election: NodeJS.Timeout | undefined;

  /** Notes that no server takes writes. */
  function setUnreachable(cause: Error): void {
    if (!unreachable) notice(`the database is unreachable: ${cause.message}`);
    // Calls wait while no server takes writes, because an election may end that. They do not wait with a wrong URL.
    const start = cause instanceof WrongServerError ? -Infinity : performance.now();
    unreachable = { cause, since: unreachable?.since ?? start };
  }

  function endElection(): void {
    clearTimeout(election);
    election = undefined;
  }

  client.on('topologyClosed', endElection);
  // From the heartbeats: the driver removes a server of another replica set from its description of the servers.
  client.on('serverHeartbeatSucceeded', ({ connectionId: host, reply }) => {
    wrongServer = describeWrongServer(host, reply, client.options.replicaSet);
  });
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    const { type, servers } = newDescription;
    const cause = describeUnreachable(newDescription, wrongServer);
    const mayElect = type === 'ReplicaSetNoPrimary' && !cause;
    if (mayElect) {
      election ??= setTimeout(setUnreachable, ELECTION_LIMIT, NO_PRIMARY).unref();
      return;
    }
    endElection();
    if ([...servers.values()].some(({ isWritable }) => isWritable)) {
      if (unreachable) notice('the database is reachable again');
      unreachable = undefined;
    } else if (cause) {
      setUnreachable(cause);
    }
  });

  return {
    setUnreachable,
    /** Why no server takes writes, if that has been so for this long, in milliseconds; else `undefined`. */
    faultAfter(milliseconds: number): Error | undefined {
      if (!unreachable) return undefined;
      const { cause, since } = unreachable;
      return performance.now() - since >= milliseconds ? cause : undefined;
    },
  };
}

/**
 * Why a server that was reached cannot serve a URL that names the replica set `wanted`, if it names one. `undefined` if
 * it can serve.
 */
function describeWrongServer(
  host: string,
  { isreplicaset, setName = 'none' }: Document,
  wanted: string | undefined,
): WrongServerError | undefined {
  if (isreplicaset) {
    return new WrongServerError(
      `the replica set of ${host} is not initiated, or has removed this member`,
    );
  }
  if (wanted === undefined || wanted === setName) return undefined;
  return new WrongServerError(
    `the URL names the replica set ${wanted}; that of ${host} is ${setName}`,
  );
}

/**
 * Why no server takes writes. `undefined` while one may soon: a server was not asked yet, or an election is in progress.
 */
function describeUnreachable(
  { type, servers }: TopologyDescription,
  wrongServer: WrongServerError | undefined,
): Error | undefined {
  const members = [...servers.values()];
  const isUnasked = (member: ServerDescription): boolean => !isKnown(member) && !member.error;
  if (!wrongServer && members.some(isUnasked)) return undefined;

  const faults = members.map(({ error }) => error);
  const fault = faults.find((error) => error instanceof MongoNetworkError || isLasting(error));
  if (fault) return fault;
  if (wrongServer) return wrongServer;
  // With `directConnection` the driver reads from a member that takes no writes.
  const isDirect = type === 'Single' && members.some(isKnown);
  return isDirect ? NOT_PRIMARY : undefined;
}

const isKnown = ({ type }: ServerDescription): boolean => type !== 'Unknown';

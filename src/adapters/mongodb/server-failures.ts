import type { MongoClient } from 'mongodb';

/**
 * Returns a function that gives the last failure of any server, or `undefined` after a heartbeat of a primary. When the
 * name of the replica set is wrong, the driver drops the server and gives no reason.
 */
export function watchServers(client: MongoClient): () => Error | undefined {
  let last: Error | undefined;
  client.on('serverHeartbeatFailed', ({ failure }) => {
    last = failure;
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId: host, reply }) => {
    const { setName, isWritablePrimary } = reply;
    const wanted: string | undefined = client.options.replicaSet;
    if (wanted !== undefined && wanted !== setName)
      last = new Error(
        `The URL names the replica set ${wanted}; that of ${host} is ${setName ?? 'none'}.`,
      );
    else if (isWritablePrimary) last = undefined;
  });
  return () => last;
}

import type { MongoClient } from 'mongodb';

/**
 * Watches the servers. The result returns the last fault of one, or `undefined` once a primary has answered. When the
 * name of the replica set is wrong, the driver drops the server and gives no reason.
 */
export function watchServers(client: MongoClient): () => Error | undefined {
  let fault: Error | undefined;
  client.on('serverHeartbeatFailed', ({ failure }) => {
    fault = failure;
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId: host, reply }) => {
    const { setName, isWritablePrimary } = reply;
    const wanted: string | undefined = client.options.replicaSet;
    if (wanted !== undefined && wanted !== setName)
      fault = new Error(
        `The URL names the replica set ${wanted}; that of ${host} is ${setName ?? 'none'}.`,
      );
    else if (isWritablePrimary) fault = undefined;
  });
  return () => fault;
}

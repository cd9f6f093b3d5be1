import type { MongoClient } from 'mongodb';

/**
 * Returns a function that returns why the last server which was asked cannot serve, or `undefined` once a primary has
 * answered. The driver forgets a server whose replica set has another name, and then names no reason.
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

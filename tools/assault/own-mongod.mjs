// The mongod that the tests use, started, killed and removed by the tests' own classes.
import { MongoBinary } from 'mongodb-memory-server';

export { Mongod, ReplicaSet, until } from '../../build/test/adapters/mongodb/mongod.js';

/** Its path, as the tests find it; `undefined` if there is none here. Downloads nothing. */
export async function mongodPath() {
  process.env.MONGOMS_RUNTIME_DOWNLOAD ??= 'false';
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK ??= 'false';
  try {
    return await MongoBinary.getPath();
  } catch {
    return undefined;
  }
}

import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { PostgresPetRepository } from './postgres-pet-repository.mjs';

/** The error codes for a database that does not exist, and for a table that does not exist. */
const NO_STORE = new Set(['3D000', '42P01']);

const INVALID_URL = 'Invalid URL. Expected: postgres://user@host:5432/database';

/** Opens the store in a database. Also resolves while the server is unreachable: calls reject until it is reachable. */
export async function openPostgresStore(url, { mode = 'create' } = {}) {
  // An error of new URL would have the whole URL, with its password.
  if (!URL.canParse(url)) throw Object.assign(new Error(INVALID_URL), { isPermanent: true });
  const { hostname, pathname } = new URL(url); // without user and password
  const location = `PostgreSQL at ${decodeURIComponent(hostname)}${pathname}`;
  const pets = new PostgresPetRepository(url, { mode });
  if (mode !== 'create') {
    const fault = await pets.check().catch((error) => error);
    if (NO_STORE.has(fault?.cause?.code)) {
      await pets.close();
      throw new Error(`${location} holds no store`);
    }
  }
  return {
    pets,
    changes: pets,
    location,
    check: (call) => pets.check(call),
    close: () => pets.close(),
  };
}

/** `ADAPTERS=./adapter.mjs STORE_URL=postgres://user@host/database` */
export const adapter = new ContainerModule(({ bind }) => {
  bind(TOKENS.storeFactory).toConstantValue({
    scheme: ['postgres', 'postgresql'],
    open: openPostgresStore,
  });
});

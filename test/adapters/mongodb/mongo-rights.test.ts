import { expect } from 'chai';
import { MongoClient, type Document } from 'mongodb';
import type { CompleteStore, OpenMode } from '../../../src/application/ports/store.js';
import { codeAt, read } from '../../docs/code-blocks.js';
import { inShell } from '../../docs/in-shell.js';
import { unavailable } from '../unavailable.js';
import type { Mongod } from './mongod.js';
import { describeOnOwnServers } from './mongo-server.js';
import { addOnce, apiKey, claimOn, openNoting, rex, untilIndexed } from './mongo-store-tests.js';

interface Role {
  readonly role: string;
  readonly privileges: ReadonlyArray<{
    readonly resource: Document;
    readonly actions: readonly string[];
  }>;
  readonly roles: readonly string[];
}

/** What the page tells an operator to say to MongoDB's shell. */
const [[, DATABASE], [, ROLE], [, USER]] = inShell(
  codeAt('docs/operations/mongodb.md > Rights > 1'),
) as [
  [string, string],
  [string, Role],
  [string, { readonly user: string; readonly pwd: string; readonly roles: readonly string[] }],
];
/** The server's code for a command that the user may not run. */
const NO_RIGHT = 13;

const ACTIONS = ROLE.privileges.flatMap(({ actions }) => actions);

/** The words in code style of the page's sentence that `pattern` finds. */
const namesIn = (pattern: RegExp): readonly string[] =>
  [...(pattern.exec(read('docs/operations/mongodb.md'))?.[0] ?? '').matchAll(/`(\w+)`/g)].map(
    ([, name = '']) => name,
  );

const FIRST_START = namesIn(/After the first start [^.:]* can be removed/);
const SOURCE_OF_COPY = namesIn(/a user with [^.:]* is enough/);

/** What the service does with a store, each once. */
async function useStore(store: CompleteStore): Promise<void> {
  const { pets, apiKeys, transfer } = store;
  const now = Date.now();
  await store.check();
  const pet = await pets.add(rex);
  await addOnce(store);
  await addOnce(store);
  const expiring = claimOn('expiring', { keepUntil: now + 1 });
  await pets.addOnce(rex, expiring, now);
  await pets.addOnce(rex, expiring, expiring.keepUntil);
  await pets.findById(pet.id);
  await apiKeys.add(apiKey);
  await apiKeys.findById('k');
  await apiKeys.revoke('k', now);
  await copyFrom(store);
  await transfer.reserveIds(5000n);
  await transfer.writePets([pet]);
  await transfer.writeClaims([{ ...claimOn('copied'), petId: pet.id }]);
}

/** What a copy does with its source. */
async function copyFrom({ pets, apiKeys, transfer }: CompleteStore): Promise<void> {
  await transfer.survey();
  await pets.list({ limit: 20 });
  await transfer.readClaims({ limit: 20, now: Date.now() });
  await apiKeys.list();
}

describeOnOwnServers('The rights that the page about MongoDB gives the service', (create) => {
  let server: Mongod;
  let root: MongoClient;

  before(async () => {
    server = await (await create({ replicaSet: false })).start('--auth');
    // Until there is a user, the server lets its own machine make one.
    await server.administer({
      createUser: 'root',
      pwd: 'root',
      roles: ['root'],
    });
    root = new MongoClient(server.uri('admin', 'root:root@'));
    const { user, pwd, roles } = USER;
    const { role, ...grants } = ROLE;
    await root.db(DATABASE).command({ createRole: role, ...grants });
    await root.db(DATABASE).command({
      createUser: user,
      pwd,
      roles,
    });
  });
  after(() => root.close());

  const grant = async (actions: readonly string[]): Promise<void> => {
    const privileges = ROLE.privileges.map((privilege) => ({
      ...privilege,
      actions,
    }));
    await root.db(DATABASE).command({ updateRole: ROLE.role, privileges });
  };

  /** Opens a store as the page's URL does: the login is to the database that it names. Resolves to its notices. */
  async function using(
    use: (store: CompleteStore, notices: readonly string[]) => Promise<void>,
    mode?: OpenMode,
  ): Promise<readonly string[]> {
    const uri = server.uri(DATABASE, `${USER.user}:${USER.pwd}@`);
    const { store, notices } = await openNoting(uri, { mode, timeout: 20_000 });
    try {
      await use(store, notices);
    } finally {
      await store.close();
    }
    return notices;
  }

  it('are enough for the first start and everything after it', async () => {
    const notices = await using(async (store, said) => {
      await useStore(store);
      await untilIndexed(said);
    });

    const faults = notices.filter((line) => line.includes('not prepared'));
    expect(faults).to.deep.equal([]);
  });

  it(`are enough without ${FIRST_START.join(' and ')} afterwards`, async () => {
    expect(FIRST_START).to.have.length(1);
    await root.db(DATABASE).collection('apiKeys').deleteMany({});
    await grant(ACTIONS.filter((action) => !FIRST_START.includes(action)));

    const notices = await using(useStore);

    expect(notices).to.deep.equal([]);
  });

  it(`are enough with ${SOURCE_OF_COPY.join(' and ')} alone for the source of a copy`, async () => {
    expect(SOURCE_OF_COPY).to.have.length(2);
    await grant(SOURCE_OF_COPY);

    const notices = await using(copyFrom, 'existing');
    const adding = using(async ({ pets }) => void (await pets.add(rex)), 'existing');

    expect(notices).to.deep.equal([]);
    expect(await unavailable(adding)).to.have.property('code', NO_RIGHT);
  });

  it('are needed to list collections: else nothing is stored, as they may be unfit', async () => {
    await grant(ACTIONS.filter((action) => action !== 'listCollections'));

    const adding = using(async ({ pets }) => void (await pets.add(rex)));

    expect(await unavailable(adding)).to.have.property('code', NO_RIGHT);
  });
});

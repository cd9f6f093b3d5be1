import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient, MongoServerError, type Document } from 'mongodb';
import { openMongoStore, type MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { codeAt, read } from '../../docs/code-blocks.js';
import { inShell } from '../../docs/in-shell.js';
import { FIRST_START_TOLD, claimOn, rex } from './mongo-store-tests.js';
import { describeWithServerCommand, OwnServer } from './own-server.js';

interface Role {
  readonly role: string;
  readonly privileges: ReadonlyArray<{ readonly resource: Document; readonly actions: readonly string[] }>;
  readonly roles: readonly string[];
}

const PAGE = 'docs/operations/mongodb.md';

/** What the page has an operator say to MongoDB's shell. */
const [[, DATABASE], [, ROLE], [, USER]] = inShell(codeAt(`${PAGE} > Rights > 1`)) as [
  [string, string],
  [string, Role],
  [string, { readonly user: string; readonly pwd: string; readonly roles: readonly string[] }],
];
const ACTIONS = ROLE.privileges.flatMap(({ actions }) => actions);

/** The words in code style of the page's sentence that `pattern` finds. */
const namesIn = (pattern: RegExp): readonly string[] =>
  [...(pattern.exec(read(PAGE))?.[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

const FIRST_START = namesIn(/After the first start [^.:]* may be taken away/);
const SOURCE_OF_COPY = namesIn(/a user with [^.:]* is enough/);

const KEY = { id: 'k', name: 'a key', hash: 'f'.repeat(64), scopes: [], createdAt: new Date(0) } as const;
const COUNTED = { day: '2026-11-20', operationId: 'getPet', keyId: 'k', calls: 1, lastAt: new Date(0) };

/** All that the service and its commands do with a store, each once. */
const USES: Readonly<Record<string, (store: MongoStore) => Promise<unknown>>> = {
  check: ({ pets }) => pets.check(),
  add: ({ pets }) => pets.add(rex),
  'add with a claim': ({ pets }) => pets.add(rex, { claim: claimOn('t') }),
  'add with a claim again': ({ pets }) => pets.add(rex, { claim: claimOn('t') }),
  'add with a claim that has lapsed': async ({ pets }) => {
    const [now, later] = [new Date(), new Date(Date.now() + 1)];
    await pets.add(rex, { claim: claimOn('lapsing', { now, keepUntil: later }) });
    await pets.add(rex, { claim: claimOn('lapsing', { now: later }) });
  },
  findById: ({ pets }) => pets.findById(1n),
  list: ({ pets }) => pets.list({ limit: 20 }),
  'list by status': ({ pets }) => pets.list({ limit: 20, status: 'available' }),
  'add a key': ({ apiKeys }) => apiKeys.add(KEY),
  'find a key': ({ apiKeys }) => apiKeys.findById('k'),
  'list keys': ({ apiKeys }) => apiKeys.list(),
  'update a key': ({ apiKeys }) => apiKeys.update('k', (key) => ({ ...key, revokedAt: new Date(1) })),
  'count deprecated calls': ({ deprecatedCalls }) => deprecatedCalls.record({ id: 'b', counts: [COUNTED] }),
  'count them again': ({ deprecatedCalls }) => deprecatedCalls.record({ id: 'c', counts: [COUNTED] }),
  'list deprecated calls': ({ deprecatedCalls }) => deprecatedCalls.list(),
};

const COPIES_FROM: typeof USES = {
  survey: ({ transfer }) => transfer.survey(),
  'read animals': ({ transfer }) => transfer.readPets({ limit: 20 }),
  'read claims': ({ transfer }) => transfer.readClaims({ limit: 20, now: new Date(0) }),
  'read keys': ({ transfer }) => transfer.readApiKeys(),
};

const COPIES_TO: typeof USES = {
  ...COPIES_FROM,
  'write animals': async ({ transfer }) => {
    const pets = await transfer.readPets({ limit: 20 });
    await transfer.writePets(pets);
  },
  'write claims': async ({ transfer }) => {
    await transfer.writeClaims(await transfer.readClaims({ limit: 20, now: new Date(0) }));
  },
  'write keys': async ({ transfer }) => {
    await transfer.writeApiKeys([{ ...KEY, id: 'copied' }]);
    await transfer.writeApiKeys(await transfer.readApiKeys());
  },
  'reserve ids': ({ transfer }) => transfer.reserveIds(5000n),
};

/** What was refused, by what was done, with the server's code: 13 is `Unauthorized`. */
async function refusals(store: MongoStore, uses: typeof USES): Promise<Record<string, unknown>> {
  const refused: Record<string, unknown> = {};
  for (const [name, use] of Object.entries(uses)) {
    try {
      await use(store);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      refused[name] = cause instanceof MongoServerError ? cause.code : error;
    }
  }
  return refused;
}

describeWithServerCommand('The rights that the page about MongoDB gives the service', (command) => {
  let server: OwnServer;
  let root: MongoClient;
  /** Rights that this server wants besides. On MongoDB who may `insert` may make a collection. */
  let besides: readonly string[] = [];

  before(async function () {
    this.timeout(120_000);
    server = await new OwnServer(command).reserve();
    await server.start();
    const writeConcern = { w: 'majority', j: true };
    await server.administer({ createUser: 'root', pwd: 'root', roles: ['root'], writeConcern });
    await server.kill();
    await server.start('--auth');
    root = new MongoClient(server.uri('admin', 'root:root@'));
    const { user, pwd, roles } = USER;
    const { role, ...grants } = ROLE;
    await root.db(DATABASE).command({ createRole: role, ...grants });
    await root.db(DATABASE).command({ createUser: user, pwd, roles });
    await grant(['insert']);
    if (!(await makesCollections())) besides = ['createCollection'];
  });
  after(async () => {
    await root.close();
    await server.remove();
  });

  /** Leaves the user these of the role's actions; the database is empty. */
  async function grant(actions: readonly string[], { empty = true } = {}): Promise<void> {
    if (empty) await root.db(DATABASE).dropDatabase();
    const privileges = ROLE.privileges.map((privilege) => ({
      ...privilege,
      actions: [...actions, ...besides],
    }));
    await root.db(DATABASE).command({ updateRole: ROLE.role, privileges });
  }

  /** As the page's URL has it: the login is to the database that it names. */
  const uri = (): string =>
    `mongodb://${USER.user}:${USER.pwd}@${server.host}/${DATABASE}?directConnection=true`;

  async function makesCollections(): Promise<boolean> {
    const client = new MongoClient(uri());
    try {
      await client.db().createCollection('any');
      return true;
    } catch (error) {
      if (error instanceof MongoServerError && error.code === 13) return false;
      throw error;
    } finally {
      await client.close();
    }
  }

  /** Opens a store, does all of `uses`, and closes it. Tells of what was told once the database is prepared, or is not. */
  async function used(
    uses: typeof USES,
    options: { readonly mustExist?: boolean; readonly prepares?: boolean } = {},
  ): Promise<{ readonly told: readonly string[]; readonly refused: Record<string, unknown> }> {
    const { mustExist = false, prepares = false } = options;
    const told: string[] = [];
    const store = await openMongoStore(uri(), { mustExist, tell: (line) => void told.push(line) });
    try {
      const refused = await refusals(store, uses);
      const isPrepared = () => told.some((line) => /not prepared yet|made the index keepUntil_1/.test(line));
      if (prepares) while (!isPrepared()) await delay(10);
      return { told: [...told], refused };
    } finally {
      await store.close();
    }
  }

  const asFirstStarted = async (): Promise<void> => {
    await grant(ACTIONS);
    await used(USES, { prepares: true });
  };

  it('are enough for the first start and for everything after it', async () => {
    await grant(ACTIONS);
    const { told, refused } = await used(USES, { prepares: true });
    expect(refused).to.deep.equal({});
    expect([...told].sort()).to.deep.equal(FIRST_START_TOLD);
  }).timeout(60_000);

  it('are enough for the target of a copy, whose collections may be there without validators', async () => {
    await grant(ACTIONS);
    await root.db(DATABASE).createCollection('pets');
    const { told, refused } = await used({ ...USES, ...COPIES_TO }, { prepares: true });
    expect(refused).to.deep.equal({});
    expect(told).to.include('set the validator of the collection pets');
  }).timeout(60_000);

  it(`are enough afterwards without ${FIRST_START.join(' and ')}, and nothing is told`, async () => {
    expect(FIRST_START).to.have.length(2);
    await asFirstStarted();
    await grant(
      ACTIONS.filter((action) => !FIRST_START.includes(action)),
      { empty: false },
    );
    const { told, refused } = await used({
      ...USES,
      ...COPIES_TO,
      // That nothing is told has no event of its own.
      'be prepared': () => delay(300),
    });
    expect({ told, refused }).to.deep.equal({ told: [], refused: {} });
  }).timeout(60_000);

  it(`are enough for the source of a copy with ${SOURCE_OF_COPY.join(' and ')} alone`, async () => {
    await asFirstStarted();
    expect(SOURCE_OF_COPY).to.have.length(2);
    await grant(SOURCE_OF_COPY, { empty: false });
    expect(await used(COPIES_FROM, { mustExist: true })).to.deep.equal({ told: [], refused: {} });
    const { refused } = await used({ add: ({ pets }) => pets.add(rex) }, { mustExist: true });
    expect(refused).to.deep.equal({ add: 13 });
  }).timeout(60_000);

  for (const action of ACTIONS) {
    it(`are all needed: without ${action} something is refused, and is said to be`, async () => {
      await grant(ACTIONS.filter((other) => other !== action));
      // Only what was there before has its validator changed.
      if (action === 'collMod') await root.db(DATABASE).createCollection('pets');
      const { told, refused } = await used(USES, { prepares: true });
      const complaints = told.filter((line) => line.includes('not prepared yet'));
      expect([...complaints, ...Object.keys(refused)]).to.not.deep.equal([]);
      expect(Object.values(refused).filter((code) => code !== 13)).to.deep.equal([]);
      // What is wanted for the first start only is told of, and all else goes on.
      if (FIRST_START.includes(action)) expect(refused).to.deep.equal({});
    }).timeout(60_000);
  }
});

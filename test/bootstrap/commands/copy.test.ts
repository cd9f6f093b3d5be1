import { expect } from 'chai';
import { mock } from 'node:test';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import type { CatalogueTransfer } from '../../../src/application/ports/catalogue-transfer.js';
import type { CompleteStore, Store } from '../../../src/application/ports/store.js';
import { run } from '../../../src/bootstrap/commands/run.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { createAnimalStore } from '../../../src/index.js';
import { Shelf, TestIo, changed, runLine, type Outcome } from '../test-io.js';

const LINE = 'copy --from old: --to new:';

describe('copy', () => {
  let old: CompleteStore;
  let target: CompleteStore;
  beforeEach(async () => {
    [old, target] = [openMemoryStore(), openMemoryStore()];
    const animalStore = createAnimalStore(old);
    for (const key of ['one', 'two', 'three'])
      await animalStore.createPet(
        { name: key, categoryId: 2n ** 63n - 1n },
        { idempotencyKey: { scope: 's', key } },
      );
    await old.apiKeys.add({
      id: 'a',
      name: 'till',
      hash: '0'.repeat(64),
      scopes: [],
      createdAt: 0,
    });
  });

  /** The two stores, the target with something of its own. */
  const shelves = (different: Partial<Store> = {}): [Shelf, Shelf] => [
    new Shelf({ ...old, location: 'old 1' }, 'old'),
    new Shelf({ ...target, location: 'new 1', ...different }, 'new'),
  ];

  async function copy(
    line = LINE,
    [from, to] = shelves(),
  ): Promise<Outcome & { closed: number[] }> {
    const outcome = await runLine(line, {}, [from.module, to.module]);
    return { ...outcome, closed: [from.closed, to.closed] };
  }

  /** A target whose transfer differs in one method. */
  const withTransfer = (changes: Partial<CatalogueTransfer>): Partial<Store> => ({
    transfer: changed(target.transfer, changes),
  });

  it('copies animals under their ids, keys and live claims, and says what and where', async () => {
    const { code, out, closed } = await copy();
    expect({ code, closed }).to.deep.equal({ code: 0, closed: [1, 1] });
    expect(out).to.equal(
      'Copied animals: 3, live idempotency keys: 3, API keys: 1\n  from old 1\n  to   new 1\n' +
        'All were read again, and are equal. What was written to the source since is not in the target.\n' +
        'New animals get ids greater than 3.\n',
    );
    expect(await target.pets.list({ limit: 9 })).to.deep.equal(await old.pets.list({ limit: 9 }));
    expect(await target.apiKeys.list()).to.deep.equal(await old.apiKeys.list());

    const claims = { limit: 9, now: 0 };
    expect(await target.transfer.readClaims(claims)).to.deep.equal(
      await old.transfer.readClaims(claims),
    );
  });

  it('prints the result as one line of JSON with --json, ids exact to the digit', async () => {
    await old.transfer.reserveIds(2n ** 53n + 1n);
    const { out } = await copy(`${LINE} --json`);

    expect(out).to.match(/^\{[^\n]*"lastId":9007199254740993[^\n]*\}\n$/);
    expect(JSON.parse(out)).to.include({
      from: 'old 1',
      to: 'new 1',
      pets: 3,
      claims: 3,
      apiKeys: 1,
    });
  });

  it('opens an existing source only, ignores STORE_URL, and notes what stores say', async () => {
    const [from, to] = shelves();
    const io = new TestIo({ STORE_URL: 'nonsense' });

    expect(await run(LINE.split(' '), io.io, [from.module, to.module])).to.equal(0);
    expect([from.opened[0]?.mode, to.opened[0]?.mode]).to.deep.equal(['read', 'create']);

    to.opened[0]?.onNotice?.('made the collection pets');
    expect(io.err).to.match(/^--to: made the collection pets$/m);
  });

  for (const [what, line, message] of [
    [
      'memory as the source',
      'copy --from memory: --to new:',
      'A store in memory belongs to its service',
    ],
    [
      'memory as the target',
      'copy --from old: --to memory:',
      'A store in memory belongs to its service',
    ],
    [
      'an unknown scheme',
      'copy --from old: --to attic:',
      '\n  --to must start with the scheme of a store: ',
    ],
    [
      'no scheme',
      'copy --from old.db --to new:',
      '\n  --from must start with the scheme of a store: ',
    ],
    [
      'one store by two names',
      'copy --from old: --to old:',
      '--from and --to name the same store.',
    ],
  ] as const) {
    it(`refuses ${what} with 2, and writes nothing`, async () => {
      const { code, out, err } = await copy(line);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.include(message);
      expect(await target.transfer.survey()).to.include({ pets: 0 });
    });
  }

  it('refuses with 2 a target that is not empty, with 1 a source that is unfinished', async () => {
    await target.transfer.reserveIds(1n);
    const full = await copy();

    expect(full).to.deep.include({ code: 2, out: '' });
    expect(full.err).to.match(/^The target is not empty, or has assigned ids before: [^\n]+\n$/);

    await old.transfer.markUnfinished(true);
    const part = await copy();

    expect(part).to.deep.include({ code: 1, out: '' });
    expect(part.err).to.match(/^The source is itself a copy that has not finished/);
  });

  it('says every five seconds how far it is, and once why it failed', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    const failing = withTransfer({
      async writeClaims() {
        mock.timers.tick(5000);
        throw new UnavailableError('writing claims', { cause: new Error('disk is full') });
      },
    });
    const { code, out, err, closed } = await copy(LINE, shelves(failing)).finally(() =>
      mock.timers.reset(),
    );

    expect({ code, out, closed }).to.deep.equal({ code: 1, out: '', closed: [1, 1] });

    const why = 'The store is not available (writing claims). disk is full';
    expect(err).to.equal(`3 animals copied or compared\n${why}\n`);
  });

  it('stops in order at a signal, with 130', async () => {
    const io = new TestIo();
    const writePets: CatalogueTransfer['writePets'] = (_, call) =>
      new Promise((_resolve, reject) => {
        call?.signal?.addEventListener('abort', () => reject(call.signal?.reason as Error));
        io.emit('SIGINT', 'SIGINT');
      });
    const [from, to] = shelves(withTransfer({ writePets }));

    expect(await run(LINE.split(' '), io.io, [from.module, to.module])).to.equal(130);
    expect([from.closed, to.closed]).to.deep.equal([1, 1]);
    expect(io.err).to.match(/^Interrupted by SIGINT\.\n$/);
  });
});

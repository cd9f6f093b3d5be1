import { expect } from 'chai';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import type {
  ApiKeyRecord,
  ApiKeyRepository,
} from '../../../src/application/ports/api-key-repository.js';
import { SCOPES } from '../../../src/application/ports/authenticator.js';
import { run } from '../../../src/bootstrap/commands/run.js';
import { Shelf, TestIo, changed, runLine, type Outcome } from '../test-io.js';
import { TOKENS, type Adapter, type Wiring } from '../../../src/bootstrap/service/wiring.js';

const KEY = /^ast_live_(\w{8})_\w{43}_\w{6}\n$/;

describe('The commands for keys', () => {
  let apiKeys: ApiKeyRepository;
  let shelf: Shelf;
  let now: Date;
  beforeEach(() => {
    ({ apiKeys } = openMemoryStore());
    shelf = new Shelf({ apiKeys });
    now = new Date('2026-11-22T12:00:00Z');
  });

  const modules = (): Adapter[] => [
    shelf.module,
    ({ replace }: Wiring) => replace(TOKENS.clock, { now: () => now }),
  ];
  const keys = (line: string, env: Record<string, string> = {}): Promise<Outcome> =>
    runLine(`keys ${line}`, { STORE_URL: 'shelf:', ...env }, modules());

  /** Issues a key and returns its id. */
  async function issued(options = ''): Promise<string> {
    const { out } = await keys(`issue --name till${options}`);
    return KEY.exec(out)?.[1] ?? '';
  }

  describe('issue', () => {
    it('prints the key alone, and notes what it may do and how long', async () => {
      const { code, out, err } = await keys('issue --name till');
      expect(code, err).to.equal(0);

      const [key, id = ''] = KEY.exec(out) ?? [];
      expect(err).to.equal(
        `Issued key ${id} (till) in shelf 1 with pets:read, pets:write, pets:delete. End: never\n`,
      );
      expect(err).to.not.include(key?.trim());
      expect(shelf.closed, 'times that the store was closed').to.equal(1);
    });

    it('takes scopes, and a lifetime by its clock', async () => {
      const { err } = await keys('issue --name till --scope pets:read --expires 90d');
      expect(err).to.match(/with pets:read\. End: 2027-02-20T12:00:00\.000Z\n$/);
    });

    it('prints all but the hash as JSON with --json, as list does', async () => {
      const { key, id, ...rest } = JSON.parse((await keys('issue --name till --json')).out) as {
        key: string;
        id: string;
      };
      expect(key).to.include(`_${id}_`);
      expect(rest).to.deep.equal({
        name: 'till',
        scopes: ['pets:read', 'pets:write', 'pets:delete'],
        createdAt: now.toISOString(),
        state: 'active',
      });

      const listed = JSON.parse((await keys('list --json')).out) as unknown;
      expect(listed).to.deep.equal([{ id, ...rest }]);
    });
  });

  it('revoke a key whose text could not be written, and end with 1', async () => {
    const io = new TestIo({ STORE_URL: 'shelf:' });
    io.fullDisk = new Error('ENOSPC: no space left on device, write');

    expect(await run(['keys', 'issue', '--name', 'till'], io.io, modules())).to.equal(1);

    const { id, state } = JSON.parse((await keys('list --json')).out)[0] as Record<string, string>;
    expect(state).to.equal('revoked');
    expect(io.err).to.equal(
      `Key ${id} was revoked, because nobody has seen it: issue one with keys issue. ` +
        'Standard output cannot be written. ENOSPC: no space left on device, write\n',
    );
  });

  it('name a key that nobody has seen and that could not be revoked', async () => {
    const failing = changed(apiKeys, { revoke: () => Promise.reject(new Error('unreachable')) });
    shelf = new Shelf({ apiKeys: failing });
    const io = new TestIo({ STORE_URL: 'shelf:' });
    io.fullDisk = new Error('ENOSPC');

    expect(await run(['keys', 'issue', '--name', 'till'], io.io, modules())).to.equal(1);

    const [record] = await apiKeys.list();
    expect(io.err).to.match(
      new RegExp(
        `^Key ${record?.id} is valid, though nobody has seen it: revoke it with keys revoke\\.`,
      ),
    );
  });

  describe('list', () => {
    it('prints aligned columns, oldest key first, and the first end of each', async () => {
      const first = await issued(' --expires 90d');
      await keys(`revoke ${first} --after 100d`);
      now = new Date(now.getTime() + 1);
      const second = await issued(' --scope pets:read --expires 90d');
      await keys(`revoke ${second} --after 1h`);
      const all = SCOPES.join(',');
      const column = (text: string): string => text.padEnd(all.length);

      const { out } = await keys('list');

      expect(out).to.equal(
        [
          `ID        STATE    CREATED                   ENDS                      ${column('SCOPES')}  NAME`,
          `${first}  active   2026-11-22T12:00:00.000Z  2027-02-20T12:00:00.000Z  ${all}  till`,
          `${second}  active   2026-11-22T12:00:00.001Z  2026-11-22T13:00:00.001Z  ${column('pets:read')}  till`,
          '',
        ].join('\n'),
      );
    });

    it('shows names and scopes that a terminal would obey with U+FFFD', async () => {
      const record: ApiKeyRecord = {
        id: 'x',
        name: 'a\u001b[2J\nb\u202e',
        hash: '',
        scopes: ['\u0007'],
        createdAt: now.getTime(),
      };
      await apiKeys.add(record);
      const [, line] = (await keys('list')).out.split('\n');

      const scopes = '\ufffd'.padEnd(SCOPES.join(',').length);
      expect(line).to.match(new RegExp(` {2}${scopes} {2}a\ufffd\\[2J\ufffdb\ufffd$`));
    });
  });

  it('revoke a key at once, or later with --after, and say when, as list does', async () => {
    for (const [options, end] of [
      ['', '2026-11-22T12:00:00.000Z'],
      [' --after 24h', '2026-11-23T12:00:00.000Z'],
    ] as const) {
      const id = await issued();
      const err = `Revoked key ${id} (till). End: ${end}\n`;
      expect(await keys(`revoke ${id}${options}`)).to.deep.equal({ code: 0, out: '', err });
      expect((await keys('list')).out).to.match(new RegExp(`^${id} .*  ${end}  pets:read`, 'm'));
    }
  });

  it('open an existing store only, unless they issue a key, and always close it', async () => {
    for (const line of ['issue --name a', 'list', 'revoke nosuchid']) await keys(line);
    expect(shelf.opened.map((options) => options?.mode)).to.deep.equal([
      'create',
      'read',
      'existing',
    ]);
    expect(shelf.closed, 'times that the store was closed').to.equal(3);
  });

  it('end with 1 and one line at an unknown id, without repeating it', async () => {
    const err = 'No API key has this id.\n';
    expect(await keys('revoke nosuchid')).to.deep.equal({ code: 1, out: '', err });
  });

  it('say why they cannot reach keys in memory, or of a store that keeps none', async () => {
    const memory = await keys('list', { STORE_URL: 'memory:' });
    expect(memory).to.include({ code: 2, out: '' });
    expect(memory.err).to.equal(
      'A store in memory belongs to its service: no command can reach it.\n',
    );

    const without = new Shelf({ apiKeys: undefined }, 'none');
    expect(await runLine('keys list', { STORE_URL: 'none:' }, [without.module])).to.deep.equal({
      code: 2,
      out: '',
      err: 'This store keeps no API keys. Use API_KEYS.\n',
    });
    expect(without.closed, 'times that the store was closed').to.equal(1);
  });
});

import { expect } from 'chai';
import { ApiKeyAuthenticator } from '../../src/adapters/api-keys/index.js';
import { runLine } from './fake-process.js';
import { Shelf } from './shelf.js';

describe('keys', () => {
  let shelf: Shelf;

  beforeEach(() => {
    shelf = new Shelf();
  });

  /** What the key of a command's output may do, or why it is refused. */
  async function rightsOf(out: string) {
    const authenticator = new ApiKeyAuthenticator({ apiKeys: shelf.data.apiKeys });
    const result = await authenticator.authenticate(out.trimEnd());
    return result.ok ? [...result.principal.scopes] : result.reason;
  }

  it('issue prints a key that works, alone on stdout, and its id on stderr', async () => {
    const { code, out, err } = await shelf.run('keys issue --name shop');

    expect(out).to.match(/^ast_live_\w+\n$/);
    expect(err).to.match(
      /^Issued key \w{8} \(shop\) in shelf 1 with pets:read, pets:write, pets:delete\. End: never\n$/,
    );
    expect(code).to.equal(0);
    expect(await rightsOf(out)).to.deep.equal(['pets:read', 'pets:write', 'pets:delete']);
    expect(shelf.modes).to.deep.equal(['create']);
    expect(shelf.closed).to.equal(1);
  });

  it('issue gives a key the requested scopes and expiry', async () => {
    const { out } = await shelf.run(
      'keys issue --name n --scope pets:delete,pets:read --expires 90d',
    );

    expect(await rightsOf(out)).to.deep.equal(['pets:read', 'pets:delete']);
    const [record] = await shelf.data.apiKeys.list();
    expect((record?.expiresAt ?? 0) - (record?.createdAt ?? 0)).to.be.closeTo(
      90 * 86_400_000,
      1000,
    );
  });

  const wrong: ReadonlyArray<readonly [options: string, says: RegExp]> = [
    ['', /required option '--name <name>'/],
    ['--name --scope=pets:read', /--name.* needs a value/],
    ['--name n --scope pets:red', /scopes must be one or more of pets:read, pets:write/],
    ['--name n --scope=', /scopes must be one or more of/],
    ['--name n --expires 0', /--expires.* must be a duration with its unit .*, from 1ms to 36500d/],
    ['--name \u202e', /name must be 1 to 100 characters/],
    ['--name n --scop pets:read', /Did you mean --scope\?/],
  ];
  for (const [options, says] of wrong)
    it(`issue refuses "${options}" and issues nothing`, async () => {
      const { code, out, err } = await shelf.run(`keys issue ${options}`.trimEnd());

      expect(err).to.match(says);
      expect(code).to.equal(2);
      expect(out).to.equal('');
      expect(await shelf.data.apiKeys.list()).to.deep.equal([]);
    });

  it('list shows every key without its hash, as a table or as JSON', async () => {
    await shelf.run('keys issue --name shop --scope pets:read');
    await shelf.run('keys issue --name stock --expires 1d');
    const [shop, stock] = await shelf.data.apiKeys.list();
    await shelf.run(`keys revoke ${shop?.id}`);

    const { out } = await shelf.run('keys list');
    const lines = out.split('\n');
    expect(lines[0]).to.match(/^ID +STATE +CREATED +ENDS +NAME$/);
    expect(lines[1]).to.match(new RegExp(`^${shop?.id}  revoked  .*Z  shop \\(pets:read\\)$`));
    expect(lines[2]).to.match(new RegExp(`^${stock?.id}  active   .*Z  stock \\(pets:read, `));
    const json = (await shelf.run('keys list --json')).out;
    expect(JSON.parse(json)).to.have.lengthOf(2);
    expect(out + json).not.to.include(stock?.hash);
  });

  it('revoke revokes a key at once, and never quotes its argument in an error', async () => {
    const { out } = await shelf.run('keys issue --name shop');
    const [record] = await shelf.data.apiKeys.list();

    expect((await shelf.run(`keys revoke ${record?.id}`)).err).to.equal(
      `Revoked key ${record?.id} (shop).\n`,
    );
    expect(await rightsOf(out)).to.equal('revoked');
    const { code, err } = await shelf.run(`keys revoke ${out.trimEnd()}`);
    expect(err).to.equal('No API key has this id: see keys list.\n');
    expect(code).to.equal(2);
  });

  it('list names API_KEYS if the store keeps no keys', async () => {
    const keyless = new Shelf({ apiKeys: undefined });
    const { code, err } = await keyless.run('keys list');

    expect(err).to.match(/keeps no API keys. Use API_KEYS/);
    expect(code).to.equal(2);
  });

  it('issue names the known schemes when STORE_URL has another one', async () => {
    expect((await runLine('keys issue --name n', { STORE_URL: 'shelf:1' })).err).to.match(
      /STORE_URL.* must start with the scheme of a store: memory:, sqlite:, mongodb:, mongodb\+srv:/,
    );
  });
});

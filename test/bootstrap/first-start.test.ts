import { expect } from 'chai';
import { ManagedApiKeys } from '../../src/adapters/api-keys/managed-api-keys.js';
import { MemoryApiKeyRepository } from '../../src/adapters/memory/memory-api-key-repository.js';
import { NoKeyError, firstKey, firstKeyNotice } from '../../src/bootstrap/first-start.js';
import { readSettings, type Settings } from '../../src/bootstrap/settings.js';

const LOCAL = readSettings({});
const PUBLIC = readSettings({ HOST: '0.0.0.0' });

/** What a start says that is refused, having made no key. */
async function refusal(settings: Settings, keys: ManagedApiKeys | undefined): Promise<string> {
  const error = await firstKey(settings, keys).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof NoKeyError)) throw new Error('the start was not refused', { cause: error });
  expect((await keys?.list()) ?? []).to.deep.equal([]);
  return error.message;
}

describe('A first start', () => {
  let managed: ManagedApiKeys;
  beforeEach(() => {
    managed = new ManagedApiKeys({ keys: new MemoryApiKeyRepository(), environment: 'test' });
  });

  it('makes one key, with every scope and for ever, where only this machine reaches the service', async () => {
    const key = await firstKey(LOCAL, managed);
    expect(key).to.match(/^ast_test_/);
    const [record, ...others] = await managed.list();
    expect(others).to.deep.equal([]);
    expect(record).to.include({ name: 'first start', state: 'active' });
    expect(record?.expiresAt).to.equal(undefined);
    expect(record?.scopes).to.deep.equal(['pets:read', 'pets:write']);
  });

  it('makes no second key', async () => {
    await firstKey(LOCAL, managed);
    expect(await firstKey(LOCAL, managed)).to.equal(undefined);
    expect(await managed.list()).to.have.length(1);
  });

  it('makes none when keys are set, on any host', async () => {
    for (const HOST of ['127.0.0.1', '0.0.0.0']) {
      expect(await firstKey(readSettings({ HOST, API_KEY: 'one' }), managed)).to.equal(undefined);
      expect(await firstKey(readSettings({ HOST, API_KEY: 'one' }), undefined)).to.equal(undefined);
    }
    expect(await managed.list()).to.deep.equal([]);
  });

  it('makes none when the store has one, be it revoked: whoever revoked it wanted nobody in', async () => {
    const { record } = await managed.issue({ name: 'shop' });
    expect(await firstKey(PUBLIC, managed)).to.equal(undefined);
    await managed.revoke(record.id);
    expect(await firstKey(LOCAL, managed)).to.equal(undefined);
    expect(await firstKey(PUBLIC, managed)).to.equal(undefined);
  });

  it('warns when there are keys and none of them is good', async () => {
    const warnings: string[] = [];
    const { record } = await managed.issue({ name: 'shop' });
    await firstKey(LOCAL, managed, (message) => warnings.push(message));
    expect(warnings).to.deep.equal([]);
    await managed.revoke(record.id);
    await firstKey(LOCAL, managed, (message) => warnings.push(message));
    expect(warnings).to.deep.equal(['every API key is expired or revoked']);
  });

  it('is refused where others reach the service, naming the command that makes a key', async () => {
    expect(await refusal(PUBLIC, managed)).to.include('npm run -s cli -- keys issue --name NAME');
  });

  it('is refused for a memory store where others reach it, naming what does help', async () => {
    const settings = readSettings({ HOST: '0.0.0.0', STORE_URL: 'memory:' });
    expect(await refusal(settings, managed))
      .to.include('set API_KEYS')
      .and.not.to.include('keys issue');
  });

  it('is refused on any host with a store that keeps no keys', async () => {
    for (const settings of [LOCAL, PUBLIC]) {
      expect(await refusal(settings, undefined)).to.equal(
        'This store keeps no API keys, and none is set: set API_KEYS.',
      );
    }
  });

  it('tells the key on a line of its own, and lines to paste', () => {
    const service = { url: 'http://127.0.0.1:8080/v1', docsUrl: 'http://127.0.0.1:8080/docs' };
    const lines = firstKeyNotice('ast_test_key', service).split('\n');
    expect(lines).to.include('  ast_test_key');
    expect(lines.filter((line) => line.startsWith('  curl '))).to.deep.equal([
      `  curl http://127.0.0.1:8080/v1/pets -H 'Authorization: Bearer ast_test_key' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":1}'`,
      "  curl http://127.0.0.1:8080/v1/pets -H 'Authorization: Bearer ast_test_key'",
    ]);
    expect(lines).to.include('Or try it in a browser: http://127.0.0.1:8080/docs');
    expect(lines.at(-1)).to.equal('');
  });
});

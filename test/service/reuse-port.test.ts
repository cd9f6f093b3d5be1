import { expect } from 'chai';
import { join } from 'node:path';
import { KEY, runLine } from '../bootstrap/test-io.js';
import { cleanUp, program, startedService, temporaryFolder } from './running-service.js';
import { StoreClient } from './store-client.js';
import { until } from '../until.js';

const onLinux = process.platform === 'linux' ? it : it.skip;

describe('Services with REUSE_PORT=on', function () {
  this.timeout(60_000);
  afterEach(cleanUp);

  onLinux('share a port and a store, and each can stop and start while the other goes on', async () => {
    const STORE_URL = `sqlite:${join(temporaryFolder(), 'animals.db')}`;
    const settings = { STORE_URL, REUSE_PORT: 'on', LOG_FORMAT: 'json' };
    const start = async (PORT: string) => startedService('.', { ...settings, PORT });
    const first = await start('0');
    const { port } = new URL(first.url);
    const services = [first, await start(port)];
    const added: string[] = [];
    const add = async () => added.push(await new StoreClient(KEY, false).add(first.url, `${added.length}`));
    const served = (index: number) => services[index]?.child.err.includes('"status":201') === true;
    await until('both serve', async () => {
      await add();
      return served(0) && served(1);
    });
    for (const index of [0, 1]) {
      expect((await services[index]?.child.stop())?.code).to.equal(0);
      await add();
      services[index] = await start(port);
    }
    expect([...(await new StoreClient(KEY, false).all(first.url)).keys()]).to.have.members(added);
  });

  it('are refused with a store of one process', async () => {
    const settings = { REUSE_PORT: 'on', STORE_URL: 'memory:', API_KEYS: KEY };
    expect(await runLine('serve', settings)).to.include({
      code: 2,
      err: 'Invalid settings:\n  REUSE_PORT must be off: processes cannot share the store of STORE_URL\n',
    });
  });

  it('issue one key when they start for the first time at once', async () => {
    const folder = temporaryFolder();
    const settings = { PORT: '0', STORE_URL: 'sqlite:animals.db', LOG_FORMAT: 'json' };
    const children = [1, 2, 3].map(() => program(folder, ['serve'], settings));
    const url = (await Promise.all(children.map((child) => child.ready())))[0] ?? '';
    const keys = children.flatMap(({ out }) => /ast_live_\w+/.exec(out) ?? []);
    expect(keys).to.have.length(1);
    await new StoreClient(keys[0] ?? '', false).add(url, 'Bella');
  });
});

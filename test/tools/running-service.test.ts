import { expect } from 'chai';
import { setTimeout } from 'node:timers/promises';
import { Child, cleanUp, temporaryFolder } from '../service/running-service.js';

/** Starts the service as a test does, and says its address on stderr. */
const TEST = `
  const { startedService } = await import('${new URL('../service/running-service.js', import.meta.url).href}');
  const { url } = await startedService(process.cwd(), { STORE_URL: 'memory:' });
  console.error('started', url);`;

describe('A run of tests', () => {
  afterEach(cleanUp);

  it('leaves none of its services running when it is killed', async () => {
    const folder = temporaryFolder();
    const tests = new Child(process.execPath, ['--input-type=module', '-e', TEST], folder, {});
    const [, url = ''] = await tests.said(/started (\S+)/);
    const isServing = () =>
      fetch(new URL('/livez', url)).then(
        ({ ok }) => ok,
        () => false,
      );
    expect(await isServing(), 'whether it serves').to.equal(true);
    process.kill(Number(tests.process.pid), 'SIGKILL'); // it alone, not what it has started
    while (await isServing()) await setTimeout(20);
  });
});

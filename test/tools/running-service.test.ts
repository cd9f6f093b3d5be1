import { expect } from 'chai';
import { Child, cleanUp, temporaryFolder } from '../service/running-service.js';
import { until } from '../until.js';

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
    const isRefused = async (): Promise<boolean> => {
      try {
        await fetch(new URL('/livez', url));
        return false;
      } catch {
        return true;
      }
    };
    expect(await isRefused(), 'whether its port is closed at first').to.equal(false);

    process.kill(Number(tests.process.pid), 'SIGKILL'); // it alone, not what it has started

    await until('the service that the test has started is gone', isRefused, 15_000);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Service } from '../../src/bootstrap/service.js';
import { KEY, startAnimalService } from '../adapters/http/client/client-subject.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/client.mjs', import.meta.url));

describe('The example of the client', () => {
  let service: Service;
  before(async () => {
    service = await startAnimalService('memory:');
  });
  after(() => service.stop());

  async function run(input: string, key = KEY): Promise<{ code: unknown; out: string[]; err: string }> {
    const child = spawn(process.execPath, [EXAMPLE], {
      env: { ...process.env, BASE_URL: service.url, API_KEY: key },
      stdio: 'pipe',
    });
    child.stdin.end(input);
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code, out: out.split('\n'), err };
  }

  it('adds what it is given, once, and lists it', async () => {
    const lines = 'Bella 1\nZoë the 2nd 9223372036854775807\n';
    const bella = '{"id":1,"name":"Bella","categoryId":1,"status":"available"}';
    const zoe = '{"id":2,"name":"Zoë the 2nd","categoryId":9223372036854775807,"status":"available"}';
    expect(await run(lines)).to.deep.equal({
      code: 0,
      out: [`added ${bella}`, `added ${zoe}`, bella, zoe, ''],
      err: '',
    });
    expect((await run(lines)).out).to.deep.equal([`was there ${bella}`, `was there ${zoe}`, bella, zoe, '']);
  });

  it('says what is wrong, and ends with 1', async () => {
    const refused = await run('', 'another-key');
    expect(refused.code).to.equal(1);
    expect(refused.err).to.match(/^invalid_api_key The API key is not valid\. \(request [0-9a-f-]{36}\)\n$/);
    const tooLarge = await run('Bella 9223372036854775808\n');
    expect(tooLarge.err).to.match(/^invalid_pet .*categoryId must be/);
    expect(await run('Bella\n')).to.deep.include({
      code: 1,
      err: 'TypeError: not a name and a category: Bella\n',
    });
  });
});

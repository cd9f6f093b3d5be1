import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect } from 'chai';
import { Program, runProgram } from './program.js';

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  return port;
}

describe('STORE_URL=mongodb://...', () => {
  let folder: string;
  let program: Program | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'animal-store-mongodb-'));
  });
  afterEach(async () => {
    await program?.stop('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  for (const API_KEYS of ['a-key-of-16-characters', '']) {
    it(`starts ${API_KEYS ? 'with' : 'without'} a static key while the database is away: alive, not ready, 503`, async () => {
      const STORE_URL = `mongodb://me:hunter2@127.0.0.1:${await freePort()}/animals`;
      program = new Program(['serve'], {
        folder,
        environment: { PORT: '0', LOG_FORMAT: 'json', REQUEST_DEADLINE: '500ms', STORE_URL, API_KEYS },
      });
      const url = await program.ready();
      const [livez, readyz] = await Promise.all([
        fetch(new URL('/livez', url)),
        fetch(new URL('/readyz', url)),
      ]);
      expect([livez.status, readyz.status]).to.deep.equal([200, 503]);
      const began = performance.now();
      const answer = await fetch(`${url}/pets`, {
        headers: { Authorization: `Bearer ${API_KEYS || 'ast_live_x'}` },
      });
      if (API_KEYS) {
        expect(answer.status).to.equal(503);
        expect(await answer.json()).to.include({ code: 'service_unavailable', status: 503 });
        expect(performance.now() - began).to.be.below(6000);
      } else {
        expect(answer.status).to.equal(401);
      }
      const { code, out, err } = await program.stop();
      expect({ code, out }).to.deep.equal({ code: 0, out: '' });
      expect(err).to.include('store: the database is not prepared yet').and.include('ECONNREFUSED');
      expect(err).to.not.include('hunter2');
    });
  }

  for (const [what, url] of [
    ['has a host that is none', 'mongodb://me:hunter2@host:port/animals'],
    ['has an option that is none', 'mongodb://me:hunter2@host/animals?color=hunter2'],
    ['names no possible database', 'mongodb://me:hunter2@host/a.b'],
  ] as const) {
    it(`is a wrong setting, told in one line without the password, when it ${what}`, async () => {
      const environment = { PORT: '0', LOG_FORMAT: 'json', STORE_URL: url };
      const { code, out, err } = await runProgram(['serve'], { folder, environment });
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.match(/^These settings cannot be used:\n {2}STORE_URL [^\n]+\n$/);
      expect(err).to.not.include('hunter2');
    });
  }
});

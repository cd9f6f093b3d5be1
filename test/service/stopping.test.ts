import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { until } from '../until.js';
import { RawConnection, untilRefused } from '../adapters/http/node/raw-connection.js';
import {
  PACKAGE,
  cleanUp,
  program,
  shellLine,
  startedService,
  temporaryFolder,
} from './running-service.js';
import { KEY, Serving } from '../bootstrap/test-io.js';
import { StoreClient, statusOf } from './store-client.js';
import { AdmissionControl } from '../../src/adapters/http/node/index.js';
import { TOKENS, type Wiring } from '../../src/bootstrap/service/wiring.js';

const REX = '{"name":"Rex","categoryId":1}';

/** Begins to add an animal without the end of its body; resolves when the service waits for it. */
async function beginAdding(url: string): Promise<RawConnection> {
  const lines = [
    'POST /v1/pets HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${KEY}`,
    'Expect: 100-continue',
  ];
  const sent = [...lines, `Content-Length: ${REX.length}`, '', ''].join('\r\n');
  const connection = await RawConnection.open(Number(new URL(url).port), sent);
  await connection.until((received) => received.includes('100 Continue'));
  connection.send(REX.slice(0, -5));
  return connection;
}

/** Refuses no request because it waits, as it does while the machine pauses. */
const patient = ({ replace }: Wiring): void =>
  replace(TOKENS.admission, new AdmissionControl({ maxWait: Infinity }));

const messages = (log: string): string[] =>
  Array.from(log.matchAll(/"msg":"(.*?)"/g), ([, msg = '']) => msg);

describe('The program, told to stop', () => {
  afterEach(async () => {
    await RawConnection.closeAll();
    await cleanUp();
  });

  it('counts signals within a millisecond once, and finishes the request in flight', async () => {
    const folder = temporaryFolder();
    const { child, url } = await startedService(folder);
    const adding = await beginAdding(url);
    child.signal('SIGSTOP'); // so that they arrive together
    child.signal('SIGINT');
    child.signal('SIGINT');
    child.signal('SIGTERM'); // two of the same may arrive as one
    child.signal('SIGCONT');
    await child.said(/stopping on SIG/);
    // Only then do responses close their connections.
    await untilRefused(Number(new URL(url).port));
    adding.send(REX.slice(-5));
    const [response, ...more] = await adding.allResponses();

    expect([response?.status, response?.headers.get('connection'), more]).to.deep.equal([
      201,
      'close',
      [],
    ]);

    const { code, err } = await child.ended;
    expect(code, err).to.equal(0);
    expect(messages(err).slice(-2)).to.deep.equal(['responded', 'stopped']);

    const store = await openSqliteStore(join(folder, 'data/animal-store.db'));
    expect((await store.pets.list({ limit: 9 })).map(({ name }) => name)).to.deep.equal(['Rex']);

    await store.close();
  });

  it('loses no request of keep-alive clients over a rolling restart', async () => {
    const file = join(temporaryFolder(), 'animals.db');
    const settings = { STORE_URL: `sqlite:${file}`, API_KEYS: KEY, DRAIN_DELAY: '500ms' };
    const start = async () => {
      const service = new Serving(settings, patient);
      return { service, url: await service.ready() };
    };
    let current = await start();
    const over = new AbortController();
    const acknowledged: string[] = [];
    const work = async (worker: number): Promise<void> => {
      const client = new StoreClient(KEY);
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        const { url } = current;
        if (turn % 2 === 0) acknowledged.push(await client.add(url, `${worker}-${turn}`));
        else expect(await client.get(`${url}/pets?limit=1`)).to.include({ status: 200 });
      }
      client.close();
    };
    const workers = Promise.all(Array.from({ length: 10 }, (_, worker) => work(worker)));
    const restart = async (): Promise<void> => {
      const old = current;
      const next = await start();
      const stopped = old.service.stop();
      // Like a load balancer: sends requests elsewhere when this one is not ready. It asks now and then only.
      const asked = delay(100);
      const readyz = new URL('/readyz', old.url).href;
      while ((await statusOf(readyz)) === 200);
      await asked;
      current = next;
      expect(await stopped, old.service.io.err).to.equal(0);
    };
    const busy = until('they add', async () => acknowledged.length > 20);
    await Promise.race([busy.then(restart), workers]); // a fault of a worker ends the race
    over.abort();
    await workers;
    const animals = await new StoreClient(KEY, false).all(current.url);

    expect([...animals.keys()]).to.have.members(acknowledged);
  });

  it('keeps serving when nobody reads its log or its output any more', async () => {
    const { child, url } = await startedService(temporaryFolder());
    child.process.stderr.destroy();
    for (let turn = 0; turn < 20; turn += 1)
      expect(await statusOf(`${url}/pets`, KEY), `${url}/pets`).to.equal(200);

    expect(await child.stop()).to.include({ code: 0 });

    const next = await startedService(temporaryFolder());
    next.child.process.stderr.destroy();

    expect(await next.child.stop()).to.include({ code: 0 }); // before anything was written in vain

    const issuing = program(temporaryFolder(), ['keys', 'issue', '--name', 'till']);
    issuing.process.stderr.destroy();

    expect(await issuing.ended).to.include({ code: 0 });

    const help = await shellLine(PACKAGE, '"$NODE" "$MAIN" serve --help | head -1').ended;
    const out = 'Usage: animal-store serve [options]\n';

    expect(help).to.deep.include({ code: 0, err: '', out });
  });

  const python = spawnSync('python3', ['-c', 'import pty']).status === 0;
  const onTerminal = `ends npm start with 0 by one Ctrl-C in a terminal${python ? '' : ' (pending: no python3 here)'}`;
  (python ? it : it.skip)(onTerminal, async () => {
    const STORE_URL = `sqlite:${join(temporaryFolder(), 'animals.db')}`;
    const settings = { TERMINAL, PORT: '0', API_KEYS: KEY, STORE_URL };
    const { code, out } = await shellLine(PACKAGE, 'exec python3 -c "$TERMINAL"', settings).ended;
    expect(out.match(/stopping on SIGINT/g), out).to.have.length(1);
    expect(out.match(/stopped\b/g), out).to.have.length(1);
    expect(code, out).to.equal(0);
  });
});

/** Runs npm start in a terminal, presses Ctrl-C when the service is ready, and ends as npm does. */
const TERMINAL = `
import os, pty, sys
shown = b''
def read(terminal):
    global shown
    part = os.read(terminal, 4096)
    if b'ready at' in shown + part and b'ready at' not in shown:
        os.write(terminal, b'\\x03')
    shown += part
    return part
sys.exit(os.waitstatus_to_exitcode(pty.spawn(['npm', 'start', '--silent'], read)))
`;

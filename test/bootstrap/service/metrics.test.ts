import { expect } from 'chai';
import type { Container } from 'inversify';
import { ok, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { openMemoryStore } from '../../../src/adapters/memory/open-memory-store.js';
import { BusyError } from '../../../src/adapters/http/admission.js';
import { createContainer } from '../../../src/bootstrap/service/container.js';
import { measure } from '../../../src/bootstrap/service/metrics.js';
import { readSettings } from '../../../src/bootstrap/service/settings.js';
import { IdempotencyKeyReusedError, UnavailableError } from '../../../src/domain/errors.js';
import { unsavedPet } from '../../../src/domain/pet.js';
import { SCOPES } from '../../../src/application/ports/authenticator.js';
import type { Store } from '../../../src/application/ports/store.js';
import { statusOf, untilStatus } from '../../service/store-client.js';
import { KEY, Serving, Shelf, factory } from '../test-io.js';
import { freePort } from '../../lasting-port.js';
import { TOKENS, wiring, type Adapter } from '../../../src/bootstrap/service/wiring.js';

/** The samples of a page, by their name and labels. */
const samplesOf = (page: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    page.split('\n').flatMap((line) => {
      const [, sample, value] = /^([^# ][^ ]*) (.*)$/.exec(line) ?? [];
      return sample === undefined ? [] : [[sample, Number(value)]];
    }),
  );

/** Runs a service with an admin port. Resolves to its address and that of its metrics. */
async function served(settings: Record<string, string> = {}, ...modules: Adapter[]) {
  const given = { STORE_URL: 'memory:', API_KEYS: KEY, ADMIN_PORT: '0', ...settings };
  const serving = new Serving(given, ...modules);
  const url = await serving.ready();
  return { serving, url, metrics: String(serving.io.lines[1]?.['metrics']) };
}

describe('The metrics', () => {
  let container: Container;
  const stops: Array<() => Promise<void>> = [];
  beforeEach(async () => {
    container = await createContainer(readSettings({ STORE_URL: 'memory:' }));
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await Serving.stopAll();
  });

  /** Serves the metrics of the container; returns how to read them. */
  async function measuring() {
    const { url, stop } = await measure(container, 0)();
    stops.push(stop);
    return async () => samplesOf(await (await fetch(url)).text());
  }

  it('count requests, store, keys and deprecated calls, on a port of their own', async () => {
    const { serving, url, metrics } = await served({
      RATE_LIMIT: '8/1h',
      EXPERIMENTAL: 'changePet,removePet',
    });

    expect(metrics).to.match(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);

    const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
    const body = '{"name":"Bella","categoryId":1}';

    expect(await fetch(`${url}/pets`, { method: 'POST', headers, body })).to.include({
      status: 201,
    });

    const sell = { method: 'PATCH', headers, body: '{"status":"sold"}' };
    for (const status of [200, 409])
      expect((await fetch(`${url}/pets/1?from=available`, sell)).status).to.equal(status);

    expect(await fetch(`${url}/pets/9`, { method: 'DELETE', headers })).to.include({ status: 404 });

    for (const [path, key] of [
      ['/pets/1', KEY],
      ['/pets/1', KEY],
      ['/pets/2', KEY],
      ['/pets', KEY],
      ['/pets', KEY],
      ['/pets', 'x'],
    ] as const)
      await statusOf(url + path, key);
    await statusOf(new URL('/livez', url).href);
    const response = await fetch(metrics);

    expect(response.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);

    const page = await response.text();
    expect(samplesOf(page)).to.include({
      'animal_store_requests_total{operation="createPet",status="201"}': 1,
      'animal_store_requests_total{operation="getPet",status="200"}': 2,
      'animal_store_requests_total{operation="getPet",status="404"}': 1,
      'animal_store_requests_total{operation="listPets",status="200"}': 1,
      'animal_store_requests_total{operation="listPets",status="429"}': 1,
      'animal_store_requests_total{operation="changePet",status="409"}': 1,
      'animal_store_requests_total{operation="removePet",status="404"}': 1,
      'animal_store_store_duration_seconds_count{operation="change"}': 2,
      'animal_store_store_duration_seconds_count{operation="remove"}': 1,
      'animal_store_requests_total{operation="probe",status="200"}': 1,
      'animal_store_request_duration_seconds_count{operation="getPet"}': 3,
      'animal_store_requests_refused_total{reason="limited"}': 1,
      animal_store_requests_in_flight: 0,
      'animal_store_key_checks_total{result="valid"}': 9,
      'animal_store_key_checks_total{result="unknown"}': 1,
      'animal_store_store_duration_seconds_count{operation="findById"}': 3,
    });

    const deprecated = page.match(/(?<=^animal_store_deprecated_calls_total)\{.*$/gm) ?? [];
    expect(deprecated.join('\n')).to.match(/^\{operation="getPet",key="static-\w+"\} 3$/);
    expect(page).to.match(/^animal_store_build_info\{version="[\d.]+",node="v[\d.]+"\} 1$/m);
    expect(await statusOf(new URL('/metrics', url).href)).to.equal(404);
    expect(await serving.stop(), serving.io.err).to.equal(0);
  });

  it('are in seconds and bytes, and say how many requests and bytes are held', async () => {
    const samples = await measuring();
    const { pets: inner } = await container.getAsync(TOKENS.store);
    let now = 0;
    mock.method(performance, 'now', () => now);
    mock.method(inner, 'list', async () => {
      now += 2000;
      return [];
    });
    const measured = await container.getAsync(TOKENS.petRepository);
    await measured.list({ limit: 1 }).finally(() => mock.restoreAll());
    const log = await container.getAsync(TOKENS.httpLog);
    for (const milliseconds of [500, 1500])
      log.responded({
        requestId: '',
        method: 'GET',
        path: '/',
        status: 404,
        bytes: 60,
        milliseconds,
      });
    const admission = await container.getAsync(TOKENS.admission);
    const permit = admission.admit();
    admission.countUnsent('till', 7);

    expect(await samples()).to.include({
      'animal_store_request_duration_seconds_sum{operation="none"}': 2,
      animal_store_response_bytes_total: 120,
      'animal_store_store_duration_seconds_sum{operation="list"}': 2,
      animal_store_requests_in_flight: 1,
      animal_store_response_bytes_unread: 7,
    });

    permit.end(0);
    expect(await samples()).to.include({ animal_store_requests_in_flight: 0 });
  });

  it('count as busy only what was refused before any work', async () => {
    const samples = await measuring();
    const log = await container.getAsync(TOKENS.httpLog);
    for (const error of [
      new BusyError('too many'),
      new UnavailableError('answering within the deadline'),
    ]) {
      const request = { requestId: '', method: 'GET', path: '/', bytes: 0, milliseconds: 1 };
      log.responded({ ...request, status: 503, code: 'service_unavailable', error });
    }

    expect(await samples()).to.include({ 'animal_store_requests_refused_total{reason="busy"}': 1 });
  });

  it('count calls of the store that failed, not those that it refused, and change none', async () => {
    const errors = [
      new UnavailableError('reading'),
      new Error('a fault'),
      new IdempotencyKeyReusedError(),
    ];
    let error: unknown;
    const call = mock.fn<(...given: unknown[]) => Promise<never>>(() => Promise.reject(error));
    const calls = { add: call, addOnce: call, findById: call, list: call };
    wiring(container).replace(TOKENS.petRepository, calls);
    wiring(container).replace(TOKENS.petChanges, { change: call, remove: call });
    const samples = await measuring();
    const pets = await container.getAsync(TOKENS.petRepository);
    const changes = await container.getAsync(TOKENS.petChanges);
    const measured = { ...pets, ...changes } as unknown as Record<string, typeof call>;
    for (const operation of [...Object.keys(calls), 'change', 'remove']) {
      for (error of errors)
        await rejects(async () => measured[operation]?.('what', 'with', operation));
      expect(call.mock.calls.at(-1)?.arguments).to.deep.equal(['what', 'with', operation]);
      const failures = `animal_store_store_failures_total{operation="${operation}"}`;
      expect(await samples()).to.include({ [failures]: 2 });
    }
  });

  it('tell whether it is ready, its number of animals, and keys that expire in a week', async () => {
    const samples = await measuring();
    const day = 86_400_000;
    let now = new Date();
    let later = 0;
    mock.method(performance, 'now', () => later);
    wiring(container).replace(TOKENS.clock, { now: () => now });
    const managed = await container.getAsync(TOKENS.managedApiKeys);
    const { pets, transfer } = await container.getAsync(TOKENS.store);
    ok(managed);
    ok(transfer);
    const issue = (days: number) =>
      managed.issue({
        name: 'till',
        scopes: SCOPES,
        expiresAt: new Date(now.getTime() + days * day),
      });
    for (const days of [1, 6, 8, 100]) await issue(days);
    await managed.issue({ name: 'endless', scopes: SCOPES });
    await managed.revoke((await issue(2)).record.id);
    await pets.add(unsavedPet({ name: 'Bella', categoryId: 1n }));

    expect(await samples()).to.include({
      animal_store_ready: 1,
      animal_store_pets: 1,
      animal_store_keys_expiring: 2,
    });

    now = new Date(now.getTime() + 2 * day);
    expect(await samples(), 'two days later').to.include({ animal_store_keys_expiring: 2 });

    (await container.getAsync(TOKENS.readiness)).stop();
    expect(await samples(), 'while it stops').to.include({ animal_store_ready: 0 });

    const survey = mock.method(transfer, 'survey', () => Promise.reject(new Error()));
    later += 59_000;

    expect(await samples(), 'within a minute').to.include({ animal_store_pets: 1 });

    later += 2000;
    const failed = (await samples())['animal_store_pets'];
    mock.restoreAll();

    expect([failed, survey.mock.callCount()], 'when they cannot be counted').to.deep.equal([
      NaN,
      1,
    ]);
  });

  it('are served beside the health checks of their process, and nothing else is', async () => {
    const store = openMemoryStore();
    const checked = new Shelf({ check: () => store.check() });
    const { metrics } = await served({ STORE_URL: 'shelf:' }, checked.module);
    const at = (path: string) => statusOf(new URL(path, metrics).href, KEY);
    for (const path of ['/metrics?x', '/livez', '/readyz'])
      expect(await at(path), path).to.equal(200);
    for (const path of ['/', '/metrics/', '/Metrics', '/v1/pets', '/openapi.json', '/docs']) {
      expect(await at(path), path).to.equal(404);
    }
    const none = await fetch(new URL('/v1/pets', metrics));

    expect(await none.json()).to.include({ code: 'route_not_found', status: 404 });

    const fault = new UnavailableError('reaching the store');
    mock.method(store, 'check', () => Promise.reject(fault));
    await untilStatus(503, new URL('/readyz', metrics).href);

    expect(await at('/livez'), '/livez').to.equal(200);

    const page = samplesOf(await (await fetch(metrics)).text());
    expect(page).to.include({ animal_store_ready: 0 });
  });

  it('are read by GET and HEAD alone, as the health checks beside them', async () => {
    const { metrics } = await served();

    for (const path of ['/metrics', '/livez', '/readyz']) {
      const send = (method: string) => fetch(new URL(path, metrics), { method });

      const head = await send('HEAD');
      expect(head.status, `HEAD ${path}`).to.equal(200);
      expect(await head.text(), `the body of HEAD ${path}`).to.equal('');
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const refused = await send(method);
        expect(refused.status, `${method} ${path}`).to.equal(405);
        expect(refused.headers.get('allow'), `Allow of ${method} ${path}`).to.match(/^GET, HEAD/);
        expect(await refused.json(), `the body of ${method} ${path}`).to.include({
          code: 'method_not_allowed',
          status: 405,
        });
      }
    }
  });

  it('are served only once the service can be asked whether it is ready', async () => {
    const opening = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<Store>();
    const open = () => {
      opening.resolve();
      return opened.promise;
    };
    const ADMIN_PORT = String(await freePort());
    const settings = { STORE_URL: 'shelf:', API_KEYS: KEY, ADMIN_PORT };
    const serving = new Serving(settings, factory('shelf', open));
    await opening.promise;
    const readyz = `http://127.0.0.1:${ADMIN_PORT}/readyz`;

    await rejects(fetch(readyz), { name: 'TypeError' });

    opened.resolve(openMemoryStore());
    await serving.ready();

    expect(await statusOf(readyz), readyz).to.equal(200);
  });
});

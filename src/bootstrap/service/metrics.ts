import type { Container } from 'inversify';
import { randomUUID } from 'node:crypto';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { BusyError } from '../../adapters/http/admission.js';
import { messageOf } from '../../adapters/http/error-codes.js';
import { HttpError, errorResponse } from '../../adapters/http/error-responses.js';
import { splitRequestTarget } from '../../adapters/http/http-message.js';
import { withTimeLimit } from '../../adapters/http/request-timer.js';
import { writeResponse } from '../../adapters/http/node/node-request.js';
import { NodeServer } from '../../adapters/http/node/node-server.js';
import type { CallOptions } from '../../application/animal-store.js';
import type { PetRepository } from '../../application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { isUnavailable } from './logger.js';
import { VERSION } from './node-version.js';
import { addressOf } from './start-service.js';
import { TOKENS, wiring } from './wiring.js';

const WEEK = 7 * 86_400_000;
const READS = 'GET, HEAD';
const NOT_FOUND = new HttpError('route_not_found');
const NOT_ALLOWED = new HttpError(
  'method_not_allowed',
  messageOf('method_not_allowed', { methods: READS }),
  { Allow: READS },
);

/**
 * Measures the service, which must not have started yet. Returns what opens `ADMIN_PORT` once it has: `/metrics` for
 * Prometheus, and the health checks of this process alone, without a key.
 */
export function measure(container: Container, port: number) {
  const registry = instrument(container);
  return async () => {
    const checkHealth = await container.getAsync(TOKENS.requestListener);
    const server = new NodeServer((request, response) => {
      const { path } = splitRequestTarget(request.url ?? '');
      if (path === '/livez' || path === '/readyz') return checkHealth(request, response);
      const refuse = (error: HttpError) =>
        writeResponse(request, response, errorResponse(error, randomUUID()));
      if (path !== '/metrics') return refuse(NOT_FOUND);
      if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(NOT_ALLOWED);
      response.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE);
      registry.metrics().then(
        (text) => response.end(text),
        () => response.destroy(),
      );
    });
    const { host } = container.get(TOKENS.settings);
    const at = await server.listen(port, host);
    return {
      url: `http://${addressOf(host)}:${at}/metrics`,
      stop: async () => void (await server.close(100)),
    };
  };
}

/**
 * Must be called before the container makes the HTTP interface and the store: it decorates them. Labels have few values:
 * operations, statuses and results, and the ids of keys that still call a deprecated operation; never paths or addresses.
 */
function instrument(container: Container): Registry {
  const { decorate } = wiring(container);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const named = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ) => ({
    name: `animal_store_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const counter = <Label extends string>(name: string, help: string, ...labels: Label[]) =>
    new Counter(named(name, help, labels));
  const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
  const seconds = (name: string, help: string) =>
    new Histogram({ ...named(`${name}_seconds`, help, ['operation']), buckets });
  /** A gauge that is read at each scrape. What cannot be read is NaN. */
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      ...named(name, help, []),
      async collect() {
        this.set(await Promise.resolve(read()).catch(() => Number.NaN));
      },
    });
  const build = new Gauge(named('build_info', 'Always 1.', ['version', 'node']));
  build.set({ version: VERSION, node: process.version }, 1);

  gauge('ready', '1 if /readyz is 200, else 0.', async () => {
    const readiness = await container.getAsync(TOKENS.readiness);
    return readiness.check().then(
      () => 1,
      () => 0,
    );
  });
  let pets = Number.NaN;
  let countedAt = -Infinity;
  gauge('pets', 'Animals in the store, counted once a minute.', async () => {
    if (performance.now() - countedAt < 60_000) return pets; // SQLite takes 15 ms for a million
    const { transfer } = await container.getAsync(TOKENS.store);
    pets = await inTime(async (call) => (await transfer?.survey(call))?.pets ?? Number.NaN);
    countedAt = performance.now();
    return pets;
  });
  gauge('keys_expiring', 'Managed API keys that expire within seven days.', async () => {
    const managed = await container.getAsync(TOKENS.managedApiKeys);
    const soon = container.get(TOKENS.clock).now().getTime() + WEEK;
    const keys = await inTime(async (call) => (await managed?.list(call)) ?? []);
    return keys.filter(({ state, expiresAt }) => state === 'active' && Number(expiresAt) < soon)
      .length;
  });

  decorate(TOKENS.admission, (admission) => {
    gauge('requests_in_flight', 'Requests that are worked on.', () => admission.inFlight);
    gauge(
      'response_bytes_unread',
      'Bytes of responses that clients have not taken.',
      () => admission.unsent,
    );
    return admission;
  });

  const requests = counter(
    'requests_total',
    'Responses by operation and status.',
    'operation',
    'status',
  );
  const duration = seconds(
    'request_duration',
    'From the headers of a request to its complete response.',
  );
  const bytes = counter('response_bytes_total', 'Bytes of response bodies.');
  const refused = counter(
    'requests_refused_total',
    'Refused before any work: 503 or 429.',
    'reason',
  );
  const keyChecks = counter('key_checks_total', 'API keys of requests, by validity.', 'result');
  const deprecated = counter(
    'deprecated_calls_total',
    'Calls of deprecated operations.',
    'operation',
    'key',
  );
  decorate(TOKENS.httpLog, (log) => ({
    responded(request) {
      const { status, code, error, keyId, keyFault } = request;
      const operation = request.operation ?? (request.isProbe ? 'probe' : 'none');
      requests.inc({ operation, status });
      duration.observe({ operation }, request.milliseconds / 1000);
      bytes.inc(request.bytes);
      if (request.sunset && keyId !== undefined) deprecated.inc({ operation, key: keyId });
      if (keyId !== undefined || keyFault !== undefined)
        keyChecks.inc({ result: keyFault ?? 'valid' });
      if (code === 'rate_limited') refused.inc({ reason: 'limited' });
      else if (error instanceof BusyError) refused.inc({ reason: 'busy' });
      log.responded(request);
    },
  }));

  const store = seconds('store_duration', 'Calls of the store.');
  const failures = counter('store_failures_total', 'Calls of the store that failed.', 'operation');
  const timed = async <Result>(operation: string, call: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    try {
      return await call();
    } catch (error) {
      if (!isAnimalStoreError(error) || isUnavailable(error)) failures.inc({ operation });
      throw error;
    } finally {
      store.observe({ operation }, (performance.now() - began) / 1000);
    }
  };
  decorate(
    TOKENS.petChanges,
    (changes) =>
      changes && {
        change: (...given) => timed('change', () => changes.change(...given)),
        remove: (...given) => timed('remove', () => changes.remove(...given)),
      },
  );
  decorate(TOKENS.petRepository, (pets): PetRepository => {
    const addOnce = pets.addOnce?.bind(pets);
    return {
      add: (...given) => timed('add', () => pets.add(...given)),
      addOnce: addOnce && ((...given) => timed('add', () => addOnce(...given))),
      findById: (...given) => timed('findById', () => pets.findById(...given)),
      list: (...given) => timed('list', () => pets.list(...given)),
    };
  });
  return registry;
}

/** Bounds a call of the store, which may be unreachable: a scrape must not wait for it. */
function inTime<Result>(work: (call: CallOptions) => Promise<Result>): Promise<Result> {
  return withTimeLimit(1000, work);
}

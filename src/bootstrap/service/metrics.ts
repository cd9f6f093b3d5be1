import type { Container } from 'inversify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { BusyError } from '../../adapters/http/admission.js';
import { messageOf } from '../../adapters/http/error-codes.js';
import { HttpError, errorResponse } from '../../adapters/http/error-responses.js';
import { splitRequestTarget } from '../../adapters/http/http-message.js';
import { withTimeLimit } from '../../adapters/http/request-timer.js';
import { writeResponse } from '../../adapters/http/node/node-request.js';
import { NodeServer } from '../../adapters/http/node/node-server.js';
import type { PetRepository } from '../../application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { isUnavailable } from './errors.js';
import { VERSION } from './node-version.js';
import { addressOf } from './start-service.js';
import { TOKENS, wiring, type Wiring } from './wiring.js';

const WEEK = 7 * 86_400_000;
const READS = 'GET, HEAD';
const NOT_FOUND = new HttpError('route_not_found');
const NOT_ALLOWED = new HttpError(
  'method_not_allowed',
  messageOf('method_not_allowed', { methods: READS }),
  { Allow: READS },
);

/** The open `ADMIN_PORT`. */
export interface AdminPort {
  /** The address of the metrics. */
  readonly url: string;
  stop(this: void): Promise<void>;
}

/**
 * Measures the service, which must not have started yet. Returns what opens `ADMIN_PORT` once it has: `/metrics` for
 * Prometheus, and the health checks of this process alone, without a key.
 */
export function measure(container: Container, port: number): () => Promise<AdminPort> {
  const registry = instrument(container);
  return async () => {
    const checkHealth = await container.getAsync(TOKENS.requestListener);
    const server = new NodeServer((request, response) => {
      const { path } = splitRequestTarget(request.url ?? '');
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (path === '/livez' || path === '/readyz') checkHealth(request, response);
      else if (path !== '/metrics') refuse(request, response, NOT_FOUND);
      else if (!isRead) refuse(request, response, NOT_ALLOWED);
      else void writeMetrics(registry, response);
    });
    const { host } = container.get(TOKENS.settings);
    const boundPort = await server.listen(port, host);
    return {
      url: `http://${addressOf(host)}:${boundPort}/metrics`,
      stop: async () => {
        await server.close(100);
      },
    };
  };
}

function refuse(request: IncomingMessage, response: ServerResponse, error: HttpError): void {
  return writeResponse(request, response, errorResponse(error, randomUUID()));
}

async function writeMetrics(registry: Registry, response: ServerResponse): Promise<void> {
  response.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE);
  try {
    response.end(await registry.metrics());
  } catch {
    response.destroy();
  }
}

/**
 * Must be called before the container makes the HTTP interface and the store: it decorates them. Labels have few values:
 * operations, statuses and results, and the ids of keys that still call a deprecated operation; never paths or addresses.
 */
function instrument(container: Container): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const build = new Gauge(metricOptions(registry, 'build_info', 'Always 1.', ['version', 'node']));
  build.set({ version: VERSION, node: process.version }, 1);
  measureState(registry, container);
  measureRequests(registry, wiring(container));
  measureStore(registry, wiring(container));
  return registry;
}

const metricOptions = (
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[] = [],
) => ({
  name: `animal_store_${name}`,
  help,
  labelNames,
  registers: [registry],
});

const durationHistogram = (registry: Registry, name: string, help: string) =>
  new Histogram({
    ...metricOptions(registry, `${name}_seconds`, help, ['operation']),
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });

/** A gauge that is read at each scrape. What cannot be read is NaN. */
const addGauge = (
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
) =>
  new Gauge({
    ...metricOptions(registry, name, help),
    async collect() {
      try {
        this.set(await read());
      } catch {
        this.set(Number.NaN);
      }
    },
  });

function measureState(registry: Registry, container: Container): void {
  addGauge(registry, 'ready', '1 if /readyz is 200, else 0.', async () => {
    const readiness = await container.getAsync(TOKENS.readiness);
    try {
      await readiness.check();
      return 1;
    } catch {
      return 0;
    }
  });

  let petCount = Number.NaN;
  let countedAt = -Infinity;
  addGauge(registry, 'pets', 'Animals in the store, counted once a minute.', async () => {
    if (performance.now() - countedAt < 60_000) return petCount; // SQLite takes 15 ms for a million
    const { transfer } = await container.getAsync(TOKENS.store);
    const survey = transfer && (await withTimeLimit(1000, (call) => transfer.survey(call)));
    petCount = survey?.pets ?? Number.NaN;
    countedAt = performance.now();
    return petCount;
  });

  const expiring = 'Managed API keys that expire within seven days.';
  addGauge(registry, 'keys_expiring', expiring, async () => {
    const managed = await container.getAsync(TOKENS.managedApiKeys);
    if (managed === undefined) return 0;
    const soon = container.get(TOKENS.clock).now().getTime() + WEEK;
    const keys = await withTimeLimit(1000, (call) => managed.list(call));
    const active = keys.filter(({ state }) => state === 'active');
    return active.filter(({ expiresAt }) => Number(expiresAt) < soon).length;
  });
}

function measureRequests(registry: Registry, { decorate }: Wiring): void {
  decorate(TOKENS.admission, (admission) => {
    const inFlight = 'Requests that are worked on.';
    addGauge(registry, 'requests_in_flight', inFlight, () => admission.inFlight);
    const unread = 'Bytes of responses that clients have not taken.';
    addGauge(registry, 'response_bytes_unread', unread, () => admission.unsent);
    return admission;
  });

  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter(metricOptions(registry, name, help, labelNames));
  const requests = counter(
    'requests_total',
    'Responses by operation and status.',
    'operation',
    'status',
  );
  const seconds = durationHistogram(
    registry,
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
      seconds.observe({ operation }, request.milliseconds / 1000);
      bytes.inc(request.bytes);
      if (request.sunset && keyId !== undefined) deprecated.inc({ operation, key: keyId });
      if (keyFault !== undefined) keyChecks.inc({ result: keyFault });
      else if (keyId !== undefined) keyChecks.inc({ result: 'valid' });
      if (code === 'rate_limited') refused.inc({ reason: 'limited' });
      else if (error instanceof BusyError) refused.inc({ reason: 'busy' });
      log.responded(request);
    },
  }));
}

function measureStore(registry: Registry, { decorate }: Wiring): void {
  const seconds = durationHistogram(registry, 'store_duration', 'Calls of the store.');
  const failed = 'Calls of the store that failed.';
  const failures = new Counter(
    metricOptions(registry, 'store_failures_total', failed, ['operation']),
  );
  const timed = async <Result>(operation: string, call: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    try {
      return await call();
    } catch (error) {
      if (!isAnimalStoreError(error) || isUnavailable(error)) failures.inc({ operation });
      throw error;
    } finally {
      seconds.observe({ operation }, (performance.now() - began) / 1000);
    }
  };

  decorate(TOKENS.petRepository, (pets): PetRepository => {
    const addOnce = pets.addOnce?.bind(pets);
    return {
      add(...given) {
        return timed('add', () => pets.add(...given));
      },
      addOnce: addOnce && ((...given) => timed('add', () => addOnce(...given))),
      findById(...given) {
        return timed('findById', () => pets.findById(...given));
      },
      list(...given) {
        return timed('list', () => pets.list(...given));
      },
    };
  });
  decorate(TOKENS.petChanges, (changes) => {
    if (changes === undefined) return undefined;
    return {
      change(...given) {
        return timed('change', () => changes.change(...given));
      },
      remove(...given) {
        return timed('remove', () => changes.remove(...given));
      },
    };
  });
}

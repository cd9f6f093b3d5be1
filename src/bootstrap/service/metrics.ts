import type { Container } from 'inversify';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { BusyError } from '../../adapters/http/admission.js';
import { HttpError, detailedError } from '../../adapters/http/error-responses.js';
import { splitRequestTarget } from '../../adapters/http/http-message.js';
import { withTimeLimit } from '../../adapters/http/request-timer.js';
import { NodeServer } from '../../adapters/http/node/node-server.js';
import type { Store } from '../../application/ports/store.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { isUnavailable } from './errors.js';
import { VERSION } from './node-version.js';
import { addressOf, isReady } from './start-service.js';
import { TOKENS, wiring, type Token } from './wiring.js';

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
    // The server responds to an error that this throws.
    const server = new NodeServer(async (request, response) => {
      const { path } = splitRequestTarget(request.url ?? '');
      if (path === '/livez' || path === '/readyz') {
        checkHealth(request, response);
        return;
      }
      if (path !== '/metrics') throw new HttpError('route_not_found');
      if (request.method !== 'GET' && request.method !== 'HEAD') throw NOT_ALLOWED;
      const page = await registry.metrics();
      response.setHeader('Content-Type', registry.contentType);
      response.end(page);
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

const READS = 'GET, HEAD';
const NOT_ALLOWED = detailedError('method_not_allowed', { methods: READS }, { Allow: READS });

/**
 * Must be called before the container makes the HTTP interface and the store: it decorates them. Labels have few values:
 * operations, statuses and results, and the ids of keys that still call a deprecated operation; never paths or addresses.
 */
function instrument(container: Container): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const describe: Describe = (name, help, ...labelNames) => ({
    name: `animal_store_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  new Gauge(describe('build_info', 'Always 1.', 'version', 'node')).set(
    { version: VERSION, node: process.version },
    1,
  );
  measureState(container, describe);
  measureRequests(container, describe);
  measureStore(container, describe);
  return registry;
}

/** Returns the options of a metric. */
type Describe = (
  name: string,
  help: string,
  ...labelNames: string[]
) => { name: string; help: string; labelNames: string[]; registers: Registry[] };

const WEEK = 7 * 86_400_000;

/** What is read at each scrape. */
function measureState(container: Container, describe: Describe): void {
  /** Reads a part of the service. What cannot be read is NaN. */
  const addGauge = <Part>(
    name: string,
    help: string,
    token: Token<Part>,
    read: (part: Part) => number | Promise<number>,
  ) =>
    new Gauge({
      ...describe(name, help),
      async collect() {
        try {
          this.set(await read(await container.getAsync(token)));
        } catch {
          this.set(Number.NaN);
        }
      },
    });

  addGauge('ready', '1 if /readyz is 200, else 0.', TOKENS.readiness, async (readiness) =>
    Number(await isReady(readiness)),
  );
  addGauge('pets', 'Animals in the store, counted once a minute.', TOKENS.store, petCounter());
  const expiring = 'Managed API keys that expire within seven days.';
  addGauge('keys_expiring', expiring, TOKENS.managedApiKeys, async (managed) => {
    if (managed === undefined) return 0;
    const soon = container.get(TOKENS.clock).now().getTime() + WEEK;
    const keys = await withTimeLimit(1000, (call) => managed.list(call));
    const active = keys.filter(({ state }) => state === 'active');
    return active.filter(({ expiresAt }) => Number(expiresAt) < soon).length;
  });
  const inFlight = 'Requests that are worked on.';
  addGauge('requests_in_flight', inFlight, TOKENS.admission, (admission) => admission.inFlight);
  const unread = 'Bytes of responses that clients have not taken.';
  addGauge('response_bytes_unread', unread, TOKENS.admission, ({ unsent }) => unsent);
}

/** Returns a function that counts at most once a minute: SQLite takes 15 ms for a million animals. */
function petCounter(): (store: Store) => Promise<number> {
  let count = Number.NaN;
  let countedAt = -Infinity;
  return async ({ transfer }) => {
    if (performance.now() - countedAt < 60_000) return count;
    const survey = transfer && (await withTimeLimit(1000, (call) => transfer.survey(call)));
    count = survey?.pets ?? Number.NaN;
    countedAt = performance.now();
    return count;
  };
}

/** In seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

function measureRequests(container: Container, describe: Describe): void {
  const requests = new Counter(
    describe('requests_total', 'Responses by operation and status.', 'operation', 'status'),
  );
  const fromHeaders = 'From the headers of a request to its complete response.';
  const seconds = new Histogram({
    ...describe('request_duration_seconds', fromHeaders, 'operation'),
    buckets,
  });
  const bytes = new Counter(describe('response_bytes_total', 'Bytes of response bodies.'));
  const beforeWork = 'Refused before any work: 503 or 429.';
  const refused = new Counter(describe('requests_refused_total', beforeWork, 'reason'));
  const byValidity = 'API keys of requests, by validity.';
  const keyChecks = new Counter(describe('key_checks_total', byValidity, 'result'));
  const deprecated = new Counter(
    describe('deprecated_calls_total', 'Calls of deprecated operations.', 'operation', 'key'),
  );
  wiring(container).decorate(TOKENS.httpLog, (log) => ({
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

function measureStore(container: Container, describe: Describe): void {
  const seconds = new Histogram({
    ...describe('store_duration_seconds', 'Calls of the store.', 'operation'),
    buckets,
  });
  const failures = new Counter(
    describe('store_failures_total', 'Calls of the store that failed.', 'operation'),
  );
  const timed = async (operation: string, call: () => unknown): Promise<unknown> => {
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
  /** Measures every method. */
  const measured = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(_, name) {
        const method: unknown = Reflect.get(port, name);
        if (typeof method !== 'function') return method;
        return (...given: unknown[]) => timed(String(name), () => method.apply(port, given));
      },
    });
  const { decorate } = wiring(container);
  decorate(TOKENS.petRepository, measured);
  decorate(TOKENS.petChanges, (changes) => changes && measured(changes));
}

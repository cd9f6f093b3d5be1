import type { Container } from 'inversify';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { BusyError } from '../../adapters/http/admission.js';
import type { RespondedRequest } from '../../adapters/http/http-log.js';
import { NodeServer } from '../../adapters/http/node/node-server.js';
import type { PetRepository } from '../../application/ports/pet-repository.js';
import { TOKENS } from './container.js';
import { MANIFEST } from './node-version.js';
import { addressOf } from './start-service.js';
import { decorate } from './wiring.js';

/** Bounds of the buckets of a duration, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * What the service counts, for Prometheus. Labels have few values: operations, statuses and results, and the ids of keys
 * that still call a deprecated operation. A path or an address is never one.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Counter(
    this.#named('requests_total', 'Responses by operation and status.', 'operation', 'status'),
  );
  readonly #duration = new Histogram({
    ...this.#named(
      'request_duration_seconds',
      'From the headers of a request to its complete response.',
      'operation',
    ),
    buckets: SECONDS,
  });
  readonly #bytes = new Counter(this.#named('response_bytes_total', 'Bytes of response bodies.'));
  readonly #refused = new Counter(
    this.#named(
      'requests_refused_total',
      'Requests refused before any work: busy (503) or limited (429).',
      'reason',
    ),
  );
  readonly #keyChecks = new Counter(
    this.#named('key_checks_total', 'API keys of requests, by what they turned out to be.', 'result'),
  );
  readonly #deprecated = new Counter(
    this.#named(
      'deprecated_calls_total',
      'Calls of deprecated operations, by the id of the key.',
      'operation',
      'key',
    ),
  );
  readonly #store = new Histogram({
    ...this.#named('store_duration_seconds', 'Calls of the store.', 'operation'),
    buckets: SECONDS,
  });
  readonly #storeFailures = new Counter(
    this.#named('store_failures_total', 'Calls of the store that failed.', 'operation'),
  );
  readonly #commits = new Histogram({
    ...this.#named('commit_writes', 'Writes that were committed together (SQLite).'),
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    new Gauge(this.#named('build_info', 'Always 1.', 'version', 'node'))
      .labels(MANIFEST.version, process.version)
      .set(1);
  }

  /** Watches how many requests are worked on, and what clients leave unread. */
  watch(admission: { readonly inFlight: number; readonly unsent: number }): void {
    new Gauge({
      ...this.#named('response_bytes_unread', 'Bytes of responses that clients have not taken whole.'),
      collect() {
        this.set(admission.unsent);
      },
    }).set(0);
    new Gauge({
      ...this.#named('requests_in_flight', 'Requests that are worked on.'),
      collect() {
        this.set(admission.inFlight);
      },
    }).set(0);
  }

  /** Counts a response. */
  responded({
    status,
    code,
    error,
    keyId,
    keyFault,
    bytes,
    milliseconds,
    ...request
  }: RespondedRequest): void {
    const operation = request.operation ?? (request.isProbe ? 'probe' : 'none');
    this.#requests.inc({ operation, status });
    this.#duration.observe({ operation }, milliseconds / 1000);
    this.#bytes.inc(bytes);
    if (keyId !== undefined || keyFault !== undefined) this.#keyChecks.inc({ result: keyFault ?? 'valid' });
    const reason = code === 'rate_limited' ? 'limited' : error instanceof BusyError ? 'busy' : undefined;
    if (reason !== undefined) this.#refused.inc({ reason });
  }

  /** Counts a call of a deprecated operation. */
  deprecatedCall(operation: string, key: string): void {
    this.#deprecated.inc({ operation, key });
  }

  /** Counts a commit of so many writes. */
  committed(writes: number): void {
    this.#commits.observe(writes);
  }

  /** Times the calls of a repository. */
  timed(pets: PetRepository): PetRepository {
    const time =
      <Arguments extends unknown[], Result>(
        operation: string,
        call: (...given: Arguments) => Promise<Result>,
      ) =>
      async (...given: Arguments): Promise<Result> => {
        const began = performance.now();
        try {
          return await call(...given);
        } catch (error) {
          this.#storeFailures.inc({ operation });
          throw error;
        } finally {
          this.#store.observe({ operation }, (performance.now() - began) / 1000);
        }
      };
    return {
      add: time('add', (...given) => pets.add(...given)),
      findById: time('findById', (...given) => pets.findById(...given)),
      list: time('list', (...given) => pets.list(...given)),
      check: (call) => pets.check(call),
      close: () => pets.close(),
    };
  }

  #named<Label extends string>(name: string, help: string, ...labelNames: Label[]) {
    return { name: `animal_store_${name}`, help, labelNames, registers: [this.registry] };
  }
}

/** A server of metrics. */
export interface MetricsServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Counts what the service does, and serves it at `/metrics` of a port of its own: it needs no key, and is no business of
 * clients. Must be called before the container makes the HTTP interface and the store.
 */
export async function serveMetrics(container: Container, port: number): Promise<MetricsServer> {
  const metrics = new Metrics();
  decorate(container, TOKENS.openOptions, (options) => ({
    ...options,
    onCommit: (writes: number) => metrics.committed(writes),
  }));
  decorate(container, TOKENS.petRepository, (pets) => metrics.timed(pets));
  decorate(container, TOKENS.onDeprecatedCall, (inner) => (call) => {
    metrics.deprecatedCall(call.operationId, call.keyId);
    inner(call);
  });
  decorate(container, TOKENS.httpLog, (log) => ({
    responded(request) {
      metrics.responded(request);
      log.responded(request);
    },
  }));
  decorate(container, TOKENS.admission, (admission) => {
    metrics.watch(admission);
    return admission;
  });
  const server = new NodeServer(({ url, method }, response) => {
    const isFound = url === '/metrics' && (method === 'GET' || method === 'HEAD');
    response.writeHead(isFound ? 200 : 404, { 'Content-Type': metrics.registry.contentType });
    if (!isFound) return void response.end();
    const failed = (): void => void response.destroy();
    return void metrics.registry.metrics().then((page) => response.end(page), failed);
  });
  const { host } = container.get(TOKENS.settings);
  const at = await server.listen(port, host);
  return {
    url: `http://${addressOf(host)}:${at}/metrics`,
    stop: async () => void (await server.close(100)),
  };
}

import type { Container } from 'inversify';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { BusyError } from '../../adapters/http/admission.js';
import { NodeServer } from '../../adapters/http/node/node-server.js';
import type { PetChanges } from '../../application/ports/pet-changes.js';
import type { PetRepository } from '../../application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import type { Channel } from './channel.js';
import { TOKENS } from './container.js';
import { isUnavailable } from './logger.js';
import { MANIFEST } from './node-version.js';
import { addressOf } from './start-service.js';
import { decorate } from './wiring.js';
import type { WorkerPool } from './worker-pool.js';

/** Counts what the service does, and serves it to Prometheus at `/metrics` of a port of its own, without a key. */
export async function serveMetrics(container: Container, port: number) {
  const registry = count(container);
  return servePage(container.get(TOKENS.settings).host, port, () => registry.metrics());
}

/** How long a worker may take to answer, in milliseconds. */
const PATIENCE = 1000;

/**
 * Serves the sum of what all workers count. What a worker had counted when it was last read stays in it when the worker
 * ends, or does not answer: Prometheus takes a counter that falls for one that began anew.
 */
export function serveSum(pool: WorkerPool, host: string, port: number) {
  const latest = new Map<Channel, Metrics>();
  let past: Metrics = [];
  const read = async (channel: Channel): Promise<void> => {
    const answer = channel.ask('metrics') as Promise<Metrics | undefined>;
    const metrics = await Promise.race([answer, delay(PATIENCE, undefined, { ref: false })]);
    latest.set(channel, metrics ?? counted(latest.get(channel)));
  };
  const sum = async (): Promise<string> => {
    await Promise.all(pool.channels.map(read));
    for (const [channel, metrics] of latest) {
      if (pool.channels.includes(channel)) continue;
      latest.delete(channel);
      past = await AggregatorRegistry.aggregate([past, counted(metrics)]).getMetricsAsJSON();
    }
    return AggregatorRegistry.aggregate([...latest.values(), past]).metrics();
  };
  // Requests at the same time share one sum: another would count a worker that ends twice, or not at all.
  let summing: Promise<string> | undefined;
  return servePage(host, port, () => (summing ??= sum().finally(() => (summing = undefined))));
}

type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

async function servePage(host: string, port: number, page: () => Promise<string>) {
  const server = new NodeServer(({ url, method }, response) => {
    const isFound = url === '/metrics' && (method === 'GET' || method === 'HEAD');
    response.writeHead(isFound ? 200 : 404, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE });
    if (!isFound) return void response.end();
    const failed = (): void => void response.destroy();
    return void page().then((text) => response.end(text), failed);
  });
  const at = await server.listen(port, host);
  return {
    url: `http://${addressOf(host)}:${at}/metrics`,
    stop: async () => void (await server.close(100)),
  };
}

/** Those that only grow. */
const counted = (metrics: Metrics = []): Metrics =>
  metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));

/** Bounds of the buckets of a duration, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Counts what the service does. Must be called before the container makes the HTTP interface and the store: it decorates
 * them. Labels have few values: operations, statuses and results, and the ids of keys that still call a deprecated
 * operation. A path or an address is never one.
 */
export function count(container: Container): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const named = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => ({
    name: `animal_store_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const counter = <Label extends string>(name: string, help: string, ...labels: Label[]) =>
    new Counter(named(name, help, labels));
  const histogram = (name: string, help: string, buckets: number[], ...labels: string[]) =>
    new Histogram({ ...named(name, help, labels), buckets });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...named(name, help, []),
      collect() {
        this.set(read());
      },
    });

  const info = { ...named('build_info', 'Always 1.', ['version', 'node']), aggregator: 'first' as const };
  new Gauge(info).set({ version: MANIFEST.version, node: process.version }, 1);
  gauge('workers', 'Processes that serve.', () => 1); // summed over all
  decorate(container, TOKENS.admission, (admission) => {
    gauge('requests_in_flight', 'Requests that are worked on.', () => admission.inFlight);
    const unread = 'Bytes of responses that clients have not taken whole.';
    gauge('response_bytes_unread', unread, () => admission.unsent);
    return admission;
  });

  const requests = counter('requests_total', 'Responses by operation and status.', 'operation', 'status');
  const timing = 'From the headers of a request to its complete response.';
  const duration = histogram('request_duration_seconds', timing, SECONDS, 'operation');
  const bytes = counter('response_bytes_total', 'Bytes of response bodies.');
  const refusing = 'Requests refused before any work: busy (503) or limited (429).';
  const refused = counter('requests_refused_total', refusing, 'reason');
  const checking = 'API keys of requests, by what they turned out to be.';
  const keyChecks = counter('key_checks_total', checking, 'result');
  decorate(container, TOKENS.httpLog, (log) => ({
    responded(request) {
      const { status, code, error, keyId, keyFault } = request;
      const operation = request.operation ?? (request.isProbe ? 'probe' : 'none');
      requests.inc({ operation, status });
      duration.observe({ operation }, request.milliseconds / 1000);
      bytes.inc(request.bytes);
      if (keyId !== undefined || keyFault !== undefined) keyChecks.inc({ result: keyFault ?? 'valid' });
      if (code === 'rate_limited') refused.inc({ reason: 'limited' });
      else if (error instanceof BusyError) refused.inc({ reason: 'busy' });
      log.responded(request);
    },
  }));

  const calling = 'Calls of deprecated operations, by the id of the key.';
  const deprecated = counter('deprecated_calls_total', calling, 'operation', 'key');
  decorate(container, TOKENS.onDeprecatedCall, (inner) => (call) => {
    deprecated.inc({ operation: call.operationId, key: call.keyId });
    inner(call);
  });

  const committing = 'Writes that were committed together (SQLite).';
  const commits = histogram('commit_writes', committing, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
  decorate(container, TOKENS.openOptions, (options) => ({
    ...options,
    onCommit: (writes: number) => commits.observe(writes),
  }));

  const store = histogram('store_duration_seconds', 'Calls of the store.', SECONDS, 'operation');
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
  decorate(container, TOKENS.petChanges, (changes): PetChanges | undefined => {
    if (changes === undefined) return undefined;
    return {
      changeStatus: (...given) => timed('changeStatus', () => changes.changeStatus(...given)),
      remove: (...given) => timed('remove', () => changes.remove(...given)),
    };
  });
  decorate(container, TOKENS.petRepository, (pets): PetRepository => ({
    add: (...given) => timed('add', () => pets.add(...given)),
    findById: (...given) => timed('findById', () => pets.findById(...given)),
    list: (...given) => timed('list', () => pets.list(...given)),
    check: (call) => pets.check(call),
    close: () => pets.close(),
  }));
  return registry;
}

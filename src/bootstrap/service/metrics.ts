import type { Container } from 'inversify';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { urlHost } from './host.js';
import { TOKENS } from './tokens.js';

export interface MetricsServer {
  /** The address of the metrics. */
  readonly url: string;
  close(): void;
}

/**
 * Measures requests and the process. Call it before anything gets the log from the container.
 * @returns a function that serves the metrics at `ADMIN_PORT`, for Prometheus, without a key. Call it once the service
 * has started.
 */
export function measure(container: Container): () => Promise<MetricsServer> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const seconds = new Histogram({
    name: 'animal_store_request_duration_seconds',
    help: 'From the headers of a request to its complete response.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  });
  // Here, not in a module: a later module that replaces the log would drop this.
  container.onActivation(TOKENS.httpLog, (_context, log) => ({
    responded(request) {
      const { operation = 'none', isHealthCheck, status, milliseconds } = request;
      seconds.observe(
        { operation: isHealthCheck ? 'health' : operation, status },
        milliseconds / 1000,
      );
      log.responded(request);
    },
  }));
  return () => serveMetrics(container, registry);
}

async function serveMetrics(container: Container, registry: Registry): Promise<MetricsServer> {
  const readiness = await container.getAsync(TOKENS.readiness);
  const admission = await container.getAsync(TOKENS.admission);
  const gauge = (name: string, help: string, value: () => number | Promise<number>): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await value());
      },
    });
  gauge('animal_store_ready', '1 if /readyz is 200, else 0.', () =>
    readiness.check().then(
      () => 1,
      () => 0,
    ),
  );
  gauge('animal_store_requests_in_flight', 'Requests in progress.', () => admission.inFlight);

  const { host, adminPort } = container.get(TOKENS.settings);
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    response.setHeader('Content-Type', registry.contentType);
    void registry.metrics().then((text) => response.end(text));
  });
  await once(server.listen(adminPort, host), 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${urlHost(host)}:${bound}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describeOnMongo, inDatabase, uriOf } from '../adapters/mongodb/mongo-server.js';
import { KEY } from '../bootstrap/test-io.js';
import { codeAt } from '../docs/code-blocks.js';
import { Child, PACKAGE, cleanUp, temporaryFolder } from './running-service.js';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: Readonly<Record<string, unknown>>;
  }[];
}

/** What OpenTelemetry sends, as far as we read it. */
interface Export {
  readonly resourceSpans?: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** Takes spans as a collector does. */
class Collector {
  readonly paths = new Set<string | undefined>();
  readonly spans: Span[] = [];
  readonly #server: Server = createServer(
    (request, response) => void this.#take(request, response),
  );

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.paths.add(request.url);
    const { resourceSpans = [] } = (await json(request)) as Export;
    this.spans.push(
      ...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
    response.end('{}');
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }
}

const attribute = ({ attributes }: Span, name: string): unknown =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

describeOnMongo('A service with traces', (server) => {
  if (process.env['OPENTELEMETRY'] !== '1') {
    it.skip('has spans (npm run traces installs OpenTelemetry, and runs this)');
    return;
  }

  let run: string;
  before(async function () {
    this.timeout(180_000);
    const folder = join(temporaryFolder(), 'traces');
    const page = codeAt('docs/operations/traces.md > Traces > 1');
    const [install = '', ...rest] = page
      .replaceAll('/opt/animal-store-traces', folder)
      .replace(/^node /m, 'exec node ')
      .split(/^(?=export)/m);
    await promisify(execFile)('sh', ['-ec', install], { cwd: PACKAGE });
    run = rest.join('');
  });
  after(cleanUp);

  let collector: Collector;
  beforeEach(() => {
    collector = new Collector();
  });
  afterEach(async () => {
    collector.close();
    await Child.endAll();
  });

  /** Runs the service as the page says. */
  const started = (endpoint: string, settings: Readonly<Record<string, string>>): Child =>
    new Child('sh', ['-ec', run.replace('http://127.0.0.1:4318', endpoint)], PACKAGE, {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      PORT: '0',
      API_KEYS: KEY,
      ...settings,
    });

  it(
    'has a span for a request and its MongoDB call, of the trace that client and log name',
    inDatabase(server, async (database) => {
      const child = started(await collector.listen(), {
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        STORE_URL: uriOf(server, database),
        DRAIN_DELAY: '3s',
      });
      const url = await child.ready();
      const headers = { authorization: `Bearer ${KEY}` };
      const pet = {
        method: 'POST',
        body: '{"name":"Bella","categoryId":4711}',
        headers: { ...headers, 'content-type': 'application/json' },
      };
      const created = await fetch(`${url}/pets`, pet);

      expect(created.status, 'of the create').to.equal(201);
      expect(await fetch(new URL('/livez', url))).to.include({ status: 200 });

      child.signal('SIGTERM'); // spans of what is still answered count too
      await child.said(/stopping on SIGTERM/);
      const traced = { ...headers, traceparent: `00-${TRACE}-${CALLER}-01` };
      const found = await fetch(new URL(created.headers.get('location') ?? '', url), {
        headers: traced,
      });

      expect(found.status, 'of the get').to.equal(200);

      const { code, err } = await child.ended;
      expect(code, err).to.equal(0);

      const { spans, paths } = collector;
      const [request, ...others] = spans.filter(({ parentSpanId }) => parentSpanId === CALLER);

      expect(others).to.deep.equal([]);
      expect(request).to.include({ name: 'GET /v1/pets/:petId', traceId: TRACE });

      const byParent = (parent?: Span) =>
        spans.find(({ parentSpanId }) => parentSpanId === parent?.spanId);
      const operation = byParent(request);

      expect(operation).to.include({ name: 'getPet', traceId: TRACE });

      const call = byParent(operation);
      expect(call).to.include({ name: 'find pets', traceId: TRACE });

      if (request === undefined || call === undefined) return;
      expect(attribute(request, 'http.route')).to.equal('/v1/pets/:petId');
      expect(attribute(call, 'db.namespace')).to.equal(database);

      expect(spans.map(({ name }) => name)).to.include.members([
        'POST /v1/pets',
        'createPet',
        'insert pets',
      ]);
      expect(spans.filter((span) => attribute(span, 'url.path') === '/livez')).to.deep.equal([]);
      expect(JSON.stringify(spans)).to.not.match(new RegExp(`${KEY}|Bella|4711`));
      expect([...paths]).to.deep.equal(['/v1/traces']); // no logs, no metrics

      const lines = err.split('\n').filter((line) => line.includes(`"trace_id":"${TRACE}"`));
      expect(lines.join('\n')).to.include('"status":200');
    }),
  );

  it('serves and stops well when no collector is there', async () => {
    const endpoint = await collector.listen();
    collector.close();
    const child = started(endpoint, { OTEL_LOG_LEVEL: 'error', STORE_URL: 'memory:' });
    const url = await child.ready();

    expect((await fetch(`${url}/pets`)).status, 'without a key').to.equal(401);

    const { code, err } = await child.stop();
    expect(code, err).to.equal(0);
    expect(err).to.include('the last spans were not sent').and.to.include('ECONNREFUSED');
  });
});

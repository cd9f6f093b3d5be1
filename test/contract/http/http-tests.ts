import { checkRow } from './check-response.js';
import { JSON_TYPE, USUAL_KEY, hasHeader, type Layer, type RowRequest, type Topic } from './row.js';
import { ACCESS } from './rules-access.js';
import { CHANGING } from './rules-changing.js';
import { CREATING } from './rules-creating.js';
import { READING } from './rules-reading.js';
import { SERVICE } from './rules-service.js';
import { TRANSPORT } from './rules-transport.js';
import { withService, type OpenHttp } from './tested-service.js';
import type { TestRunner } from '../suite.js';

/** Every rule of the HTTP interface. */
const HTTP_RULES: readonly Topic[] = [
  ...ACCESS,
  ...READING,
  ...CREATING,
  ...CHANGING,
  ...SERVICE,
  ...TRANSPORT,
];

/** What `httpTests` needs: functions of the test runner, and the transport under test. */
export interface HttpTestOptions extends TestRunner {
  /** Called for each test, which closes the service. */
  readonly open: OpenHttp;
  /** Which rules to test. Default: all. A transport without sockets leaves out `socket`. */
  readonly layers?: readonly Layer[];
}

/** Declares tests of what the HTTP interface promises, for any transport and test runner. */
export function httpTests({
  describe,
  it,
  open,
  layers = ['interface', 'transport', 'socket'],
}: HttpTestOptions): void {
  for (const { topic, layer = 'interface', rules, ...setup } of HTTP_RULES) {
    if (!layers.includes(layer)) continue;
    describe(topic, () => {
      for (const [rule, rowsOrCase] of Object.entries(rules)) {
        if (typeof rowsOrCase === 'function') it(rule, () => withService(open, setup, rowsOrCase));
        else
          describe(rule, () => {
            for (const row of rowsOrCase)
              it(titleOf(row.request), () =>
                withService(open, setup, (service) => checkRow(row, service)),
              );
          });
      }
    });
  }
}

/** A request in short, with every character visible. */
function titleOf(request: RowRequest): string {
  const { method, path, headers, body, chunked } = request;
  const special = headers.filter((header) => header !== USUAL_KEY && header !== JSON_TYPE);
  const sent = body === undefined ? [] : [String(body)];
  const parts = [path, ...special.map((header) => header.join(': ')), ...sent];
  const lines = parts.map((part) => JSON.stringify(part));
  const short = lines.map((line) =>
    line.length > 100 ? `${line.slice(0, 40)}... (${line.length})` : line,
  );
  return [
    method,
    ...short,
    chunked && 'in chunks',
    !hasHeader(request, 'Authorization') && 'without a key',
  ]
    .filter(Boolean)
    .join(' ');
}

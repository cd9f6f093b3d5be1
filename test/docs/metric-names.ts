import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { read } from './code-blocks.js';

type Queries = readonly { readonly expr: string }[];
type AlertRules = { readonly groups: readonly { readonly rules: Queries }[] };
type Dashboard = {
  readonly panels: readonly { readonly targets: Queries }[];
  readonly templating: {
    readonly list: readonly { readonly type: string; readonly query: string }[];
  };
};

/** The PromQL in the alert rules and the dashboard, by file. */
function queries(): Readonly<Record<string, readonly string[]>> {
  const { groups } = parse(read('docs/operations/alerts.yml')) as AlertRules;
  const { panels, templating } = JSON.parse(read('docs/operations/dashboard.json')) as Dashboard;
  const variables = templating.list.filter(({ type }) => type === 'query');
  return {
    'alerts.yml': groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    'dashboard.json': [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      // Grafana's own function is no PromQL.
      ...variables.map(({ query }) => query.replace(/^label_values\((\w+), \w+\)$/, '$1')),
    ],
  };
}

/**
 * The names of the metrics that a query reads.
 * @throws SyntaxError if it is no PromQL
 */
function metricsIn(query: string): readonly string[] {
  const text = query.replaceAll('$__rate_interval', '5m'); // Grafana's
  const names: string[] = [];
  parser
    .configure({ strict: true })
    .parse(text)
    .iterate({
      enter({ name, node: { firstChild } }) {
        if (name === 'VectorSelector' && firstChild)
          names.push(text.slice(firstChild.from, firstChild.to));
      },
    });
  return names;
}

/** The names of the series that a page of /metrics declares. */
function declaredBy(page: string): Set<string> {
  const suffixes = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] };
  return new Set(
    [...page.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type = '']) =>
      (suffixes[type as keyof typeof suffixes] ?? ['']).map((suffix) => name + suffix),
    ),
  );
}

/**
 * What the alert rules and the dashboard read and a page of /metrics does not declare, as `file: name`.
 * @param page in Prometheus's text format
 */
export function missingMetrics(page: string): readonly string[] {
  const declared = declaredBy(page).add('up'); // Prometheus's own
  const missing = Object.entries(queries()).flatMap(([file, all]) =>
    all
      .flatMap(metricsIn)
      .filter((name) => !declared.has(name))
      .map((name) => `${file}: ${name}`),
  );
  return [...new Set(missing)].sort();
}

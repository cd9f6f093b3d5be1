import { expect } from 'chai';
import { metricsIn, missingMetrics } from './metric-names.js';

describe('The names of metrics in alert rules and dashboard', () => {
  it('are found in every query, and missed on a page without them', () => {
    const all = missingMetrics('');
    expect(all).to.have.length.greaterThan(20);
    expect(all).to.include.members([
      'alerts.yml: animal_store_requests_total',
      'alerts.yml: animal_store_request_duration_seconds_bucket',
      'dashboard.json: animal_store_build_info',
      'dashboard.json: process_resident_memory_bytes',
    ]);
    const page =
      '# TYPE animal_store_requests_total counter\n# TYPE animal_store_store_duration_seconds histogram\n';
    const found = all.filter((line) => !missingMetrics(page).includes(line));
    expect(found).to.deep.equal([
      'alerts.yml: animal_store_requests_total',
      'alerts.yml: animal_store_store_duration_seconds_bucket',
      'dashboard.json: animal_store_requests_total',
      'dashboard.json: animal_store_store_duration_seconds_bucket',
    ]);
  });

  it('are told from labels, functions and text; what is no query is refused', () => {
    const query = 'sum by (le) (rate(a_bucket{job="b c"}[$__rate_interval])) / on (d) e > bool 0.5 or abs(f)';
    expect(metricsIn(query)).to.deep.equal(['a_bucket', 'e', 'f']);
    expect(() => metricsIn('rate(a[5m)')).to.throw(SyntaxError);
  });
});

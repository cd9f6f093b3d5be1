import { expect } from 'chai';
import { metricsIn, missingMetrics } from './metric-names.js';

describe('The names of metrics in alert rules and dashboard', () => {
  it('are found in their queries, and missed on a page without them', () => {
    const query = 'sum by (le) (rate(a_bucket{job="b c"}[$__rate_interval])) / on (d) e > bool 0.5 or abs(f)';
    expect(metricsIn(query)).to.deep.equal(['a_bucket', 'e', 'f']);
    expect(missingMetrics('# TYPE animal_store_requests_total counter\n'))
      .to.include.members([
        'alerts.yml: animal_store_request_duration_seconds_bucket',
        'dashboard.json: animal_store_build_info',
      ])
      .and.to.not.include('alerts.yml: animal_store_requests_total');
  });
});

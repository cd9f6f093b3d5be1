import { Catalogue } from '../contract/http/catalogue.js';
import { startReady, type Ready } from '../contract/http/ready-subject.js';
import type { Row, Situation } from '../contract/http/request-row.js';
import { REQUEST_TABLE } from '../contract/http/request-table.js';
import { runRow } from '../contract/http/run-row.js';
import { SCENARIOS, type Scenario } from '../contract/http/request-scenarios.js';
import type { Start } from '../contract/http/subject.js';

/**
 * Binds the HTTP contract to mocha: every row and every scenario, a test each, against services that `start`
 * starts. There is one service for each situation, from its first row to the end of the suite. What needs a
 * socket stays visible where there is none: pending, the reason in its title.
 */
export function describeHttpContract(title: string, start: Start): void {
  describe(title, () => {
    const subjects = new Map<Situation, Promise<Ready>>();
    const catalogues = new Map<Ready, Catalogue>();
    const subjectFor = (situation: Situation): Promise<Ready> => {
      const subject = subjects.get(situation) ?? startReady(start, situation);
      subjects.set(situation, subject);
      return subject;
    };
    const catalogueOf = (subject: Ready): Catalogue => {
      const catalogue = catalogues.get(subject) ?? new Catalogue(subject);
      catalogues.set(subject, catalogue);
      return catalogue;
    };

    after(async () => {
      for (const started of await Promise.allSettled(subjects.values())) {
        if (started.status === 'fulfilled') await started.value.stop(); // what did not start failed its tests
      }
    });

    const bind = ({ name, given = 'plain', socketOnly }: Row | Scenario, run: (s: Ready) => Promise<void>) =>
      it(name, async function () {
        const subject = await subjectFor(given);
        if (socketOnly !== undefined && !subject.overSocket) {
          if (this.test) this.test.title += ` (needs a socket: ${socketOnly})`;
          this.skip();
        }
        await run(subject);
      });

    for (const [topic, rows] of Object.entries(REQUEST_TABLE)) {
      describe(topic, () => {
        for (const row of rows) bind(row, (subject) => runRow(row, subject, catalogueOf(subject)));
      });
    }
    describe('several requests', () => {
      for (const scenario of SCENARIOS)
        bind(scenario, (subject) => {
          catalogueOf(subject).forget();
          return scenario.run(subject);
        });
    });
  });
}

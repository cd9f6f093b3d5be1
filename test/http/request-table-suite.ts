import { heldToDocument, type Tally } from '../open-api/held-to-document.js';
import { Catalogue } from './catalogue.js';
import { startReady, type Ready } from './ready-subject.js';
import type { Row, Situation } from './request-row.js';
import { REQUEST_TABLE } from './request-table.js';
import { runRow } from './run-row.js';
import { SCENARIOS, type Scenario } from './request-scenarios.js';
import type { Start } from './subject.js';

/**
 * Binds the HTTP contract to mocha: every row and every scenario, a test each, against services that `start`
 * starts. There is one service for each situation, from its first row to the end of the suite. What needs a
 * socket stays visible where there is none: pending, the reason in its title. Besides, every answer is held to
 * the OpenAPI document that the service publishes.
 */
export function describeHttpContract(title: string, start: Start): void {
  describe(title, () => {
    const tally: Tally = { held: 0, outside: 0 };
    const startHeld = heldToDocument(start, tally);
    const subjects = new Map<Situation, Promise<Ready>>();
    const catalogues = new Map<Ready, Catalogue>();
    const subjectFor = (situation: Situation): Promise<Ready> => {
      const subject = subjects.get(situation) ?? startReady(startHeld, situation);
      subjects.set(situation, subject);
      return subject;
    };
    const catalogueOf = (subject: Ready): Catalogue => {
      const catalogue = catalogues.get(subject) ?? new Catalogue(subject);
      catalogues.set(subject, catalogue);
      return catalogue;
    };

    after(() => {
      const { held, outside } = tally;
      console.log(`${held} answers were held to the OpenAPI document, ${outside} were to what is not in it`);
    });

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

import { expect } from 'chai';
import { assert } from '../contract/assert.js';
import { bindContract } from '../contract/bind-contract.js';
import { bindToJest } from '../contract/bind-to-jest.js';
import type { Contract, Subject } from '../contract/contract.js';

const failing = (run: () => void): Contract<Subject> => ({
  port: 'Box',
  cases: [{ name: 'holds water', run: async () => run() }],
});

const open = async (): Promise<Subject> => ({ dispose: async () => {} });

/** Declares with a stand-in for a test runner, runs the one test, and resolves to what it is told to report. */
async function reported(run: () => void, bind: 'jest' | 'others'): Promise<unknown> {
  const bodies: ((context: unknown) => Promise<void>)[] = [];
  const it = Object.assign(
    (_title: string, body: (context: unknown) => Promise<void>) => void bodies.push(body),
    { skip: () => {} },
  );
  const runner = { describe: (_title: string, declare: () => void) => declare(), it };
  if (bind === 'jest') await bindToJest(failing(run), open, runner);
  else bindContract(failing(run), open, runner);
  const [body = async () => {}] = bodies;
  return body({ skip: () => {} }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('What a failed case reports', () => {
  for (const bind of ['jest', 'others'] as const) {
    it(`can be written as JSON where it is of bigints, with their digits: ${bind}`, async () => {
      const pet = { id: 1n, name: 'Fido' };
      const error = await reported(() => assert.deepEqual(undefined, pet), bind);
      expect(JSON.parse(JSON.stringify(error))).to.include({
        actual: 'undefined',
        expected: '{\n  "id": "1n",\n  "name": "Fido"\n}',
      });
      expect(error).to.have.property('message').that.includes('id: 1n');
    });

    it(`is the error itself where it is of anything else: ${bind}`, async () => {
      expect(await reported(() => assert.equal('a', 'b'), bind)).to.include({ actual: 'a', expected: 'b' });
      const fault = new TypeError('of its technology');
      const thrown = await reported(() => {
        throw fault;
      }, bind);
      expect(thrown).to.equal(fault);
    });
  }
});

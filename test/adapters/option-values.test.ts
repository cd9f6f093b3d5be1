import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AdmissionControl } from '../../src/adapters/http/node/index.js';
import { openMongoStore } from '../../src/adapters/mongodb/index.js';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { openStore } from '../../src/bootstrap/index.js';
import { httpInterface } from './http/fixtures.js';
import { rejectionOf } from '../contract/rejection.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';

/** As a program without a compiler calls it. */
type Untyped = (...given: unknown[]) => unknown;

const functions = {
  openSqliteStore,
  openMongoStore,
  openStore,
  http: httpInterface,
  AdmissionControl: (options: object) => new AdmissionControl(options),
} as unknown as Record<string, Untyped>;

describe('Values of options that do not exist', () => {
  const path = join(temporaryFolder(), 'animals.db');
  const nowhere = 'mongodb://127.0.0.1:1/db';
  after(removeFolders);

  const modes = 'mode must be one of create, existing, read, snapshot';
  for (const [name, given, message] of [
    ['openSqliteStore', [path, { mode: 'readonly' }], modes],
    ['openStore', [`sqlite:${path}`, { mode: 'READ' }], modes],
    ['openMongoStore', [nowhere, { timeout: Infinity }], 'timeout must be an integer from 1 to'],
    [
      'AdmissionControl',
      [{ maxInFlight: Number.NaN }],
      'maxInFlight must be a number of 0 or more',
    ],
  ] as const)
    refuses(name, given, message);

  for (const [setting, value, types] of [
    ['corsOrigins', 'https://a.example', 'Array, not String'],
    ['bodyLimit', '64kb', 'Number, not String'],
    ['requestDeadline', Number.NaN, 'Number, not NaN'],
    ['getPet', false, 'String, not Boolean'],
  ] as const)
    refuses(
      'http',
      [{ settings: { [setting]: value } }],
      `${setting} must be of the type ${types}`,
    );

  function refuses(name: string, given: readonly unknown[], message: string): void {
    it(`are refused by ${name}, and nothing is done: ${message}`, async () => {
      const error = await rejectionOf(
        Promise.resolve(given).then((each) => functions[name]?.(...each)),
      );

      expect(error).to.be.instanceOf(TypeError).with.property('message').that.includes(message);
      expect(existsSync(path), 'the file of a store').to.equal(false);
    });
  }

  it('do not include a part of a millisecond', async () => {
    await using store = await openMongoStore(nowhere, { timeout: 1000 / 3 });

    expect(store.location).to.equal(nowhere);
  });
});

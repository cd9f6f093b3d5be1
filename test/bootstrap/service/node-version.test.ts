import { expect } from 'chai';
import { read } from '../../docs/code-blocks.js';
import {
  VERSION,
  hideSqliteWarning,
  nodeVersionFault,
} from '../../../src/bootstrap/service/node-version.js';

const MANIFEST = JSON.parse(read('package.json')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};
const RANGE = MANIFEST.engines.node;

describe('The version of Node.js', () => {
  it('is refused where the store cannot run, and warned about below the supported ones', () => {
    for (const version of ['0.12.18', '20.20.2', '22.9.0', '22.15.1'])
      expect(nodeVersionFault(version)).to.deep.equal({
        fatal: true,
        message: `Node.js ${version} is too old for the animal store: use ${RANGE}.`,
      });
    for (const version of ['22.16.0', '22.22.1', '23.11.1', '24.9.0', '24.14.0', '25.9.0'])
      expect(nodeVersionFault(version)).to.deep.equal({
        fatal: false,
        message: `Warning: Node.js ${version} has known security faults: use ${RANGE}.`,
      });
  });

  it('is accepted by the range of package.json', () => {
    for (const version of ['22.22.2', '22.100.0', '24.14.1', '24.21.0', '26.0.0', '100.0.0'])
      expect(nodeVersionFault(version), version).to.equal(undefined);
  });

  it('stands beside the version of this package, that of package.json', () => {
    expect(VERSION).to.equal(MANIFEST.version);
  });

  it('that calls its SQLite experimental prints no warning of it, and all other warnings', () => {
    const printed: unknown[] = [];
    const program = { emitWarning: (...warning: unknown[]) => void printed.push(warning) };
    hideSqliteWarning(program as unknown as NodeJS.Process);
    program.emitWarning(
      'SQLite is an experimental feature and might change',
      'ExperimentalWarning',
    );
    program.emitWarning('the sky falls', 'Warning');

    expect(printed).to.deep.equal([['the sky falls', 'Warning']]);
  });
});

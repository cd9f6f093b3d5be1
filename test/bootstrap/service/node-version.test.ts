import { expect } from 'chai';
import { read } from '../../docs/code-blocks.js';
import {
  SUPPORTED_NODE,
  VERSION,
  hideSqliteWarning,
} from '../../../src/bootstrap/service/node-version.js';

const MANIFEST = JSON.parse(read('package.json')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

describe('The version of Node.js', () => {
  it('that is named as supported is that of package.json', () => {
    expect(SUPPORTED_NODE).to.equal(MANIFEST.engines.node);
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

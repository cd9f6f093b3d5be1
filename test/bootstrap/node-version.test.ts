import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { hideSqliteWarning, tooOldToRun, tooOldToTrust } from '../../src/bootstrap/node-version.js';

describe('The version of Node.js', () => {
  for (const version of ['0.12.18', '18.20.8', '20.20.2', '22.0.0', '22.9.0', '22.15.1']) {
    it(`${version} cannot run the animal store`, () => {
      expect(tooOldToRun(version)).to.equal(
        `The animal store needs Node.js 22.16.0 or later, and this is ${version}.`,
      );
    });
  }

  for (const version of ['22.16.0', '22.16.1', '22.100.0', '23.0.0', '24.0.0', '100.0.0']) {
    it(`${version} can`, () => {
      expect(tooOldToRun(version)).to.equal(undefined);
    });
  }

  for (const version of ['22.16.0', '22.21.9', '22.22.1', '23.11.1', '24.0.0', '24.9.0', '24.14.0']) {
    it(`${version} is warned about`, () => {
      expect(tooOldToTrust(version)).to.equal(
        `Warning: Node.js ${version} has known security faults or is out of support; use ^22.22.2 or >=24.14.1.`,
      );
    });
  }

  for (const version of ['22.22.2', '22.23.0', '22.100.0', '24.14.1', '24.21.0', '25.0.0', '26.1.0']) {
    it(`${version} is not`, () => {
      expect(tooOldToTrust(version)).to.equal(undefined);
    });
  }

  it('is asked for as the manifest asks for it', () => {
    const manifest: { engines: { node: string } } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    );
    const [, line22 = '', line24 = ''] = /^\^(22\.\S+) \|\| >=(24\.\S+)$/.exec(manifest.engines.node) ?? [];
    for (const version of [line22, line24]) {
      const [major = '', minor = '', patch = ''] = version.split('.');
      expect(tooOldToTrust(version), version).to.equal(undefined);
      expect(tooOldToTrust(`${major}.${minor}.${Number(patch) - 1}`), version).to.include(
        `use ${manifest.engines.node.replace(' || ', ' or ')}.`,
      );
    }
  });

  it('makes no warning of an SQLite that is called experimental, and keeps all other warnings', () => {
    const printed: unknown[] = [];
    const program = { emitWarning: (...warning: unknown[]) => void printed.push(warning) };
    hideSqliteWarning(program as unknown as NodeJS.Process);
    program.emitWarning(
      'SQLite is an experimental feature and might change at any time',
      'ExperimentalWarning',
    );
    program.emitWarning('the sky falls', 'Warning');
    expect(printed).to.deep.equal([['the sky falls', 'Warning']]);
  });
});

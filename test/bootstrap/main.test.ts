import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { runProgram, type Outcome } from './program.js';

const version = (nodeVersion: string): Promise<Outcome> =>
  runProgram(['--version'], { folder: tmpdir(), environment: {}, nodeVersion });

describe('The command', () => {
  it('does its work without a further word on a Node.js that is safe', async () => {
    const { code, out, err } = await version('24.14.1');
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out).to.match(/^\d+\.\d+\.\d+\n$/);
  });

  it('does its work on one that is not, and warns in one line', async () => {
    const { code, out, err } = await version('22.16.0');
    expect(code).to.equal(0);
    expect(out).to.match(/^\d+\.\d+\.\d+\n$/);
    expect(err).to.match(/^Warning: Node\.js 22\.16\.0 has known security faults [^\n]*\n$/);
  });

  it('does nothing on one that is too old, and says so in one line', async () => {
    expect(await version('20.20.2')).to.deep.equal({
      code: 2,
      out: '',
      err: 'The animal store needs Node.js 22.16.0 or later, and this is 20.20.2.\n',
    });
  });
});

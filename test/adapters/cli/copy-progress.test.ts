import { expect } from 'chai';
import { CopyProgressDisplay } from '../../../src/adapters/cli/copy-progress.js';

describe('The progress of a copy', () => {
  let time: number;
  let shown: string[];
  let notes: string[];
  beforeEach(() => {
    time = 5_000_000;
    [shown, notes] = [[], []];
  });

  const display = ({ watched }: { watched: boolean }): CopyProgressDisplay =>
    new CopyProgressDisplay(
      {
        out: () => expect.fail('stdout is for the result'),
        note: (line) => void notes.push(line),
        ...(watched && { show: (line: string) => void shown.push(line) }),
      },
      () => time,
    );

  /** Tells of a phase, so many milliseconds after the time before. */
  const tell = (to: CopyProgressDisplay, milliseconds: number, done: number, total: number): void => {
    time += milliseconds;
    to.tell({ phase: 'copying', done, total });
  };

  it('is a bar on a terminal, with the rate and the time that is left', () => {
    const bar = display({ watched: true });
    tell(bar, 10, 1000, 1_000_000);
    tell(bar, 1990, 250_000, 1_000_000);
    tell(bar, 4000, 1_000_000, 1_000_000);
    expect(shown).to.deep.equal([
      '[------------] copying   0 %, 1,000 of 1,000,000',
      '[###---------] copying  25 %, 250,000 of 1,000,000, 125,000/s, 6 s left',
      '[############] copying 100 %, 1,000,000 of 1,000,000, 166,667/s',
    ]);
    expect(notes).to.deep.equal([]);
  });

  it('is rewritten ten times a second at most, and cleared in the end', () => {
    const bar = display({ watched: true });
    for (let done = 1; done <= 1000; done += 1) tell(bar, 1, done, 2000);
    expect(shown).to.have.length(10);
    bar.end();
    expect(shown.at(-1)).to.equal('');
  });

  it('fits into 80 columns', () => {
    const bar = display({ watched: true });
    tell(bar, 100_000, 4_000_000, 9_999_999);
    expect(shown[0])
      .to.match(/ left$/)
      .and.to.have.property('length')
      .that.is.lessThan(80);
  });

  it('is a line every five seconds elsewhere, and one at the end of a phase', () => {
    const lines = display({ watched: false });
    for (let done = 1; done <= 12; done += 1) tell(lines, 1000, done, 12);
    lines.end();
    expect(notes).to.deep.equal([
      'copying   8 %, 1 of 12, 1/s, 11 s left',
      'copying  50 %, 6 of 12, 1/s, 6 s left',
      'copying  91 %, 11 of 12, 1/s, 1 s left',
      'copying 100 %, 12 of 12, 1/s',
    ]);
  });

  it('does not add a line for each batch of a source that grows', () => {
    const lines = display({ watched: false });
    for (let done = 1; done <= 100; done += 1) tell(lines, 1, done, done);
    expect(notes).to.have.length(1);
  });

  it('says a long time in its two greatest units', () => {
    for (const [left, said] of [
      [59, '59 s'],
      [60, '1 min 0 s'],
      [3599, '59 min 59 s'],
      [3600, '1 h 0 min'],
      [100_000, '27 h 46 min'],
    ] as const) {
      const bar = display({ watched: true });
      tell(bar, 1000, 1, left + 1);
      expect(shown.at(-1)).to.satisfy((line: string) => line.endsWith(`, ${said} left`), said);
    }
  });

  it('measures each phase by itself', () => {
    const bar = display({ watched: true });
    tell(bar, 10_000, 10, 10);
    time += 2000;
    bar.tell({ phase: 'verifying', done: 10, total: 20 });
    expect(shown.at(-1)).to.equal('[######------] verifying  50 %, 10 of 20, 5/s, 2 s left');
  });
});

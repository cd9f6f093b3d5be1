import { expect } from 'chai';
import { readBlocks, readInline, readSections } from '../../../../src/adapters/http/docs-page/markdown.js';

describe('The Markdown of the docs page', () => {
  it('is split at headings', () => {
    const { lead, sections } = readSections(
      'All of it.\n\n## One\n\nFirst.\n\n- a\n- b\n  c\n\n## Two `x`\nSecond.',
    );
    expect(lead).to.deep.equal([{ kind: 'paragraph', text: [{ kind: 'text', text: 'All of it.' }] }]);
    expect(sections).to.deep.equal([
      {
        heading: 'One',
        blocks: [
          { kind: 'paragraph', text: [{ kind: 'text', text: 'First.' }] },
          { kind: 'list', items: [[{ kind: 'text', text: 'a' }], [{ kind: 'text', text: 'b\n  c' }]] },
        ],
      },
      { heading: 'Two `x`', blocks: [{ kind: 'paragraph', text: [{ kind: 'text', text: 'Second.' }] }] },
    ]);
  });

  it('knows code, strong words, links and days on a line', () => {
    expect(readInline('**Gone** on 2030-12-05: see `a*b` and [RFC](https://example.org/a).')).to.deep.equal([
      { kind: 'strong', text: 'Gone' },
      { kind: 'text', text: ' on ' },
      { kind: 'day', date: new Date('2030-12-05') },
      { kind: 'text', text: ': see ' },
      { kind: 'code', text: 'a*b' },
      { kind: 'text', text: ' and ' },
      { kind: 'link', text: 'RFC', target: 'https://example.org/a' },
      { kind: 'text', text: '.' },
    ]);
  });

  it('takes no link that would run code, and no day that is none', () => {
    for (const text of ['[a](javascript:alert)', '[a](data:text)', '2030-13-45', '12030-12-05', '<b>x</b>']) {
      expect(readInline(text), text).to.deep.equal([{ kind: 'text', text }]);
    }
  });

  it('is nothing where nothing is said', () => {
    expect(readBlocks(' \n\n ')).to.deep.equal([]);
    expect(readSections('')).to.deep.equal({ lead: [], sections: [] });
  });
});

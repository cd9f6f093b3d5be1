describe('docs/write-an-adapter.md', () => {
  it('is to be written');
});

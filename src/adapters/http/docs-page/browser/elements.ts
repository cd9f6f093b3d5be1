/** What a query of the page found. The server renders the page with all that the script needs. */
export function required<Found>(found: Found | null): Found {
  if (found === null) throw new Error('The page lacks an element');
  return found;
}

/** An element with a text and, for style, a class. */
export function element(name: string, text: string, style = ''): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = style;
  return made;
}

/** Makes the button of a sample copy it. */
export function makeCopyable(sample: HTMLElement): void {
  const said = required(sample.querySelector('[role=status]'));
  const code = required(sample.querySelector('code'));
  required(sample.querySelector('button')).addEventListener('click', () => {
    void copy(code).then((done) => (said.textContent = done ? 'Copied' : 'Selected: press Ctrl+C'));
  });
}

/** Copies the text of an element. Over plain HTTP pages have no clipboard: there it selects the text and tries the old way. */
async function copy(source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    getSelection()?.selectAllChildren(source);
    // oxlint-disable-next-line typescript/no-deprecated
    return document.execCommand('copy');
  }
}

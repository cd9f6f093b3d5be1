import { element } from './element.js';

/** How long it is said that something was copied, in milliseconds. */
const SAID = 4000;

/** A button that copies a text, and says that it did. */
export function copyButton(label: string, text: () => string): HTMLElement {
  const said = element('span', { class: 'hint', role: 'status' });
  const button = element('button', { type: 'button', class: 'quiet', 'aria-label': label }, 'Copy');
  const run = async (): Promise<void> => {
    said.textContent = (await copy(text())) ? 'Copied' : 'Select the text to copy it';
    setTimeout(() => (said.textContent = ''), SAID);
  };
  button.addEventListener('click', () => void run());
  return element('span', { class: 'copy' }, said, button);
}

/** Over plain HTTP, but for the machine itself, browsers have no clipboard for pages: there the old way is tried. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const area = element('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: '-1' });
    area.value = text;
    document.body.append(area);
    area.select();
    // oxlint-disable-next-line typescript/no-deprecated
    const done = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}

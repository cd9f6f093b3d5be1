import { element, prose } from './element.js';
import type { Server } from './interface-document.js';
import type { Caller } from './try-it.js';

/**
 * Where the operations are, and the key to try them with. The key is kept in its field, and so in memory,
 * alone: it goes into a header, never into an address or a store of the browser.
 * @param documentUrl where the document is, which its addresses may be relative to
 */
export function accessView(
  servers: readonly Server[],
  security: readonly string[],
  documentUrl: URL,
): { readonly view: HTMLElement; readonly caller: Caller } {
  const server = serverField(servers, documentUrl);
  const key = element('input', {
    id: 'key',
    type: 'password',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    'aria-describedby': 'key-hint',
  });
  const view = element(
    'section',
    { id: 'access', 'aria-labelledby': 'access-title' },
    element('h2', { id: 'access-title' }, 'Access'),
    security.map((description) => prose(description)),
    element(
      'form',
      { class: 'access', autocomplete: 'off' },
      element(
        'div',
        { class: 'field' },
        element('label', { for: key.id }, 'API key'),
        element('div', { class: 'with-button' }, key, revealButton(key)),
        element(
          'p',
          { id: 'key-hint', class: 'hint' },
          'For trying the operations below. It stays in this page, and is forgotten with it.',
        ),
      ),
      element('div', { class: 'field' }, element('label', { for: server.id }, 'Address'), server),
    ),
  );
  view.querySelector('form')?.addEventListener('submit', (event) => event.preventDefault());
  return {
    view,
    caller: {
      base: () => new URL(server.value),
      key: () => key.value.trim(),
      onChange: (listener) => server.addEventListener('change', listener),
    },
  };
}

/** The published addresses, and that of the service which the page is from, if it is none of them. */
function serverField(servers: readonly Server[], documentUrl: URL): HTMLSelectElement {
  const addresses = new Map(
    servers.map(({ url, description }) => [new URL(url, documentUrl).href.replace(/\/$/, ''), description]),
  );
  const ours = (): string | undefined =>
    [...addresses.keys()].find((address) => new URL(address).origin === location.origin);
  if (ours() === undefined) {
    const basePath = document.querySelector<HTMLMetaElement>('meta[name=base-path]')?.content ?? '';
    addresses.set(new URL(basePath, documentUrl).href, 'This service');
  }
  const field = element(
    'select',
    { id: 'server' },
    [...addresses].map(([address, description]) =>
      element('option', { value: address }, description === '' ? address : `${description}: ${address}`),
    ),
  );
  field.value = ours() ?? '';
  return field;
}

function revealButton(field: HTMLInputElement): HTMLButtonElement {
  const button = element(
    'button',
    { type: 'button', class: 'quiet', 'aria-pressed': 'false', 'aria-controls': field.id },
    'Show',
  );
  button.addEventListener('click', () => {
    const isShown = field.type === 'text';
    field.type = isShown ? 'password' : 'text';
    button.setAttribute('aria-pressed', String(!isShown));
  });
  return button;
}

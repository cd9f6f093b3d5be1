import { nextAfter, randomKey } from '../../client-conventions.js';
import { curlSample, fetchSample, prepareRequest, type PreparedRequest } from './request.js';
import { exchange, required } from './response.js';

type Field = HTMLInputElement | HTMLSelectElement;

/** The address and the API key that all operations use. Only its field holds the key. */
const access = required(document.querySelector<HTMLFormElement>('.access'));
const key = required(access.querySelector<HTMLInputElement>('#key'));
const keyFault = required(access.querySelector('#key-fault'));
const address = required(access.querySelector<HTMLSelectElement>('#address'));
/** Sends the request again whose key the service refused. */
let retry: (() => void) | undefined;

/** Makes the fields for key and address work. */
function prepareAccess(): void {
  selectAddress();
  key.addEventListener('input', acceptKey);
  access.addEventListener('submit', (event) => {
    event.preventDefault();
    retry?.();
  });
}

/** Makes the addresses absolute, and selects the published one that this page is from, else the page's own service. */
function selectAddress(): void {
  const options = [...address.options];
  for (const option of options) option.value = new URL(option.value, location.href).href.replace(/\/$/, '');
  const own = options.find(({ className }) => className === 'own');
  const published = options.find(
    (option) => option !== own && new URL(option.value).origin === location.origin,
  );
  if (published !== undefined) own?.remove();
  address.value = (published ?? own)?.value ?? '';
}

/** Says at the key field that the service refused the key. Enter in that field sends again. */
function refuseKey(): void {
  key.ariaInvalid = 'true';
  keyFault.textContent = `${key.value === '' ? 'Enter an API key' : 'The service refused this key. Correct it'}, then press Enter to send again.`;
  key.focus();
}

function acceptKey(): void {
  key.ariaInvalid = null;
  keyFault.textContent = '';
}

/** Makes the form of an operation send its request, show the response, and keep the samples up to date. */
function tryIt(section: HTMLElement): void {
  const form = required(section.querySelector('form'));
  const fields = [...form.querySelectorAll<Field>('[data-in]')];
  const body = form.querySelector('textarea');
  const send = required(form.querySelector<HTMLButtonElement>('.send'));
  const next = required(form.querySelector<HTMLButtonElement>('.next'));
  let after: string | undefined;

  const prepare = (): PreparedRequest => {
    const { method = '', path = '' } = form.dataset;
    const values = fields.map(({ name, dataset, value }) => ({ name, in: dataset['in'] ?? '', value }));
    return prepareRequest({ method, path }, address.value, values, body?.value);
  };
  const copies = [...section.querySelectorAll<HTMLButtonElement>('.copy')];
  const update = (): void => {
    for (const copy of copies) copy.textContent = 'Copy';
    const request = prepare();
    required(section.querySelector('.curl')).textContent = curlSample(request);
    required(section.querySelector('.fetch')).textContent = fetchSample(request);
  };
  const fill = (name: string, value: string): void => {
    const field = fields.find((each) => each.name === name);
    if (field) field.value = value;
    update();
  };
  const run = async (): Promise<void> => {
    if (send.ariaDisabled === 'true') return;
    send.ariaDisabled = 'true'; // `disabled` would lose the focus
    const response = await exchange(
      required(section.querySelector('.response')),
      prepare(),
      key.value.trim(),
    );
    send.ariaDisabled = null;
    after = nextAfter(response?.headers.get('link') ?? null);
    if (after === undefined && document.activeElement === next) send.focus();
    next.hidden = after === undefined;
    if (response?.status !== 401) return response && acceptKey();
    retry = () => {
      send.focus();
      void run();
    };
    refuseKey();
  };

  next.addEventListener('click', () => {
    fill('after', after ?? '');
    void run();
  });
  form.querySelector('.new-key')?.addEventListener('click', () => fill('Idempotency-Key', randomKey()));
  for (const copy of copies) {
    copy.hidden = !isSecureContext; // elsewhere pages have no clipboard
    copy.addEventListener('click', () => {
      const sample = copy.parentElement?.querySelector('code')?.textContent ?? '';
      void navigator.clipboard.writeText(sample).then(() => (copy.textContent = 'Copied'));
    });
  }
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit(send);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run();
  });
  form.addEventListener('input', () => {
    next.hidden = true; // it belongs to the fields of before
    update();
  });
  address.addEventListener('change', update);
  update();
}

/** Marks the part of the page that is being read in the contents. */
function followReader(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav a')];
  const mark = (): void => {
    const current = links.findLast(({ hash }) => topOf(hash) < 80);
    for (const link of links) link.ariaCurrent = link === current ? 'location' : null;
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

const topOf = (hash: string): number => required(document.querySelector(hash)).getBoundingClientRect().top;

prepareAccess();
followReader();
for (const section of document.querySelectorAll<HTMLElement>('.try')) tryIt(section);

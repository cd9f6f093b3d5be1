import { nextAfter, randomKey } from '../../client-conventions.js';
import { curlSample, prepareRequest, type PreparedRequest } from './request.js';
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

/** Makes the form of an operation send its request, show the response, and keep the sample up to date. */
function tryIt(section: HTMLElement): void {
  const form = required(section.querySelector('form'));
  const fields = [...form.querySelectorAll<Field>('[data-in]')];
  const body = form.querySelector('textarea');
  const place = required(section.querySelector('.response'));
  const send = required(form.querySelector<HTMLButtonElement>('.send'));
  const next = required(form.querySelector<HTMLButtonElement>('.next'));
  let after: string | undefined;

  const prepare = (): PreparedRequest => {
    const { method = '', path = '' } = form.dataset;
    const values = fields.map(({ name, dataset, value }) => ({ name, in: dataset['in'] ?? '', value }));
    return prepareRequest({ method, path }, address.value, values, body?.value);
  };
  const update = (): void => {
    required(section.querySelector('.curl')).textContent = curlSample(prepare());
  };
  const fill = (name: string, value: string): void => {
    const field = fields.find((each) => each.name === name);
    if (field) field.value = value;
    update();
  };
  const run = async (): Promise<void> => {
    if (send.ariaDisabled === 'true') return;
    send.ariaDisabled = 'true'; // `disabled` would lose the focus
    const response = await exchange(place, prepare(), key.value.trim());
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

prepareAccess();
for (const section of document.querySelectorAll<HTMLElement>('.try')) tryIt(section);

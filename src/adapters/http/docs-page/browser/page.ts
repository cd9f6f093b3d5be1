import { required } from './elements.js';
import { tryIt, type Access } from './try-it.js';

/** Makes the fields for key and address work. */
function accessOf(form: HTMLFormElement): Access {
  const key = required(form.querySelector<HTMLInputElement>('#key'));
  const fault = required(form.querySelector('#key-fault'));
  const address = required(form.querySelector<HTMLSelectElement>('#address'));
  const url = required(form.querySelector('#address-url'));
  let retry: (() => void) | undefined;

  const accept = (): void => {
    key.ariaInvalid = null;
    fault.textContent = '';
  };
  selectAddress(address);
  const showUrl = (): void => void (url.textContent = address.value);
  showUrl();
  address.addEventListener('change', showUrl);
  key.addEventListener('input', accept);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    retry?.();
  });
  const show = required(form.querySelector('button'));
  show.addEventListener('click', () => {
    const isHidden = key.type === 'password';
    key.type = isHidden ? 'text' : 'password';
    show.ariaPressed = String(isHidden);
  });
  return {
    baseUrl: () => address.value,
    key: () => key.value.trim(),
    onChange: (listener) => address.addEventListener('change', listener),
    refuse(again) {
      retry = again;
      key.ariaInvalid = 'true';
      fault.textContent = `${key.value === '' ? 'Enter an API key' : 'The service refused this key. Correct it'}, then press Enter to send again.`;
      key.focus();
    },
    accept,
  };
}

/** Makes the addresses absolute, and selects the published one that this page is from, else the page's own service. */
function selectAddress(address: HTMLSelectElement): void {
  const options = [...address.options];
  for (const option of options) option.value = new URL(option.value, location.href).href.replace(/\/$/, '');
  const own = options.find(({ className }) => className === 'own');
  const published = options.find(
    (option) => option !== own && new URL(option.value).origin === location.origin,
  );
  if (published !== undefined) own?.remove();
  address.value = (published ?? own)?.value ?? '';
}

const access = accessOf(required(document.querySelector<HTMLFormElement>('.access')));
for (const section of document.querySelectorAll<HTMLElement>('.try')) tryIt(section, access);

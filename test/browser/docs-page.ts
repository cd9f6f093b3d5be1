import type { Locator, Page } from 'playwright-core';
import { createContainer } from '../../src/bootstrap/service/container.js';
import { startService, type Service } from '../../src/bootstrap/service/start-service.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';

export const KEY = 'a-key-of-the-browser-tests';

/** Starts a service with an empty store, on a free port. */
export const startStore = async (settings: Readonly<Record<string, string>> = {}): Promise<Service> =>
  startService(
    await createContainer(
      readSettings({ PORT: '0', STORE_URL: 'memory:', API_KEYS: KEY, LOG_LEVEL: 'silent', ...settings }),
    ),
  );

export const keyField = (page: Page): Locator => page.getByLabel('API key');

/** The part of the page for an operation, by its id. */
export const operationOn = (page: Page, id: string): Locator => page.locator(`#${id}`);

/** The field of a parameter, or of the body. */
export const fieldOf = (page: Page, id: string, name: string): Locator => page.locator(`#${id}-${name}`);

/** Sends a request by the Send button, and returns the response that the page shows. */
export async function send(page: Page, id: string) {
  const operation = operationOn(page, id);
  const outcome = operation.getByRole('status');
  await operation.getByRole('button', { name: 'Send' }).click();
  await outcome.filter({ hasNotText: 'Sending' }).waitFor();
  return {
    outcome: (await outcome.textContent()) ?? '',
    body: (await operation.locator('.body').textContent()) ?? '',
    headers: (await operation.locator('.headers').textContent()) ?? '',
  };
}

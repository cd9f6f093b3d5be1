import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { createContainer } from '../../src/bootstrap/container.js';
import { startService, type Service } from '../../src/bootstrap/service.js';
import { readSettings } from '../../src/bootstrap/settings.js';

export const KEY = 'a-key-of-the-browser-tests';

/** A service with an empty store, on a free port. */
export const startDocs = async (settings: Readonly<Record<string, string>> = {}): Promise<Service> =>
  startService(
    await createContainer(
      readSettings({ PORT: '0', STORE_URL: 'memory:', API_KEYS: KEY, LOG_LEVEL: 'silent', ...settings }),
    ),
  );

/** A page, what the browser complained of in it, and all that it asked for. */
export interface OpenPage {
  readonly page: Page;
  readonly complaints: readonly string[];
  readonly requests: readonly URL[];
}

/** Opens the docs page in a context of its own, and waits until it shows the document. */
export async function openDocs(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: URL[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => requests.push(new URL(request.url())));
  await page.goto(address);
  await page.locator('#schemas').waitFor();
  return { page, complaints, requests };
}

/** All that the page shows of an operation, by its id. */
export const operationOn = (page: Page, id: string): Locator => page.locator(`#${id}`);

export const keyField = (page: Page): Locator => page.getByLabel('API key');

/** The field of a parameter, or of the body. */
export const fieldOf = (page: Page, id: string, name: string): Locator =>
  operationOn(page, id).locator(`#${id}-${name}`);

/** An answer as the page shows it. */
export interface ShownAnswer {
  readonly outcome: string;
  readonly headers: string;
  readonly body: string;
}

async function shownAnswer(page: Page, id: string): Promise<ShownAnswer> {
  const answer = operationOn(page, id).getByRole('group', { name: 'Answer', exact: true });
  return {
    outcome: (await answer.locator('.outcome strong').textContent()) ?? '',
    headers: (await answer.locator('.headers').innerText()).replaceAll('\n', ' '),
    body: (await answer.locator('pre').textContent()) ?? '',
  };
}

/** Sends the request of an operation by the button, and waits for the answer. */
export async function send(page: Page, id: string, button = 'Send'): Promise<ShownAnswer> {
  const operation = operationOn(page, id);
  const told = page.waitForResponse((response) => new URL(response.url()).pathname.includes('/pets'));
  await operation.getByRole('button', { name: button }).click();
  await (await told).finished();
  await operation
    .getByRole('status')
    .filter({ hasText: /^Answered with/ })
    .waitFor();
  return shownAnswer(page, id);
}

/** Opens all that is folded. */
export const unfold = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });

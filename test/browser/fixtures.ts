import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { createContainer } from '../../src/bootstrap/service/container.js';
import { startService, type Service } from '../../src/bootstrap/service/start-service.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program that `CHROMIUM` names, else the first Chromium on the path. */
const executablePath = [
  process.env['CHROMIUM'] ?? [],
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name))),
]
  .flat()
  .find((file) => existsSync(file));

/** Launches a real Chromium without a window. The caller closes it. */
export function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('No Chromium found: set CHROMIUM to its path.');
  // Containers have little shared memory and no graphics.
  return chromium.launch({ executablePath, args: ['--disable-dev-shm-usage', '--disable-gpu'] });
}

/**
 * A suite with one browser for all its tests. Pending without a Chromium; with `REQUIRE_CHROMIUM=1` it fails instead.
 */
export function describeInChromium(title: string, body: (browser: () => Browser) => void): void {
  if (executablePath === undefined && process.env['REQUIRE_CHROMIUM'] !== '1') {
    describe(title, () => void it('is not run: no Chromium, neither by CHROMIUM nor on the path'));
    return;
  }
  describe(title, () => {
    let launched: Browser | undefined;
    before(async () => {
      launched = await launchChromium();
    });
    after(() => launched?.close());
    body(() => {
      if (launched === undefined) throw new Error('Only tests and hooks have the browser.');
      return launched;
    });
  });
}

export const KEY = 'a-key-of-the-browser-tests';

/** Starts a service with an empty store, on a free port. */
export const startStore = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<Service> =>
  startService(
    await createContainer(
      readSettings({
        PORT: '0',
        STORE_URL: 'memory:',
        API_KEYS: KEY,
        LOG_LEVEL: 'silent',
        ...settings,
      }),
    ),
  );

export const keyField = (page: Page): Locator => page.getByLabel('API key');

/** The part of the page for an operation, by its id. */
export const operationOn = (page: Page, id: string): Locator => page.locator(`#${id}`);

/** The field of a parameter, or of the body. */
export const fieldOf = (page: Page, id: string, name: string): Locator =>
  page.locator(`#${id}-${name}`);

/** Opens the fields that an operation has behind More. */
export const openMore = (page: Page, id: string): Promise<void> =>
  operationOn(page, id).getByText('More', { exact: true }).click();

/** Sends a request by a button, and returns the response that the page shows. */
export async function send(page: Page, id: string, name = 'Send') {
  const operation = operationOn(page, id);
  const outcome = operation.getByRole('status');
  await operation.getByRole('button', { name }).click();
  await outcome.filter({ hasNotText: 'Sending' }).waitFor();
  return {
    outcome: (await outcome.textContent()) ?? '',
    body: (await operation.locator('.body').textContent()) ?? '',
    headers: (await operation.locator('.headers').textContent()) ?? '',
  };
}

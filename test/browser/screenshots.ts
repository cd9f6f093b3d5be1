import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { launchChromium } from './chromium.js';
import { KEY, keyField, operationOn, send, startStore } from './docs-page.js';

/* Takes the pictures in docs/images: an animal that was added on the docs page, on a desktop and on a phone. */

const IMAGES = new URL('../../../docs/images/', import.meta.url);

const PICTURES = [
  { name: 'docs-try-1280-light.png', viewport: { width: 1280, height: 760 }, colorScheme: 'light' },
  { name: 'docs-try-390-dark.png', viewport: { width: 390, height: 820 }, colorScheme: 'dark' },
] as const;

const service = await startStore({ PORT: process.env['PORT'] ?? '8080' });
const browser = await launchChromium();
try {
  await mkdir(IMAGES, { recursive: true });
  for (const { name, ...options } of PICTURES) {
    const page = await browser.newPage(options);
    await page.goto(service.docsUrl);
    await keyField(page).fill(KEY);
    await send(page, 'createPet');
    const top = options.viewport.width < 1000 ? '.try' : 'h2';
    await operationOn(page, 'createPet')
      .locator(top)
      .evaluate((shown) => shown.scrollIntoView());
    await page.screenshot({ path: fileURLToPath(new URL(name, IMAGES)) });
    await page.close();
  }
} finally {
  await browser.close();
  await service.stop(0);
}

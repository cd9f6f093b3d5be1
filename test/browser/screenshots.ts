import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { launchChromium } from './chromium.js';
import { KEY, fieldOf, keyField, openDocs, operationOn, send, startDocs } from './docs-page.js';

/*
 * Makes the pictures of the docs page in docs/images: at the width of a phone and of a desk, light and dark,
 * its head and an operation that was tried. The fonts are those of the machine.
 */

const IMAGES = new URL('../../../docs/images/', import.meta.url);

const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 980 },
];

const service = await startDocs({ PORT: process.env['PORT'] ?? '8080' });
const browser = await launchChromium();
try {
  await mkdir(IMAGES, { recursive: true });
  for (const viewport of SIZES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await openDocs(browser, service.docsUrl, {
        viewport,
        colorScheme,
        reducedMotion: 'reduce',
      });
      const take = (what: string): Promise<unknown> =>
        page.screenshot({
          path: fileURLToPath(new URL(`docs-${what}-${viewport.width}-${colorScheme}.png`, IMAGES)),
        });
      await take('head');
      await keyField(page).fill(KEY);
      await fieldOf(page, 'createPet', 'body').fill(
        '{\n  "name": "Bella",\n  "categoryId": 9223372036854775807\n}',
      );
      await send(page, 'createPet');
      const create = operationOn(page, 'createPet');
      await (viewport.width < 1000 ? create.locator('.given') : create).evaluate((shown) =>
        shown.scrollIntoView(),
      );
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await take('try');
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await service.stop(0);
}

import { join } from 'node:path';
import { ROOT } from '../docs/code-blocks.js';
import { KEY, keyField, launchChromium, operationOn, send, startStore } from './fixtures.js';

/* Takes the picture of the README: an animal that was added on the docs page. */

const service = await startStore({ PORT: process.env['PORT'] ?? '8080' });
const browser = await launchChromium();
try {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 760 },
    colorScheme: 'light',
  });
  await page.goto(service.docsUrl);
  await keyField(page).fill(KEY);
  await send(page, 'createPet');
  await operationOn(page, 'createPet')
    .locator('h2')
    .evaluate((shown) => shown.scrollIntoView());
  await page.screenshot({ path: join(ROOT, 'docs/images/docs-try-1280-light.png') });
} finally {
  await browser.close();
  await service.stop(0);
}

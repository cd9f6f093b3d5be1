import axe from 'axe-core';
import { expect } from 'chai';
import type { Service } from '../../src/bootstrap/service.js';
import { describeInChromium } from './chromium.js';
import { KEY, fieldOf, keyField, openDocs, send, startDocs, unfold } from './docs-page.js';

describeInChromium('The docs page for all', (browser) => {
  let service: Service;
  before(async () => {
    service = await startDocs();
  });
  after(() => service.stop(0));
  afterEach(async () => {
    for (const context of browser().contexts()) await context.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [390, 1280]) {
      it(`has no fault that axe finds, ${colorScheme}, at a width of ${width}`, async () => {
        const viewport = { width, height: 844 };
        const { page } = await openDocs(browser(), service.docsUrl, { colorScheme, viewport });
        await keyField(page).fill(KEY);
        await send(page, 'createPet');
        await send(page, 'listPets');
        await fieldOf(page, 'getPet', 'petId').fill('0');
        await send(page, 'getPet');
        await unfold(page);
        await page.evaluate(axe.source);
        const { violations }: axe.AxeResults = await page.evaluate('axe.run()');
        const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
        expect(told).to.deep.equal([]);
      });
    }
  }

  for (const width of [320, 390, 768, 1280]) {
    it(`needs no scrolling sideways at a width of ${width}`, async () => {
      const { page } = await openDocs(browser(), service.docsUrl, { viewport: { width, height: 844 } });
      await keyField(page).fill(KEY);
      await send(page, 'listPets');
      await unfold(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(width);
    });
  }

  for (const [reducedMotion, behavior] of [
    ['reduce', 'auto'],
    ['no-preference', 'smooth'],
  ] as const) {
    it(`scrolls as wished: ${reducedMotion}`, async () => {
      const { page } = await openDocs(browser(), service.docsUrl, { reducedMotion });
      const found = await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior);
      expect(found).to.equal(behavior);
    });
  }
});

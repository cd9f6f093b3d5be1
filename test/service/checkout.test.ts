import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Child, PACKAGE, cleanUp, temporaryFolder } from './running-service.js';

/** What the scripts need. */
const PARTS = [
  'src',
  'test/contract',
  'tools/build.mjs',
  'tools/dev.mjs',
  'package.json',
  'tsconfig.base.json',
];

const isLong = process.env['CI'] || process.env['LONG'];

(isLong ? describe : describe.skip)(
  'A checkout without a build (only with CI or LONG set)',
  function () {
    this.timeout(180_000); // it compiles everything

    let folder: string;
    before(async () => {
      folder = temporaryFolder();
      for (const part of PARTS)
        await cp(join(PACKAGE, part), join(folder, part), { recursive: true });
      await symlink(join(PACKAGE, 'node_modules'), join(folder, 'node_modules'));
    });
    after(cleanUp);

    it('has npm run dev rebuild and restart the service when a source changes', async () => {
      const dev = new Child(process.execPath, ['tools/dev.mjs'], folder, {
        PORT: '0',
        STORE_URL: 'memory:',
      });
      await dev.said(/ready at/);
      const source = join(folder, 'src/bootstrap/commands/serve.ts');
      const text = await readFile(source, 'utf8');
      const seen = dev.said(/changed, ready at/).then(() => true);
      // Again and again: the service may be ready before the compiler watches.
      for (let change = 1, isSeen = false; !isSeen; change += 1) {
        await writeFile(source, `${text.replace('`ready at', '`changed, ready at')}// ${change}\n`);
        isSeen = await Promise.race([seen, delay(10_000, false)]);
      }
      await dev.stop();
    });
  },
);

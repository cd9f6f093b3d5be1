import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The Chromium to run in: the program that `CHROMIUM` names, else the first there is on the path. */
function findChromium(): string | undefined {
  const { CHROMIUM: given, PATH = '' } = process.env;
  if (given) return given;
  return PATH.split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const executablePath = findChromium();

/** A real Chromium without a window; whoever launches it closes it. */
export function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('There is no Chromium: set CHROMIUM to one.');
  // A container's shared memory is small, and its graphics are none.
  return chromium.launch({ executablePath, args: ['--disable-dev-shm-usage', '--disable-gpu'] });
}

/** How long a test in a browser may take, in milliseconds: other work may slow the machine. */
const PATIENCE = 60_000;

/**
 * A suite that needs a browser, one for all of its tests. Without one it is pending and says why; with
 * `REQUIRE_CHROMIUM=1` it fails.
 */
export function describeInChromium(title: string, body: (browser: () => Browser) => void): void {
  const missing = 'no Chromium on the path, and CHROMIUM names none';
  if (executablePath !== undefined) {
    describe(title, function () {
      this.timeout(PATIENCE);
      let launched: Browser | undefined;
      before(async () => {
        launched = await launchChromium();
      });
      after(() => launched?.close());
      body(() => {
        if (launched === undefined) throw new Error('The browser is there once the tests run.');
        return launched;
      });
    });
  } else if (process.env['REQUIRE_CHROMIUM'] === '1') {
    describe(title, () =>
      it('has a browser to run in', () => {
        throw new Error(missing);
      }),
    );
  } else {
    describe(title, () => void it(`is not run: ${missing}`));
  }
}

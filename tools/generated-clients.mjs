// Generates clients from the OpenAPI document by openapi-generator, builds them, and lets them list, create and get
// against the built service: int64 to the last digit where the language has one. Usage: npm run generated-clients.
// Needs Java 17 and Maven (which brings the generator from Maven Central), Python 3 and Go.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startService } from './service.mjs';

const GENERATOR = '7.25.0';
const KEY = 'generated-clients-key-0123456789';
const LARGEST = '9223372036854775807';
const root = fileURLToPath(new URL('..', import.meta.url));
const checks = join(root, 'tools/generated-clients');
const { openApiDocument } = await import(
  new URL('../build/src/adapters/http/index.js', import.meta.url).href
);

const run = async (command, args, cwd = root) =>
  (await promisify(execFile)(command, args, { cwd, maxBuffer: 2 ** 26 })).stdout;

const folder = mkdtempSync(join(tmpdir(), 'animal-store-clients-'));

async function generate(generator, into, ...more) {
  const options = ['-g', generator, '-i', join(folder, 'openapi.json'), '-o', into];
  const out = await run('java', [
    '-jar',
    join(folder, `openapi-generator-cli-${GENERATOR}.jar`),
    'generate',
    ...options,
    ...more,
  ]);
  return new Set(out.split('\n').filter((line) => / (?:WARN|ERROR) /.test(line)));
}

/** By language: makes the client, and gives back how to run what uses it. */
const LANGUAGES = {
  async typescript(into) {
    const complaints = await generate('typescript-fetch', into);
    writeFileSync(join(into, 'package.json'), '{"type":"commonjs"}');
    const options =
      '--module node16 --target es2023 --lib es2023,dom --strict --skipLibCheck --outDir build index.ts';
    await run('tsc', options.split(' '), into);
    const command = [process.execPath, join(checks, 'check.mjs'), join(into, 'build')];
    return { complaints, command };
  },
  async python(into) {
    const complaints = await generate('python', into);
    await run('python3', ['-m', 'venv', join(into, 'venv')]);
    await run(join(into, 'venv/bin/pip'), ['install', '--quiet', '--disable-pip-version-check', into]);
    return { complaints, command: [join(into, 'venv/bin/python'), join(checks, 'check.py')] };
  },
  async go(into) {
    const properties = 'packageName=animalstore,isGoSubmodule=true,withGoMod=false';
    // To the generator NewPet is what makes a Pet, so the model of that name needs another one.
    const complaints = await generate(
      'go',
      into,
      `--additional-properties=${properties}`,
      '--model-name-mappings=NewPet=PetToAdd',
    );
    writeFileSync(join(into, 'go.mod'), 'module example.org/animalstore\n\ngo 1.23\n');
    mkdirSync(join(into, 'check'));
    cpSync(join(checks, 'check.go'), join(into, 'check/main.go'));
    await run('go', ['build', '-o', 'check/check', './check'], into);
    return { complaints, command: [join(into, 'check/check')] };
  },
};

try {
  const artifact = `org.openapitools:openapi-generator-cli:${GENERATOR}:jar`;
  await run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]);
  for (const [language, make] of Object.entries(LANGUAGES)) {
    const { url, stop } = await startService(KEY, 'memory:');
    try {
      writeFileSync(join(folder, 'openapi.json'), openApiDocument({ publicUrl: url.href }));
      const { complaints, command } = await make(join(folder, language));
      const [program, ...args] = command;
      const seen = JSON.parse(await run(program, [...args, url.href, KEY]));
      const largest = language === 'typescript' ? String(Number.MAX_SAFE_INTEGER) : LARGEST;
      const { rounded, ...others } = seen;
      assert.deepEqual(others, {
        created: largest,
        once: true,
        listed: [largest, '1'],
        got: largest,
        status: 'available',
        next: true,
        refusal: 'pet_not_found',
      });
      const note = rounded === undefined ? '' : `, and reads ${LARGEST} as ${rounded}`;
      console.log(`${language}: lists, creates and gets, with ${largest}${note}`);
      for (const complaint of complaints) console.log(`  ${complaint.trim()}`);
    } finally {
      await stop();
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

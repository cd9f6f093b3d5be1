// Writes down the public types of each entry, as declared and documented, in docs/api: so that what others would
// notice shows in review. Usage: npm run api; npm run api:check fails where a report is not up to date.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'tools/api');
const check = process.argv.includes('--check');
if (!existsSync(join(tools, 'node_modules'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: tools,
    stdio: 'inherit',
  });
}
const { CompilerState, Extractor, ExtractorConfig } = createRequire(join(tools, 'package.json'))(
  '@microsoft/api-extractor',
);

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.entries(manifest.exports).filter(([, path]) => path.endsWith('.js'));
const declarations = entries.map(([, path]) => join(root, path.replace(/\.js$/, '.d.ts')));
const reportOf = (entry) => `animal-store${entry.slice(1).replace('/', '-')}.api.md`;
const reportFolder = join(root, 'docs/api');
const temporary = mkdtempSync(join(tmpdir(), 'animal-store-api-'));

const configOf = (index) =>
  ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: declarations[index],
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2022',
            lib: ['es2023', 'dom'],
            module: 'nodenext',
            strict: true,
            types: ['node'],
            skipLibCheck: true, // the report's compiler is older than the one that checks them
          },
          files: declarations,
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: reportOf(entries[index][0]),
        reportFolder,
        reportTempFolder: temporary,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        // No release tags are used: all that an entry exports is public.
        extractorMessageReporting: { default: { logLevel: 'none' } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
        compilerMessageReporting: { default: { logLevel: 'error' } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  });

try {
  mkdirSync(reportFolder, { recursive: true });
  const compilerState = CompilerState.create(configOf(0), { additionalEntryPoints: declarations });
  const stale = readdirSync(reportFolder).filter(
    (name) => !entries.some(([entry]) => reportOf(entry) === name),
  );
  for (const [index, [entry]] of entries.entries()) {
    const { apiReportChanged, errorCount } = Extractor.invoke(configOf(index), {
      compilerState,
      localBuild: !check,
      messageCallback(message) {
        if (message.logLevel !== 'error') message.handled = true;
      },
    });
    assert.equal(errorCount, 0, `the declarations of ${entry} can be read`);
    if (apiReportChanged) stale.push(reportOf(entry));
  }
  if (!check) {
    for (const name of stale) console.log(`docs/api/${name} is new, or has changed`);
  } else if (stale.length > 0) {
    console.error(
      `Not what the types are: ${stale.join(', ')} in docs/api. Run npm run api, and look at what changed.`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(temporary, { recursive: true });
}

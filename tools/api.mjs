// Reports the public types of each entry in docs/api, for review: npm run api. With --check it writes nothing and fails
// if a report is stale, or if TypeDoc finds a public part without a docstring or a type that no entry exports.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'tools/api');
const check = process.argv.includes('--check');
// Their compiler is older than the one that builds, so they are installed apart.
if (!existsSync(join(tools, 'node_modules'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: tools,
    stdio: 'inherit',
  });
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.entries(manifest.exports).filter(([, path]) => path.endsWith('.js'));
if (check) await checkDocstrings();
report();

/** Every public part has a docstring, and every type an entry. */
async function checkDocstrings() {
  const { Application } = await import(
    createRequire(join(tools, 'package.json')).resolve('typedoc')
  );
  const application = await Application.bootstrapWithPlugins({
    entryPoints: entries.map(([, path]) =>
      join(root, path.replace(/^\.\/build\/(.*)\.js$/, '$1.ts')),
    ),
    options: join(tools, 'typedoc.jsonc'),
  });
  const project = await application.convert();
  application.validate(project);
  if (application.logger.hasErrors() || application.logger.hasWarnings()) process.exitCode = 1;
}

function report() {
  const { CompilerState, Extractor, ExtractorConfig } = createRequire(join(tools, 'package.json'))(
    '@microsoft/api-extractor',
  );
  const { compilerOptions } = JSON.parse(readFileSync(join(tools, 'tsconfig.json'), 'utf8'));
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'animal-store-api-'));
  const reportFolder = join(root, 'docs/api');
  mkdirSync(reportFolder, { recursive: true });
  const declarations = entries.map(([, path]) => join(root, path.replace(/\.js$/, '.d.ts')));
  const names = entries.map(([entry]) => `animal-store${entry.slice(1).replace('/', '-')}.api.md`);
  const configOf = (index) =>
    ExtractorConfig.prepare({
      configObject: {
        projectFolder: root,
        mainEntryPointFilePath: declarations[index],
        compiler: { overrideTsconfig: { compilerOptions, files: declarations } },
        apiReport: {
          enabled: true,
          reportFileName: names[index],
          reportFolder,
          reportTempFolder: temporary.path,
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        newlineKind: 'lf',
        messages: {
          extractorMessageReporting: { default: { logLevel: 'none' } },
          tsdocMessageReporting: { default: { logLevel: 'none' } },
          compilerMessageReporting: { default: { logLevel: 'error' } },
        },
      },
      configObjectFullPath: undefined,
      packageJsonFullPath: join(root, 'package.json'),
    });
  const compilerState = CompilerState.create(configOf(0), { additionalEntryPoints: declarations });
  const stale = readdirSync(reportFolder).filter((name) => !names.includes(name));
  for (const [index, name] of names.entries()) {
    const { apiReportChanged } = Extractor.invoke(configOf(index), {
      compilerState,
      localBuild: !check,
      messageCallback: (message) => {
        message.handled = message.logLevel !== 'error';
      },
    });
    if (apiReportChanged) stale.push(name);
  }
  if (stale.length === 0) return;
  console.log(`docs/api: ${stale.join(', ')} ${check ? 'are stale: npm run api' : 'changed'}`);
  if (check) process.exitCode = 1;
}

// Writes down the public types of each entry, as declared and documented, in docs/api, so that what others would
// notice shows in review; and a reference for readers, from the docstrings, in docs/reference.
// Usage: npm run api; npm run api:check fails where one of them is not up to date. Both fail where a public part has
// no docstring, or is of a type that no entry exports.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { completeDeclarations } from './api/declarations.mjs';
import { makeReference, reportOf } from './api/reference.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'tools/api');
const check = process.argv.includes('--check');
if (!existsSync(join(tools, 'node_modules'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: tools,
    stdio: 'inherit',
  });
}
const toolNamed = createRequire(join(tools, 'package.json'));
const { CompilerState, Extractor, ExtractorConfig } = toolNamed('@microsoft/api-extractor');

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.entries(manifest.exports).filter(([, path]) => path.endsWith('.js'));
const reportFolder = join(root, 'docs/api');
const referenceFolder = join(root, 'docs/reference');
const temporary = mkdtempSync(join(tmpdir(), 'animal-store-api-'));
// Within the package, because the declarations name its dependencies.
const copies = mkdtempSync(join(root, 'build/api-'));

const compilerOptions = {
  target: 'es2022',
  lib: ['es2023', 'dom'],
  module: 'nodenext',
  strict: true,
  types: ['node'],
  skipLibCheck: true, // the report's compiler is older than the one that checks them
};

const configOf = (declarations, index) =>
  ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: declarations[index],
      compiler: { overrideTsconfig: { compilerOptions, files: declarations } },
      apiReport: {
        enabled: true,
        reportFileName: reportOf(entries[index][0]),
        reportFolder,
        reportTempFolder: temporary,
      },
      docModel: { enabled: true, apiJsonFilePath: join(temporary, `${index}.json`) },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        // No release tags are used: all that an entry exports is public.
        extractorMessageReporting: {
          default: { logLevel: 'none' },
          'ae-undocumented': { logLevel: 'warning' },
          'ae-forgotten-export': { logLevel: 'warning' },
        },
        tsdocMessageReporting: { default: { logLevel: 'warning' } },
        compilerMessageReporting: { default: { logLevel: 'error' } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  });

const nameOf = (entry) => `animal-store${entry.slice(1)}`;

/** Named by public types, and nothing that anyone else makes or looks into. */
const OPAQUE = new Map([
  [
    'Endpoint',
    'what HttpInterface keeps in a route for itself; a transport hands the route back as it got it',
  ],
  [
    'SqliteConnection',
    'its repositories are made by openSqliteStore only: their classes are exported as types',
  ],
  [
    'MongoConnection',
    'its repositories are made by openMongoStore only: their classes are exported as types',
  ],
]);

/** What is wrong, by a message of api-extractor; nothing, for most. */
function faultOf({ entry, messageId, text, sourceFilePath, sourceFileLine }) {
  if (messageId.startsWith('tsdoc-')) {
    return [`${nameOf(entry)}: ${text} (${sourceFilePath.replace(copies, '')}:${sourceFileLine})`];
  }
  if (messageId !== 'ae-forgotten-export') return [];
  // One entry's types may be told in terms of another's: forgotten is what no entry exports.
  const [, name] = /"(.*?)"/.exec(text);
  const known = OPAQUE.has(name) || models.some(({ items }) => items.some((item) => item.name === name));
  return known ? [] : [`${nameOf(entry)}: ${name} is part of a public type, and no entry exports it`];
}

/** The public parts without a docstring: of fewer than 10 letters, as api-extractor has it in its reports. */
function undocumentedIn({ entry, model, items }) {
  const parts = items.flatMap((item) => [
    [item.name, item],
    ...(item.members ?? []).map((member) => [`${item.name}.${member.name ?? 'constructor'}`, member]),
  ]);
  return [['the entry itself (@packageDocumentation)', model], ...parts].flatMap(
    ([name, { docComment = '' }]) =>
      docComment.replaceAll(/[/*\s]/g, '').length < 10 ? [`${nameOf(entry)}: ${name} has no docstring`] : [],
  );
}

/** What is not up to date; written anew where that is wanted. */
function keepReference(pages) {
  mkdirSync(referenceFolder, { recursive: true });
  const there = readdirSync(referenceFolder);
  const left = there.filter((name) => !pages.has(name));
  const changed = [...pages].filter(
    ([name, text]) => !there.includes(name) || readFileSync(join(referenceFolder, name), 'utf8') !== text,
  );
  if (!check) {
    for (const name of left) rmSync(join(referenceFolder, name));
    for (const [name, text] of changed) writeFileSync(join(referenceFolder, name), text);
  }
  return [...left, ...changed.map(([name]) => name)].map((name) => `docs/reference/${name}`);
}

let models = [];
try {
  mkdirSync(reportFolder, { recursive: true });
  const { declarations, commented } = completeDeclarations(toolNamed('typescript'), {
    root,
    folder: copies,
    entries: entries.map(([, path]) => join(root, path.replace(/\.js$/, '.d.ts'))),
    compilerOptions,
  });
  const compilerState = CompilerState.create(configOf(declarations, 0), {
    additionalEntryPoints: declarations,
  });
  const stale = readdirSync(reportFolder)
    .filter((name) => !entries.some(([entry]) => reportOf(entry) === name))
    .map((name) => `docs/api/${name}`);
  const messages = [];
  models = entries.map(([entry], index) => {
    const { apiReportChanged, errorCount } = Extractor.invoke(configOf(declarations, index), {
      compilerState,
      localBuild: !check,
      messageCallback(message) {
        messages.push({ entry, ...message });
        if (message.logLevel !== 'error') message.handled = true;
      },
    });
    assert.equal(errorCount, 0, `the declarations of ${entry} can be read`);
    if (apiReportChanged) stale.push(`docs/api/${reportOf(entry)}`);
    const model = JSON.parse(readFileSync(join(temporary, `${index}.json`), 'utf8'));
    return { entry, model, items: model.members[0].members };
  });

  const faults = messages.flatMap(faultOf).concat(models.flatMap(undocumentedIn));
  stale.push(...keepReference(makeReference(models, commented)));

  if (!check) {
    for (const name of stale) console.log(`${name} is new, or has changed`);
  } else if (stale.length > 0) {
    console.error(
      `Not what the types and docstrings are: ${stale.join(', ')}. Run npm run api, and look at what changed.`,
    );
    process.exitCode = 1;
  }
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exitCode = 1;
  }
} finally {
  rmSync(temporary, { recursive: true });
  rmSync(copies, { recursive: true });
}

import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { OpenOptions, Store } from '../../application/ports/store.js';
import { UsageError, addCommand, interruptible, note, type Commands } from './command-line.js';
import { importModule, isContainerModule } from '../service/load-adapters.js';
import { readSettings } from '../service/settings.js';

interface Options {
  readonly url?: string;
  readonly only?: string;
  readonly durable?: boolean;
  readonly shared?: boolean;
  readonly ordered?: boolean;
}

/** The part of `animal-store/contract` that `check-store` uses. The suites are compiled after the program. */
interface Suites {
  readonly storeContracts: readonly Suite[];
  readonly storeFactoryContract: Suite;
  readonly storeSubject: (
    open: () => Promise<Store>,
    remove: () => Promise<void>,
    promises: Options,
  ) => Promise<Subject>;
  readonly runContract: (of: object, open: OpenSubject, options: object) => Promise<readonly CaseResult[]>;
}

type Suite = { readonly port: string; readonly cases: ReadonlyArray<{ readonly name: string }> };

type Subject = { readonly dispose: () => Promise<void> };

/** Opens a fresh store for a case. */
type OpenSubject = () => Promise<Subject>;

interface Subjects {
  readonly open: OpenSubject;
  /** For a durable store with a factory: a place without a store. */
  readonly openPlace?: OpenSubject | undefined;
}

interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly reason?: string;
  readonly error?: unknown;
}

const SUITES: string = 'animal-store/contract';

/** Adds `check-store`. */
export function addCheckStoreCommand(program: Command, commands: Commands): void {
  const summary = 'Runs the contract suites on a store of your own.';
  const example = "animal-store check-store ./my-store.mjs --url 'shelf:{folder}/animals'";
  addCommand(program, 'check-store', summary, example)
    .argument('<MODULE>', 'file or package that exports openStore, or adapter as for ADAPTERS')
    .option('--url <url>', 'URL of the stores of adapter; {folder} becomes a new folder, {name} a new name')
    .option('--durable', 'the stores of adapter survive the end of the process: check that')
    .option('--shared', 'several processes may use a store of adapter at once: check that')
    .option('--ordered', 'new animals become visible in ascending order of id: check that')
    .option('--only <text>', 'run only cases with the text in their names')
    .action((module: string, options: Options) => checkStore(commands, module, options));
}

async function checkStore(commands: Commands, module: string, options: Options): Promise<void> {
  const { only = '' } = options;
  const { io } = commands;
  const handlesBefore = process.getActiveResourcesInfo();
  const { open, openPlace } = await subjectsOf(module, options);
  const { storeContracts, storeFactoryContract, runContract } = (await import(SUITES)) as Suites;
  const isWanted = (name: string): boolean => name.includes(only);
  const wanted = [
    ...storeContracts.map((contract) => ({ contract, subjects: open })),
    ...(openPlace ? [{ contract: storeFactoryContract, subjects: openPlace }] : []),
  ].filter(({ contract: { cases } }) => cases.some(({ name }) => isWanted(name)));
  if (wanted.length === 0) throw new UsageError('No case has the text of --only in its name.');
  await interruptible(io, async (signal) => {
    await (await open()).dispose(); // a store that does not open is one error, not one for each case
    for (const { contract, subjects } of wanted) {
      const cases = await runContract(contract, subjects, { only: isWanted, signal });
      io.stdout.write(report(contract.port, cases));
      if (cases.some(({ outcome }) => outcome === 'failed')) commands.exitCode = 1;
    }
  });
  const handles = await newHandles(handlesBefore);
  if (handles.length === 0) return;
  note(io, `Handles that the store leaves open keep the process from ending: ${handles.join(', ')}`);
  io.exit(1);
}

/** How to open fresh stores: by `openStore` of the module, or by the store factory of its `adapter`. */
async function subjectsOf(module: string, options: Options): Promise<Subjects> {
  const { url } = options;
  const { openStore: open, adapter } = await importModule(module).catch((cause: Error) => {
    throw new UsageError(cause.message, { cause });
  });
  if (typeof open === 'function') return { open: open as OpenSubject };
  if (!isContainerModule(adapter)) {
    throw new UsageError(`${module} exports neither openStore, a function, nor adapter, a ContainerModule.`);
  }
  if (url === undefined || !/\{(?:folder|name)\}/.test(url)) {
    throw new UsageError('--url must hold {folder} or {name}, because each case needs a new store.');
  }
  const { TOKENS, createContainer, openStore } = await import('../service/container.js');
  const container = await createContainer(readSettings({}), [adapter]);
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const place = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-check-'));
    const name = `check_${randomBytes(8).toString('hex')}`;
    const unique = url.replaceAll('{folder}', folder).replaceAll('{name}', name);
    return {
      open: (how?: OpenOptions) => openStore('--url', unique, factories, how),
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  };
  return {
    async open() {
      const { storeSubject } = (await import(SUITES)) as Suites;
      const { open: openPlaced, dispose } = await place();
      return storeSubject(openPlaced, dispose, options);
    },
    openPlace: options.durable ? place : undefined,
  };
}

/** The kinds of handles that are open now and were not before. To close them may take a moment. */
async function newHandles(before: readonly string[]): Promise<readonly string[]> {
  await delay(100);
  const earlier = [...before];
  const isNew = (kind: string) => !earlier.includes(kind) || !earlier.splice(earlier.indexOf(kind), 1);
  return process.getActiveResourcesInfo().filter(isNew);
}

function report(port: string, cases: readonly CaseResult[]): string {
  const by = (wanted: string) => cases.filter(({ outcome }) => outcome === wanted);
  const [passed, failed, skipped] = [by('passed'), by('failed'), by('skipped')];
  const lines = [
    `${port}: ${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`,
    ...failed.map(({ name, error }) => `  failed: ${name}\n${textOf(error).replaceAll(/^/gm, '    ')}`),
    ...new Set(skipped.map(({ reason }) => `  skipped: ${reason}`)),
  ];
  return `${lines.join('\n')}\n`;
}

/** An assertion speaks for itself; other errors need their stack and causes. */
const textOf = (error: unknown): string =>
  error instanceof Error && error.name === 'AssertionError' ? error.message : inspect(error);

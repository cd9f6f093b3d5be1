import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import {
  COMPUTED_RULE,
  CYCLE_RULE,
  EXISTENCE_RULE,
  GLOBALS_RULE,
  HOME_RULE,
  LAYERS,
  NODE_RULE,
  RUNTIME_RULE,
} from './rules.js';
import { readModules, readSourceTree, type Module, type SourceTree } from './source-tree.js';
import { findViolations, type Violation } from './violations.js';

const ROOT = new URL('../../../', import.meta.url);
const lawOf = (place: string): string =>
  LAYERS.find((layer) => layer.place.test(place))?.law ?? 'no law for this place';

/** What is found when `line` is put at the end of the module, which may be a new one. */
const plant = (tree: SourceTree, path: string, line: string): Violation[] =>
  findViolations(readModules(new Map(tree).set(path, `${tree.get(path) ?? ''}\n${line}\n`)));

describe('The architecture', () => {
  let tree: SourceTree;
  let modules: readonly Module[];

  before(async () => {
    tree = await readSourceTree(ROOT, ['src', 'test/contract']);
    modules = readModules(tree);
  });

  it('holds: every import points inwards', () => {
    expect(findViolations(modules).map(({ message }) => message)).to.deep.equal([]);
  });

  describe('was really read', () => {
    it('in every file of src that is on disk', async () => {
      const onDisk = (await readdir(new URL('src', ROOT), { recursive: true })).filter((name) =>
        name.endsWith('.ts'),
      );
      expect(modules.filter(({ path }) => path.startsWith('src/'))).to.have.length(onDisk.length);
      expect(onDisk.length).to.be.greaterThan(50);
    });

    it('with the same result as a search for lines that import', () => {
      // Files are formatted, so such lines can be told by their form; a second opinion on the reader.
      const line = /^(?:import|export|\}).* from '(?<from>[^']+)';$|\bimport\('(?<dynamic>[^']+)'\)/;
      for (const { path, source, imports } of modules) {
        const searched = source
          .split('\n')
          .map((text) => line.exec(text)?.groups)
          .flatMap((groups) => groups?.['from'] ?? groups?.['dynamic'] ?? []);
        const read = imports.flatMap(({ specifier }) => specifier ?? []);
        expect(read, path).to.deep.equal(searched);
      }
    });

    it('with the edges that are known to be there', () => {
      const edges = modules.flatMap(({ path, imports }) =>
        imports.map(({ target }) => `${path} -> ${target}`),
      );
      expect(edges).to.include.members([
        'src/application/create-pet.ts -> src/domain/pet.ts',
        'src/application/create-pet.ts -> src/application/ports/clock.ts',
        'src/index.ts -> src/domain/errors.ts',
        'src/adapters/http/koa/koa-transport.ts -> koa',
        'src/adapters/http/schemas.ts -> typebox/compile',
        'src/adapters/sqlite/open-sqlite-connection.ts -> node:sqlite',
        'src/bootstrap/modules/sqlite-store.ts -> src/adapters/sqlite/open-sqlite-store.ts',
        'src/bootstrap/main.ts -> src/bootstrap/run.ts',
        'src/bootstrap/load-adapters.ts -> undefined',
      ]);
    });

    it('with a use of every home that the rules give to a technology', () => {
      const targets = modules.flatMap(({ imports }) => imports.map(({ target = '' }) => target));
      for (const name of HOME_RULE.homes.keys()) {
        const used = targets.some((target) => target === name || target.startsWith(`${name}/`));
        expect(used || name.startsWith('node:assert'), name).to.equal(true);
      }
    });
  });

  describe('is defended: a violation that is planted is caught', () => {
    const domain = 'src/domain/pet.ts';
    const application = 'src/application/create-pet.ts';
    const http = 'src/adapters/http/http-interface.ts';
    const fetch = 'src/adapters/http/fetch/fetch-handler.ts';
    const koa = 'src/adapters/http/koa/koa-transport.ts';
    const page = 'src/adapters/http/docs-page/page.ts';
    const client = 'src/adapters/http/client/animal-store-client.ts';
    const memory = 'src/adapters/memory/memory-pet-repository.ts';
    const contract = 'test/contract/planted.ts';
    const httpContract = 'test/contract/http/run-row.ts';

    const PLANTED: ReadonlyArray<readonly [path: string, line: string, law: string]> = [
      [domain, "import { PAGE_LIMIT } from '../application/list-pets.js';", lawOf(domain)],
      [domain, "import type { Clock } from '../application/ports/clock.js';", lawOf(domain)],
      [domain, "export { parse } from '../exact-json.js';", lawOf(domain)],
      [domain, "export * from '../bootstrap/tokens.js';", lawOf(domain)],
      ['src/exact-json.ts', "import { INT64_MAX } from './domain/int64.js';", lawOf('src/exact-json.ts')],
      [application, "import '../adapters/memory/memory-pet-repository.js';", lawOf(application)],
      [application, "void import('../bootstrap/serve.js');", lawOf(application)],
      [application, "import { parse } from '../exact-json.js';", lawOf(application)],
      ['src/index.ts', "export * from './adapters/memory/index.js';", lawOf('src/index.ts')],
      ['src/index.ts', "export { TOKENS } from './bootstrap/tokens.js';", lawOf('src/index.ts')],
      [http, "import type { KoaRequest } from './koa/koa-request.js';", lawOf(http)],
      [http, "import { NodeServer } from './node/node-server.js';", lawOf(http)],
      [http, "import { TOKENS } from '../../bootstrap/tokens.js';", lawOf(http)],
      [koa, "import { NodeServer } from '../node/node-server.js';", lawOf(koa)],
      [koa, "import { runCli } from '../../cli/cli.js';", lawOf(koa)],
      [page, "import { parse } from '../../../exact-json.js';", lawOf(page)],
      [page, "import type { ErrorCode } from '../answer/error-answers.js';", lawOf(page)],
      [fetch, "import '../koa/koa-transport.js';", lawOf(fetch)],
      [fetch, "import { NodeRequest } from '../node/node-request.js';", lawOf(fetch)],
      [client, "import { splitTarget } from '../koa/koa-request.js';", lawOf(client)],
      [memory, "import { retryWhileBusy } from '../sqlite/busy-retry.js';", lawOf(memory)],
      [memory, "import type { HttpLog } from '../http/http-log.js';", lawOf(memory)],
      [memory, "type T = import('../../bootstrap/tokens.js').Token<string>;", lawOf(memory)],
      ['src/bootstrap/run.ts', "import '../../test/contract/contract.js';", lawOf('src/bootstrap/run.ts')],
      [contract, "import '../../src/adapters/memory/memory-pet-repository.js';", lawOf(contract)],
      [httpContract, "import '../../../src/adapters/http/koa/koa-transport.js';", lawOf(httpContract)],
      [domain, "import { hash } from 'node:crypto';", NODE_RULE.law],
      [contract, "import { connect } from 'node:net';", NODE_RULE.law],
      [application, "import type { Readable } from 'node:stream';", NODE_RULE.law],
      [http, "import { STATUS_CODES } from 'node:http';", NODE_RULE.law],
      [page, "import { readFile } from 'node:fs/promises';", NODE_RULE.law],
      [fetch, "import { Readable } from 'node:stream';", NODE_RULE.law],
      [client, "import { randomUUID } from 'node:crypto';", NODE_RULE.law],
      [domain, "import fs from 'fs';", HOME_RULE.law],
      [application, "import { Container } from 'inversify';", HOME_RULE.law],
      [http, "import Koa from 'koa';", HOME_RULE.law],
      [http, "import { pino } from 'pino';", HOME_RULE.law],
      [koa, "import Type from 'typebox';", HOME_RULE.law],
      [koa, "import { Compile } from 'typebox/compile';", HOME_RULE.law],
      [memory, "import { DatabaseSync } from 'node:sqlite';", HOME_RULE.law],
      [memory, "import { Router } from '@koa/router';", HOME_RULE.law],
      [memory, "import 'unheard-of';", HOME_RULE.law],
      [memory, "import 'animal-store/sqlite';", HOME_RULE.law],
      [contract, "import { expect } from 'chai';", HOME_RULE.law],
      [domain, 'process.exit(1);', GLOBALS_RULE.law],
      [application, "console.log('created');", GLOBALS_RULE.law],
      [application, 'const later = setTimeout(() => {}, 1);', GLOBALS_RULE.law],
      ['src/exact-json.ts', "export const bytes = Buffer.from('[]');", GLOBALS_RULE.law],
      ['src/index.ts', 'void globalThis.process;', GLOBALS_RULE.law],
      [http, 'let timer: NodeJS.Timeout;', RUNTIME_RULE.law],
      [fetch, 'const length = Buffer.byteLength(body);', RUNTIME_RULE.law],
      [fetch, 'setImmediate(() => {});', RUNTIME_RULE.law],
      [client, "export const bytes = Buffer.from('[]');", RUNTIME_RULE.law],
      [client, 'setImmediate(() => {});', RUNTIME_RULE.law],
      [koa, 'void import(name);', COMPUTED_RULE.law],
      [koa, 'void import(`./${name}.js`);', COMPUTED_RULE.law],
      [domain, "import { Horse } from './horse.js';", EXISTENCE_RULE.law],
      ['src/planted.ts', '', EXISTENCE_RULE.law],
      ['src/presentation/planted.ts', '', EXISTENCE_RULE.law],
      ['src/domain/int64.ts', "import type { Pet } from './pet.js';", CYCLE_RULE.law],
      [memory, "export * from './memory-pet-repository.js';", CYCLE_RULE.law],
    ];

    for (const [path, line, law] of PLANTED) {
      it(`${line || 'a module'} in ${path}: ${law}`, () => {
        const found = plant(tree, path, line);
        // What points outwards closes a cycle as well.
        const broken = found.filter((other) => other.law === law || other.law !== CYCLE_RULE.law);
        expect(broken.map((violation) => violation.law)).to.deep.equal([law]);
        expect(found[0]?.message).to.include(path).and.include(law);
      });
    }

    it('for every law', () => {
      const planted = new Set(PLANTED.map(([, , law]) => law));
      const inside = [NODE_RULE, HOME_RULE, GLOBALS_RULE, RUNTIME_RULE];
      const rules = [...inside, COMPUTED_RULE, EXISTENCE_RULE, CYCLE_RULE];
      expect([...planted].sort()).to.deep.equal([...LAYERS, ...rules].map(({ law }) => law).sort());
    });

    it('and told with its file, its line, the import, the law, and what to do', () => {
      const found = findViolations(
        readModules(
          new Map([
            ['src/domain/horse.ts', "// 1\n// 2\nimport {\n  parse,\n} from '../exact-json.js';\n"],
            ['src/exact-json.ts', 'export const parse = 1;\n'],
          ]),
        ),
      );
      expect(found.map(({ message }) => message)).to.deep.equal([
        'src/domain/horse.ts:5: imports ../exact-json.js, but the domain imports nothing but itself. ' +
          'Give what is needed as an argument, or move what needs it outwards.',
      ]);
    });

    it('a cycle of three with its whole way', () => {
      const found = findViolations(
        readModules(
          new Map([
            ['src/domain/a.ts', "import './b.js';"],
            ['src/domain/b.ts', "import type { C } from './c.js';"],
            ['src/domain/c.ts', "export * from './a.js';"],
          ]),
        ),
      );
      expect(found.map(({ message }) => message)).to.deep.equal([
        'src/domain/a.ts: src/domain/a.ts -> src/domain/b.ts -> src/domain/c.ts -> src/domain/a.ts, but ' +
          'no module needs itself in the end. Move what both ends need to a module of its own.',
      ]);
    });
  });
});

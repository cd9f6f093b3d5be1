import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import {
  COMPUTED_RULE,
  CYCLE_RULE,
  GLOBALS_RULE,
  HOME_RULE,
  LAYERS,
  NODE_RULE,
  PLACE_RULE,
  RUNTIME_RULE,
} from './rules.js';
import { readModule, readSourceTree, type Module, type SourceTree } from './source-tree.js';
import { findViolations } from './violations.js';

const ROOT = new URL('../../../', import.meta.url);
const lawOf = (place: string): string =>
  LAYERS.find((layer) => layer.place.test(place))?.law ?? 'no law for this place';

describe('The architecture', () => {
  let tree: SourceTree;
  let modules: readonly Module[];

  before(async () => {
    tree = await readSourceTree(ROOT, ['src', 'test/contract']);
    modules = [...tree].map(([path, source]) => readModule(path, source));
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
    const json = 'src/exact-json.ts';
    const application = 'src/application/animal-store.ts';
    const entry = 'src/index.ts';
    const http = 'src/adapters/http/http-interface.ts';
    const page = 'src/adapters/http/docs-page/browser/page.ts';
    const fetch = 'src/adapters/http/fetch/fetch-handler.ts';
    const koa = 'src/adapters/http/koa/animal-store-router.ts';
    const memory = 'src/adapters/memory/memory-pet-repository.ts';
    const bootstrap = 'src/bootstrap/main.ts';
    const service = 'src/bootstrap/service/container.ts';
    const contract = 'test/contract/planted.ts';
    const httpContract = 'test/contract/http/planted.ts';

    const PLANTED: ReadonlyArray<readonly [path: string, line: string, law: string]> = [
      [domain, "import type { Clock } from '../application/ports/clock.js';", lawOf(domain)],
      [json, "import { INT64_MAX } from './domain/int64.js';", lawOf(json)],
      [application, "import '../adapters/memory/memory-pet-repository.js';", lawOf(application)],
      [application, "void import('../bootstrap/service/container.js');", lawOf(application)],
      [entry, "export * from './adapters/memory/index.js';", lawOf(entry)],
      [http, "import { NodeServer } from './node/node-server.js';", lawOf(http)],
      [http, "export { TOKENS } from '../../bootstrap/service/wiring.js';", lawOf(http)],
      [page, "import { INT64_MAX } from '../../../../domain/int64.js';", lawOf(page)],
      [koa, "import { NodeServer } from '../node/node-server.js';", lawOf(koa)],
      [fetch, "import { NodeRequest } from '../node/node-request.js';", lawOf(fetch)],
      [memory, "type Log = import('../http/http-log.js').HttpLog;", lawOf(memory)],
      [bootstrap, "import '../../test/contract/contract.js';", lawOf(bootstrap)],
      [service, "import { note } from '../commands/command-line.js';", lawOf(service)],
      [contract, "import '../../src/adapters/memory/memory-pet-repository.js';", lawOf(contract)],
      [httpContract, "import '../../../src/adapters/http/koa/animal-store-router.js';", lawOf(httpContract)],
      [domain, "import { hash } from 'node:crypto';", NODE_RULE.law],
      [domain, "import fs from 'fs';", HOME_RULE.law],
      [memory, "import { DatabaseSync } from 'node:sqlite';", HOME_RULE.law],
      [memory, "import 'animal-store/sqlite';", HOME_RULE.law],
      [domain, 'process.exit(1);', GLOBALS_RULE.law],
      [application, 'const later = { setTimeout };', GLOBALS_RULE.law],
      [fetch, 'const length = Buffer.byteLength(body);', RUNTIME_RULE.law],
      [koa, 'void import(`./${name}.js`);', COMPUTED_RULE.law],
      ['src/presentation/planted.ts', '', PLACE_RULE.law],
      ['src/domain/int64.ts', "import type { Pet } from './pet.js';", CYCLE_RULE.law],
      [memory, "export * from './memory-pet-repository.js';", CYCLE_RULE.law],
    ];

    for (const [path, line, law] of PLANTED) {
      it(`${line || 'a module'} in ${path}: ${law}`, () => {
        const planted = readModule(path, `${tree.get(path) ?? ''}\n${line}\n`);
        const found = findViolations([...modules.filter((module) => module.path !== path), planted]);
        // An import that points outwards closes a cycle as well.
        const broken = found.filter((other) => other.law === law || other.law !== CYCLE_RULE.law);
        expect(broken.map((violation) => violation.law)).to.deep.equal([law]);
        expect(found[0]?.message).to.include(path).and.include(law);
      });
    }

    it('for every law', () => {
      const planted = new Set(PLANTED.map(([, , law]) => law));
      const inside = [NODE_RULE, HOME_RULE, GLOBALS_RULE, RUNTIME_RULE];
      const rules = [...inside, COMPUTED_RULE, PLACE_RULE, CYCLE_RULE];
      expect([...planted].sort()).to.deep.equal([...LAYERS, ...rules].map(({ law }) => law).sort());
    });
  });
});

import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { LAYERS, RULES } from './rules.js';
import { readModule, readSourceTree, type Module, type SourceTree } from './source-tree.js';
import { findViolations } from './violations.js';

const ROOT = new URL('../../../', import.meta.url);
const lawOf = (place: string): string =>
  LAYERS.find((layer) => layer.place.test(place))?.law ?? 'no law for this place';

/** Words of adapters and use cases, which the domain must not know. */
const foreignWords = (source: string): string[] =>
  source.match(/HTTP|CSV|OpenAPI|SQL|Mongo|header|generator|fingerprint/gi) ?? [];

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

  describe('keeps the domain in words of its own', () => {
    it('in every file, comments included', () => {
      const domain = [...tree].filter(([path]) => path.startsWith('src/domain/'));
      expect(domain.map(([path]) => path)).to.include('src/domain/pet.ts');

      const found = domain.flatMap(([path, source]) =>
        foreignWords(source).map((word) => `${path}: ${word}`),
      );
      expect(found).to.deep.equal([]);
    });

    it('and finds one that is planted', () => {
      const source =
        '/** Empty if it came over HTTP, since CSV has no null: see the fingerprints. */';
      expect(foreignWords(source)).to.deep.equal(['HTTP', 'CSV', 'fingerprint']);
    });
  });

  describe('was really read', () => {
    it('in every file of src that is on disk', async () => {
      const onDisk = (await readdir(new URL('src', ROOT), { recursive: true })).filter((name) =>
        name.endsWith('.ts'),
      );
      const ofSrc = modules.filter(({ path }) => path.startsWith('src/'));
      expect(ofSrc, 'the modules of src that were read').to.have.length(onDisk.length);
      expect(onDisk, 'the files of src').to.have.length.above(50);
    });

    it('with a use of every home that the rules give to a technology', () => {
      const targets = modules.flatMap(({ imports }) => imports.map(({ target = '' }) => target));
      for (const name of RULES.home.homes.keys()) {
        const used = targets.some((target) => target === name || target.startsWith(`${name}/`));
        expect(used || name.startsWith('node:assert'), name).to.equal(true);
      }
    });
  });

  describe('is defended: a violation that is planted is caught', () => {
    const domain = 'src/domain/pet.ts';
    const application = 'src/application/animal-store.ts';
    const http = 'src/adapters/http/http-interface.ts';
    const page = 'src/adapters/http/docs-page/browser/page.ts';
    const fetch = 'src/adapters/http/fetch/fetch-handler.ts';
    const koa = 'src/adapters/http/koa/animal-store-router.ts';
    const memory = 'src/adapters/memory/memory-pet-repository.ts';

    /** Each breaks a law: that of the layer, if no other is named. */
    const PLANTED: ReadonlyArray<readonly [path: string, line: string, law?: string]> = [
      [domain, "import type { Clock } from '../application/ports/clock.js';"],
      ['src/adapters/file-system.ts', "import './memory/memory-pet-repository.js';"],
      ['src/exact-json.ts', "import { INT64_MAX } from './domain/int64.js';"],
      [application, "import '../adapters/memory/memory-pet-repository.js';"],
      [application, "void import('../bootstrap/service/container.js');"],
      ['src/index.ts', "export * from './adapters/memory/index.js';"],
      [http, "import { NodeServer } from './node/node-server.js';"],
      [http, "export { TOKENS } from '../../bootstrap/service/wiring.js';"],
      [page, "import { INT64_MAX } from '../../../../domain/int64.js';"],
      [koa, "import { NodeServer } from '../node/node-server.js';"],
      [fetch, "import { NodeRequest } from '../node/node-request.js';"],
      [memory, "type Log = import('../http/http-log.js').HttpLog;"],
      ['src/bootstrap/main.ts', "import '../../test/contract/contract.js';"],
      ['src/bootstrap/service/container.ts', "import { note } from '../commands/command-line.js';"],
      ['test/contract/planted.ts', "import '../../src/adapters/memory/memory-pet-repository.js';"],
      [
        'test/contract/http/planted.ts',
        "import '../../../src/adapters/http/koa/animal-store-router.js';",
      ],
      [domain, "import { hash } from 'node:crypto';", RULES.node.law],
      [domain, "import fs from 'fs';", RULES.home.law],
      [memory, "import { DatabaseSync } from 'node:sqlite';", RULES.home.law],
      [memory, "import 'animal-store/sqlite';", RULES.home.law],
      [domain, 'process.exit(1);', RULES.globals.law],
      [application, 'const later = { setTimeout };', RULES.globals.law],
      [fetch, 'const length = Buffer.byteLength(body);', RULES.runtime.law],
      [koa, 'void import(`./${name}.js`);', RULES.computed.law],
      [memory, "const [at, key] = [{ '::': '::1' }[memory], 'a'];", RULES.table.law],
      ['src/presentation/planted.ts', '', RULES.place.law],
      ['src/domain/int64.ts', "import type { Pet } from './pet.js';", RULES.cycle.law],
      [memory, "export * from './memory-pet-repository.js';", RULES.cycle.law],
    ];

    for (const [path, line, law = lawOf(path)] of PLANTED) {
      it(`${line || 'a module'} in ${path}: ${law}`, () => {
        const planted = readModule(path, `${tree.get(path) ?? ''}\n${line}\n`);
        const found = findViolations([
          ...modules.filter((module) => module.path !== path),
          planted,
        ]);
        // An import that points outwards closes a cycle as well.
        const broken = found.filter((other) => other.law === law || other.law !== RULES.cycle.law);
        expect(broken.map((violation) => violation.law)).to.deep.equal([law]);
        expect(found[0]?.message).to.include(path).and.include(law);
      });
    }

    it('for every law', () => {
      const planted = new Set(PLANTED.map(([path, , law = lawOf(path)]) => law));
      const rules = [...LAYERS, ...Object.values(RULES)];
      expect([...planted].sort()).to.deep.equal(rules.map(({ law }) => law).sort());
    });
  });
});

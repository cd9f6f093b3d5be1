/*
 * The architecture as data: dependencies point inwards only. Each rule is a law by its name.
 * `layers.test.ts` holds the sources to them, and shows that each is caught when it is broken.
 */

/** Which of our own modules the modules of a place may import. */
export interface LayerRule {
  readonly law: string;
  readonly place: RegExp;
  /** Folders (`src/domain/`), the files of a folder alone (`src/adapters/http/*`), files; `<name>` is a group of `place`. */
  readonly mayImport: readonly string[];
}

const INNER = ['src/domain/', 'src/application/', 'src/exact-json.ts'];

/** The HTTP interface, which every transport shares. */
const HTTP_INTERFACE = [
  'src/adapters/http/*',
  'src/adapters/http/docs-page/*',
  'src/adapters/http/open-api/',
];

/** Every module is in one place. */
export const LAYERS: readonly LayerRule[] = [
  {
    law: 'the domain imports nothing but itself',
    place: /^src\/domain\//,
    mayImport: ['src/domain/'],
  },
  {
    law: 'exact JSON imports nothing',
    place: /^src\/exact-json\.ts$/,
    mayImport: [],
  },
  {
    law: 'the application imports the domain only',
    place: /^src\/application\//,
    mayImport: ['src/domain/', 'src/application/'],
  },
  {
    law: 'the entry offers the inner layers only',
    place: /^src\/index\.ts$/,
    mayImport: INNER,
  },
  {
    law: 'the HTTP interface knows none of its transports',
    place: /^src\/adapters\/http\/(?:(?:docs-page|open-api)\/)?[^/]+$/,
    mayImport: [...INNER, ...HTTP_INTERFACE],
  },
  {
    law: 'the script of the docs page runs in a browser, and imports only itself and exact JSON',
    place: /^src\/adapters\/http\/docs-page\/browser\//,
    mayImport: ['src/adapters/http/docs-page/browser/', 'src/exact-json.ts'],
  },
  {
    law: 'a transport knows the HTTP interface, and no other transport',
    place: /^src\/adapters\/http\/(?!(?:docs-page|koa|open-api)\/)(?<transport>[^/]+)\//,
    mayImport: [...INNER, ...HTTP_INTERFACE, 'src/adapters/http/<transport>/'],
  },
  {
    law: 'the Koa router knows the requests of Node.js, and no other transport',
    place: /^src\/adapters\/http\/koa\//,
    mayImport: [
      ...INNER,
      ...HTTP_INTERFACE,
      'src/adapters/http/koa/',
      'src/adapters/http/node/node-request.ts',
    ],
  },
  {
    law: 'an adapter knows no other adapter, but the shared functions of the file system',
    place: /^src\/adapters\/(?!http\/)(?<technology>[^/]+)\//,
    mayImport: [...INNER, 'src/adapters/<technology>/', 'src/adapters/file-system.ts'],
  },
  {
    law: 'what adapters share of the file system imports nothing of ours',
    place: /^src\/adapters\/file-system\.ts$/,
    mayImport: [],
  },
  {
    law: 'the service knows no command',
    place: /^src\/bootstrap\/service\//,
    mayImport: [...INNER, 'src/index.ts', 'src/adapters/', 'src/bootstrap/service/'],
  },
  {
    law: 'bootstrap is the outside: nothing else of src is beyond it',
    place: /^src\/bootstrap\/(?!service\/)/,
    mayImport: ['src/'],
  },
  {
    law: 'contract suites know ports, not adapters',
    place: /^test\/contract\/(?!http\/)/,
    mayImport: ['test/contract/', 'src/index.ts', ...INNER],
  },
  {
    law: 'the suite of the HTTP interface knows no transport',
    place: /^test\/contract\/http\//,
    // The parts of a service around the transport under test.
    mayImport: [
      'test/contract/',
      ...INNER,
      ...HTTP_INTERFACE,
      'src/adapters/http/node/',
      'src/adapters/api-keys/',
      'src/adapters/memory/',
    ],
  },
];

const OF_NODE =
  'process Buffer require __dirname __filename global NodeJS setImmediate clearImmediate'.split(
    ' ',
  );

/** The rules beside those of the layers. */
export const RULES = {
  /** Where modules of Node.js may be imported. What is not named here runs on any runtime. */
  node: {
    law: 'only adapters and bootstrap use Node.js',
    places: [
      /^src\/adapters\/(?!http\/(?:(?!koa\/|node\/).+)$)/,
      /^src\/bootstrap\//,
      /^test\/contract\/http\//, // puts bytes on sockets
    ],
  },

  /** Packages, and modules of Node.js that are a technology, by the one place that knows them. */
  home: {
    law: 'a technology has one home',
    homes: new Map<string, RegExp>([
      ['koa', /^src\/adapters\/http\/koa\//],
      ['@koa/router', /^src\/adapters\/http\/koa\//],
      ['koa-bodyparser', /^src\/adapters\/http\/koa\//],
      ['typebox', /^src\/adapters\/http\/schemas\.ts$/],
      ['inversify', /^src\/bootstrap\//],
      ['csv-parse', /^src\/bootstrap\//],
      ['commander', /^src\/bootstrap\//],
      ['pino', /^src\/bootstrap\//],
      ['pino-pretty', /^src\/bootstrap\//],
      ['prom-client', /^src\/bootstrap\//],
      ['proxy-addr', /^src\/bootstrap\//],
      ['mongodb', /^src\/adapters\/mongodb\//],
      ['mongodb-connection-string-url', /^src\/adapters\/mongodb\//],
      ['node:sqlite', /^src\/adapters\/sqlite\//],
      // Contract suites run under any test runner: their assertions are Node's own.
      ['node:assert', /^test\/contract\//],
      ['node:assert/strict', /^test\/contract\//],
    ]),
  },

  /** Names that the inner layers do not use: those that only Node.js has, and those that print or wait. */
  globals: {
    law: 'the inner layers run anywhere, print nothing and wait for nothing',
    places: [/^src\/(?:domain|application)\//, /^src\/(?:exact-json|index)\.ts$/],
    names: new Set([
      ...OF_NODE,
      'module',
      'globalThis',
      'setTimeout',
      'setInterval',
      'console',
      'fetch',
    ]),
  },

  /** Names that only Node.js has, for what other runtimes are to run too; timers and streams are there everywhere. */
  runtime: {
    law: 'what every runtime is to run names nothing that only Node.js has',
    places: [/^src\/adapters\/http\/(?:(?:fetch|client|docs-page|open-api)\/.*|[^/]+)$/],
    names: new Set(OF_NODE),
  },

  /** Where modules may be imported by computed names, which the rules cannot see. */
  computed: {
    law: 'only what loads others imports what cannot be seen here',
    // Adapters of others, and the suites, which are compiled after the program.
    place: /^src\/bootstrap\/service\/load-adapters\.ts$/,
  },
  /** `{ a: 1 }[name]` also finds what every object inherits, such as `constructor`. */
  table: { law: 'a table that is looked up by a name from outside is a Map' },
  place: { law: 'every module has a place' },
  cycle: { law: 'no module needs itself in the end' },
} as const;

/*
 * The architecture as data: dependencies point inwards only. Each rule is a law by its name, and says what to do
 * where it is broken. `layers.test.ts` holds the sources to them, and shows of each that it bites.
 */

/** Which of our own modules the modules of a place may import. */
export interface LayerRule {
  readonly law: string;
  readonly place: RegExp;
  /** Folders (`src/domain/`), the files of a folder alone (`src/adapters/http/*`), files; `<name>` is a group of `place`. */
  readonly mayImport: readonly string[];
  readonly instead: string;
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
    instead: 'Give what is needed as an argument, or move what needs it outwards.',
  },
  {
    law: 'exact JSON imports nothing',
    place: /^src\/exact-json\.ts$/,
    mayImport: [],
    instead: 'It is to be read, and copied, on its own: write out the little that it needs.',
  },
  {
    law: 'the application imports the domain only',
    place: /^src\/application\//,
    mayImport: ['src/domain/', 'src/application/'],
    instead: 'Declare a port in src/application/ports, implement it in an adapter, bind it in src/bootstrap.',
  },
  {
    law: 'the entry offers the inner layers only',
    place: /^src\/index\.ts$/,
    mayImport: INNER,
    instead: 'Adapters have entries of their own: export it from the index.ts of its folder.',
  },
  {
    law: 'the HTTP interface knows none of its transports',
    place: /^src\/adapters\/http\/(?:(?:docs-page|open-api)\/)?[^/]+$/,
    mayImport: [...INNER, ...HTTP_INTERFACE],
    instead: 'Let HttpRequest or HttpResponse say what is needed, and every transport provide it.',
  },
  {
    law: 'the script of the docs page runs in a browser, and imports only itself and exact JSON',
    place: /^src\/adapters\/http\/docs-page\/browser\//,
    mayImport: [
      'src/adapters/http/docs-page/browser/',
      'src/adapters/http/client-conventions.ts',
      'src/exact-json.ts',
    ],
    instead: 'Let the HTML of the page carry what the script needs.',
  },
  {
    law: 'a transport knows the HTTP interface, and no other transport',
    place: /^src\/adapters\/http\/(?!(?:docs-page|koa|open-api)\/)(?<transport>[^/]+)\//,
    mayImport: [...INNER, ...HTTP_INTERFACE, 'src/adapters/http/<transport>/'],
    instead: 'Move what both need to src/adapters/http.',
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
    instead: 'Move what both need to src/adapters/http, or to src/adapters/http/node what needs Node.js.',
  },
  {
    law: 'an adapter knows no other adapter',
    place: /^src\/adapters\/(?!http\/)(?<technology>[^/]+)\//,
    mayImport: [...INNER, 'src/adapters/<technology>/'],
    instead: 'Ask for it through a port, and let src/bootstrap bind the two.',
  },
  {
    law: 'the service knows no command',
    place: /^src\/bootstrap\/service\//,
    mayImport: [...INNER, 'src/index.ts', 'src/adapters/', 'src/bootstrap/service/'],
    instead: 'Move it to the command that needs it, or let the command hand it over.',
  },
  {
    law: 'bootstrap is the outside: nothing else of src is beyond it',
    place: /^src\/bootstrap\/(?!service\/)/,
    mayImport: ['src/'],
    instead: 'What is not in src is no part of the program: move it in.',
  },
  {
    law: 'contract suites know ports, not adapters',
    place: /^test\/contract\/(?!http\/)/,
    mayImport: ['test/contract/', 'src/index.ts', ...INNER],
    instead: 'The suites are exported: let the subject that a test hands over bring what is its own.',
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
    instead: 'The suite is exported: let the transport be handed over.',
  },
];

/** Where modules of Node.js may be imported. What is not named here runs on any runtime. */
export const NODE_RULE = {
  law: 'only adapters and bootstrap use Node.js',
  places: [
    /^src\/adapters\/(?!http\/(?:(?!koa\/|node\/).+)$)/,
    /^src\/bootstrap\//,
    /^test\/contract\/http\//, // puts bytes on sockets
  ],
  instead: 'Use what every runtime has (crypto.subtle, TextEncoder), or declare a port.',
} as const;

/** Packages, and modules of Node.js that are a technology, by the one place that knows them. */
export const HOME_RULE = {
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
    ['node:sqlite', /^src\/adapters\/sqlite\//],
    // Contract suites run under any test runner: their assertions are Node's own.
    ['node:assert', /^test\/contract\//],
    ['node:assert/strict', /^test\/contract\//],
  ]),
  instead: 'Keep it to the adapter of that technology; name a new one here with its folder.',
} as const;

/** Names that the inner layers do not use: those that only Node.js has, and those that print or wait. */
export const GLOBALS_RULE = {
  law: 'the inner layers run anywhere, print nothing and wait for nothing',
  places: [/^src\/(?:domain|application)\//, /^src\/(?:exact-json|index)\.ts$/],
  names: new Set(
    [
      ['process', 'Buffer', 'require', 'module', '__dirname', '__filename', 'global', 'globalThis', 'NodeJS'],
      ['setImmediate', 'clearImmediate', 'setTimeout', 'setInterval', 'console', 'fetch'],
    ].flat(),
  ),
  instead: 'Declare a port for it, as Clock is one for the time.',
} as const;

/** Names that only Node.js has, for what other runtimes are to run too; timers and streams are there everywhere. */
export const RUNTIME_RULE = {
  law: 'what every runtime is to run names nothing that only Node.js has',
  places: [/^src\/adapters\/http\/(?:(?:fetch|client|docs-page|open-api)\/.*|[^/]+)$/],
  names: new Set(
    [
      ['process', 'Buffer', 'require', '__dirname', '__filename', 'global', 'NodeJS'],
      ['setImmediate', 'clearImmediate'],
    ].flat(),
  ),
  instead: 'Use what every runtime has (Uint8Array, TextEncoder, performance), or move it to the transport.',
} as const;

/** Where modules may be imported by computed names, which the rules cannot see. */
export const COMPUTED_RULE = {
  law: 'only what loads others imports what cannot be seen here',
  // Adapters of others, and the suites, which are compiled after the program.
  place: /^src\/bootstrap\/service\/load-adapters\.ts$/,
  instead: 'Write the name out as one string.',
} as const;

export const EXISTENCE_RULE = {
  law: 'what is imported exists, and has a place',
  instead: 'Name the file, ending in .js; a new folder needs a rule in LAYERS.',
} as const;

export const CYCLE_RULE = {
  law: 'no module needs itself in the end',
  instead: 'Move what both ends need to a module of its own.',
} as const;

// The examples of each host, and what the checks vary in them. `steps`: what the host may do earlier, of steps.mjs.
// `bodies`: after which step (and options) the animal store still has the exact body. `paths`: where it is mounted.
// `hears`: who learns of a fault besides the log. `exceptions`: groups of exceptions.json.
const NODE = ['server', 'nodeServer'];
const RUNTIME = ['server', 'runtime'];
const ROUTER = [...NODE, 'koaRouter'];
const FETCH = [...NODE, 'url'];
const KOA_ROUTER = [...ROUTER, 'koaGuessing'];
const SHOP = ['/shop'];

export const HOSTS = {
  koa: {
    steps: 'koa',
    examples: {
      app: {
        hears: 'koa',
        bodies: [
          ['bytes', true],
          ['parsed', false],
        ],
        exceptions: KOA_ROUTER,
      },
      whole: { steps: 'none', exceptions: NODE },
      equipped: { hears: 'koa', exceptions: [...ROUTER, 'koaEquipped'] },
      bodyparser: { hears: 'koa', bodies: [['none', true]], exceptions: [...KOA_ROUTER, 'koaBodyparser'] },
      mounted: {
        contractPath: '/',
        paths: SHOP,
        bodies: [
          ['bytes', true],
          ['parsed', false],
        ],
        exceptions: NODE,
      },
      nested: {
        hears: 'koa',
        contractPath: '/shops/a%2Fb',
        paths: ['/shops/north', '/shops/a%2Fb', '/outer/inner'],
        exceptions: KOA_ROUTER,
      },
    },
  },
  express: {
    steps: 'express',
    examples: {
      app: {
        contractPath: '/',
        paths: SHOP,
        bodies: [
          ['bytes', true],
          ['raw', true],
          ['text', true],
          ['parsed', false],
        ],
        exceptions: NODE,
      },
      faults: { contractPath: '/', paths: SHOP, hears: 'report', exceptions: [...NODE, 'expressFaults'] },
    },
  },
  fastify: {
    steps: 'fastify',
    examples: {
      app: {
        paths: SHOP,
        bodies: [
          ['bytes', true],
          ['parsed', false],
        ],
        exceptions: [...NODE, 'fastify'],
      },
    },
  },
  nest: {
    steps: 'connect',
    examples: {
      app: { contractPath: '/', paths: SHOP, exceptions: NODE },
      route: {
        paths: SHOP,
        bodies: [
          ['none', true, { nest: { rawBody: true } }],
          ['none', false, { nest: {} }],
        ],
        exceptions: NODE,
      },
    },
  },
  hono: {
    steps: 'hono',
    examples: { app: { paths: SHOP, bodies: [['parsed', 'host']], exceptions: [...FETCH, 'hono'] } },
  },
  h3: {
    steps: 'h3',
    examples: {
      app: { paths: SHOP, bodies: [['parsed', false]], exceptions: [...FETCH, 'h3', 'h3Mount'] },
      node: { paths: SHOP, bodies: [['parsed', false]], exceptions: [...FETCH, 'h3'] },
    },
  },
  'serverless-http': { runtime: 'lambda', examples: { app: { exceptions: ['lambda'] } } },
  workerd: {
    runtime: 'workerd',
    examples: {
      plain: { bodies: [['parsed', false]], exceptions: [...RUNTIME, 'workerd', 'workerdUnread'] },
      compat: { exceptions: [...RUNTIME, 'workerd', 'workerdUnread'] },
    },
  },
  bun: {
    runtime: 'bun',
    examples: { app: { bodies: [['parsed', false]], exceptions: [...RUNTIME, 'bun'] } },
  },
  deno: {
    runtime: 'deno',
    examples: { app: { bodies: [['parsed', false]], exceptions: [...RUNTIME, 'deno'] } },
  },
};

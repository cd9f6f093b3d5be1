// The examples of each host, and what the checks vary in them. `steps`: what the host may do earlier, of steps.mjs.
// `bodies`: whether the animal store still has the exact body after a step. `paths`: where it is mounted. `hears`: who
// learns of a fault besides the log. `exceptions`: groups of exceptions.json.
const NODE = ['server', 'nodeServer'];
const RUNTIME = ['server', 'runtime'];
const ROUTER = [...NODE, 'koaRouter'];
const FETCH = [...NODE, 'url'];
const KOA_ROUTER = [...ROUTER, 'koaGuessing'];
const BODIES = { bytes: true, parsed: false };
const UNPARSED = { parsed: false };
/** Mounted below a prefix; the contract wants the root. */
const MOUNTED = { contractPath: '/', paths: ['/shop'] };
const BELOW_SHOP = { paths: ['/shop'] };

export const HOSTS = {
  koa: {
    steps: 'koa',
    examples: {
      app: { hears: 'koa', bodies: BODIES, exceptions: KOA_ROUTER },
      whole: { steps: 'none', exceptions: NODE },
      equipped: { hears: 'koa', exceptions: [...ROUTER, 'koaEquipped'] },
      bodyparser: {
        hears: 'koa',
        bodies: { none: true },
        exceptions: [...KOA_ROUTER, 'koaBodyparser'],
      },
      mounted: { ...MOUNTED, bodies: BODIES, exceptions: NODE },
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
      app: { ...MOUNTED, bodies: { ...BODIES, raw: true, text: true }, exceptions: NODE },
      faults: { ...MOUNTED, hears: 'report', exceptions: [...NODE, 'expressFaults'] },
    },
  },
  fastify: {
    steps: 'fastify',
    examples: { app: { ...BELOW_SHOP, bodies: BODIES, exceptions: [...NODE, 'fastify'] } },
  },
  nest: {
    steps: 'nest',
    examples: {
      app: { ...MOUNTED, exceptions: NODE },
      route: { ...BELOW_SHOP, bodies: { rawBody: true, noRawBody: false }, exceptions: NODE },
    },
  },
  hono: {
    steps: 'hono',
    examples: {
      app: { ...BELOW_SHOP, bodies: { parsed: 'host' }, exceptions: [...FETCH, 'hono'] },
    },
  },
  h3: {
    steps: 'h3',
    examples: {
      app: { ...BELOW_SHOP, bodies: UNPARSED, exceptions: [...FETCH, 'h3', 'h3Mount'] },
      node: { ...BELOW_SHOP, bodies: UNPARSED, exceptions: [...FETCH, 'h3'] },
    },
  },
  'serverless-http': { runtime: 'lambda', examples: { app: { exceptions: ['lambda'] } } },
  workerd: {
    runtime: 'workerd',
    examples: {
      worker: { bodies: UNPARSED, exceptions: [...RUNTIME, 'workerd', 'workerdUnread'] },
    },
  },
  bun: { runtime: 'bun', examples: { app: { bodies: UNPARSED, exceptions: [...RUNTIME, 'bun'] } } },
  deno: {
    runtime: 'deno',
    examples: { app: { bodies: UNPARSED, exceptions: [...RUNTIME, 'deno'] } },
  },
};

import { setSourceMapsSupport } from 'node:module';

// Not by a flag of Node.js: for that mocha starts a second process, which survives when the first is killed.
setSourceMapsSupport(true);

// Lets the workers of `mocha --parallel` end by themselves. The pool sends SIGTERM to one that needs more than a second,
// and on a busy machine a worker under c8 does: it would lose its coverage.
if (process.env.MOCHA_WORKER_ID !== undefined) process.on('SIGTERM', () => {});

const escaped = [];

/**
 * Keeps rejections that nobody handles. Mocha's handler steps aside and emits them again: then this is the only listener,
 * unless a test has one.
 */
function note(reason) {
  if (process.listenerCount('unhandledRejection') === 1) escaped.push(reason);
}

/** Fails the current test. An error thrown in `note` would end the whole run. */
function failCase() {
  if (escaped.length > 0) throw escaped.splice(0)[0];
}

export const mochaHooks = {
  // For each file: a worker removes all listeners after it.
  beforeAll: () => void process.on('unhandledRejection', note),
  afterEach: failCase,
  afterAll: failCase,
};

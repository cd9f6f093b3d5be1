import { setSourceMapsSupport } from 'node:module';

// Not by a flag of Node.js: for that mocha starts a second process, which goes on when the first one is killed.
setSourceMapsSupport(true);

// Lets the workers of `mocha --parallel` end by themselves. The pool sends SIGTERM to one that needs more than a second,
// and on a busy machine a worker under c8 does: it would lose its coverage.
if (process.env.MOCHA_WORKER_ID !== undefined) process.on('SIGTERM', () => {});

const escaped = [];

/** Notes a rejection that nobody handles: mocha drops it. It removes its own listener and emits the event again. */
function note(reason) {
  if (process.listenerCount('unhandledRejection') === 1) escaped.push(reason); // else a case listens itself
}

/** Thrown by `note`, it would end the whole run of a case that continues. */
function failCase() {
  if (escaped.length > 0) throw escaped.splice(0)[0];
}

export const mochaHooks = {
  // For each file: a worker removes all listeners after it.
  beforeAll: () => void process.on('unhandledRejection', note),
  afterEach: failCase,
  afterAll: failCase,
};

// Lets the workers of `mocha --parallel` end by themselves. The pool sends SIGTERM to one that needs more than a second,
// and on a busy machine a worker under c8 does: it would lose its coverage.
if (process.env.MOCHA_WORKER_ID !== undefined) process.on('SIGTERM', () => {});

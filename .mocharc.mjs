// `npm test -- build/test/unit/domain.test.js` runs one file, as the whole run does.
const files = process.argv.some((argument) => argument.endsWith('.test.js'));

export default {
  // Files that start services take longest: two processes end together if these come first.
  spec: files ? [] : ['build/test/service/*.test.js', 'build/test/!(service)/**/*.test.js'],
  reporter: './tools/closing-reporter.mjs',
  require: ['./tools/mocha-setup.mjs'],
  'enable-source-maps': true,
  'forbid-only': true,
  'fail-zero': true,
  'posix-exit-codes': true,
  timeout: 20_000,
  parallel: true,
  jobs: 2,
};

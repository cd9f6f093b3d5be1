// `npm test -- build/test/unit/domain.test.js` runs one file, as the whole run does.
const files = process.argv.some((argument) => argument.endsWith('.test.js'));
const longest = 'build/test/**/@(mongo-contracts|process|shared-store).test.js';
const others = 'build/test/**/!(mongo-contracts|process|shared-store).test.js';

export default {
  // The longest files start first, so that all processes end at about the same time.
  spec: files ? [] : [longest, others],
  require: ['./tools/mocha-setup.mjs'],
  'forbid-only': true,
  'fail-zero': true,
  'posix-exit-codes': true,
  timeout: 90_000, // for busy machines: what must be quick is measured by the test itself
  parallel: true,
  jobs: 3, // for two cores: files wait for disks, databases and timers most of the time
};

// Imports the module that its argument names, and says what was loaded for it, in which time and how much memory.
import { registerHooks } from 'node:module';

const [, , entry] = process.argv;
const urls = [];
registerHooks({
  load(url, context, next) {
    urls.push(url);
    return next(url, context);
  },
});
const before = process.memoryUsage().rss;
const began = performance.now();
await import(entry);
const milliseconds = performance.now() - began;
const bytes = process.memoryUsage().rss - before;
const packages = urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
const others = [...new Set(packages)].filter((name) => name !== 'animal-store');
console.log(JSON.stringify({ modules: urls.length, packages: others, milliseconds, bytes }));

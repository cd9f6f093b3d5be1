// Replays the transcript of the HTTP interface against every transport on every store, and writes the table to
// docs/equivalence.md. Needs a MongoDB server for it: MONGODB_TEST_URI, or one that can be started. With --record
// it records the transcript anew first. Run it after the build.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);
const built = (path) => new URL(`build/test/http/${path}`, root).href;

if (process.argv.includes('--record')) {
  const { recordTranscript } = await import(built('transcript-recording.js'));
  const { transcriptText } = await import(built('transcript.js'));
  const { startFetchService } = await import(built('fetch-service.js'));
  const alive = setInterval(() => {}, 1000); // deadlines keep no process alive
  const transcript = await recordTranscript((situation) => startFetchService(situation, 'memory:'));
  clearInterval(alive);
  writeFileSync(new URL('test/http/transcript.jsonl', root), transcriptText(transcript));
}

const mocha = fileURLToPath(new URL('node_modules/mocha/bin/mocha.js', root));
const { status } = spawnSync(process.execPath, [mocha, '--grep', '^The transcript '], {
  cwd: fileURLToPath(root),
  env: { ...process.env, EQUIVALENCE: 'write', REQUIRE_MONGODB: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

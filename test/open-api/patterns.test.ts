import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { openApiDocument } from '../../src/adapters/http/open-api/open-api-document.js';

/*
 * Clients are generated in many languages, and validators compile the document's patterns with engines of their own. So
 * every pattern must compile in all of them, and decide alike.
 */

/** Every pattern in the document. */
function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === 'pattern' && typeof member === 'string' ? [member] : patternsIn(member),
  );
}

const PATTERNS = [...new Set(patternsIn(JSON.parse(openApiDocument())))];

const SAMPLES = [
  '',
  ' ',
  '\t\n',
  'Bella',
  ' Bella ',
  'a\u0000b',
  '\u0085',
  '\u00a0\u2003',
  '\u200b',
  '\ufeff',
  '🐶',
  'é',
  '\n🐶',
  'key',
  '"key"',
  '"key',
  'k'.repeat(255),
  'k'.repeat(256),
  'a b',
  'a"b',
  String.raw`a\b`,
];

const expected = (): boolean[][] =>
  PATTERNS.map((pattern) => SAMPLES.map((sample) => new RegExp(pattern, 'u').test(sample)));

const GO = `package main
import ("encoding/json"; "fmt"; "os"; "regexp")
func main() {
  var in struct{ Patterns, Samples []string }
  if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil { panic(err) }
  out := [][]bool{}
  for _, p := range in.Patterns {
    re := regexp.MustCompile(p)
    row := []bool{}
    for _, s := range in.Samples { row = append(row, re.MatchString(s)) }
    out = append(out, row)
  }
  text, _ := json.Marshal(out)
  fmt.Print(string(text))
}`;

const PYTHON = `import json, re, sys
given = json.load(sys.stdin)
print(json.dumps([[re.search(p, s) is not None for s in given["Samples"]] for p in given["Patterns"]]))`;

const ENGINES: Readonly<
  Record<string, readonly [file: string, program: string, command: string, ...args: string[]]>
> = {
  'Go (RE2)': ['main.go', GO, 'go', 'run'],
  Python: ['main.py', PYTHON, 'python3'],
};

it('No pattern of the OpenAPI document holds a control character, which generators copy into source text', () => {
  expect(PATTERNS.filter((pattern) => /\p{Cc}/u.test(pattern))).to.deep.equal([]);
});

describe('Every pattern of the OpenAPI document compiles and decides alike in', function () {
  this.timeout(200_000);

  for (const [engine, [file, program, command, ...args]] of Object.entries(ENGINES)) {
    // Go compiles its library first, which takes most of a minute.
    const isSlow = command === 'go' && !process.env['CI'] && !process.env['LONG'];
    it(isSlow ? `${engine} (only with CI or LONG set)` : engine, async function () {
      if (isSlow) this.skip();
      const folder = await mkdtemp(join(tmpdir(), 'animal-store-patterns-'));
      try {
        await writeFile(join(folder, file), program);
        const running = promisify(execFile)(command, [...args, join(folder, file)], { timeout: 180_000 });
        running.child.stdin?.end(JSON.stringify({ Patterns: PATTERNS, Samples: SAMPLES }));
        const { stdout } = await running;
        expect(JSON.parse(stdout)).to.deep.equal(expected());
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
        this.skip();
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
});

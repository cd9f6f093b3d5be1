import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ContainerModule } from 'inversify';
import { converse } from '../contract/http/socket-client.js';
import { koaServices } from '../http/koa-service.js';
import { readTranscript, replay } from '../http/transcript.js';

const ROOT = new URL('../../../', import.meta.url);
const KEY = 'key-of-the-examples-0123456789';
const BEARER = { Authorization: `Bearer ${KEY}` };
const JSON_BODY = { ...BEARER, 'Content-Type': 'application/json' };

const example = (name: string): URL => new URL(`examples/${name}`, ROOT);

describe('The examples', () => {
  let program: ChildProcess | undefined;
  afterEach(async () => {
    const ended = program && once(program, 'exit');
    program?.kill();
    program = undefined;
    await ended;
  });

  /** Runs an example on a free port; resolves to the address that it prints. */
  async function run(name: string): Promise<URL> {
    const env = { ...process.env, API_KEY: KEY, PORT: '0' };
    program = spawn(process.execPath, [fileURLToPath(example(name))], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { stdout } = program;
    if (stdout === null) throw new Error('the example prints nowhere');
    for await (const line of createInterface(stdout)) return new URL(line);
    throw new Error('the example did not say where it listens');
  }

  for (const [name, base] of [
    ['node-http.mjs', '/v1'],
    ['hono.mjs', '/shop/v1'],
  ] as const) {
    describe(name, () => {
      it('serves the animals below its base path, and its own pages elsewhere', async () => {
        const url = await run(name);
        expect(await (await fetch(url)).text()).to.include(`${base}/pets`);
        const pets = new URL(`${base}/pets`, url);
        expect((await fetch(pets)).status).to.equal(401);
        for (let count = 0; count < 2; count += 1) {
          const body = '{"name":"Bella","categoryId":9223372036854775807}';
          const created = await fetch(pets, { method: 'POST', headers: JSON_BODY, body });
          expect(created.status).to.equal(201);
          const found = await fetch(new URL(created.headers.get('location') ?? '', url), { headers: BEARER });
          expect(await found.text()).to.equal(await created.text());
        }
        const page = await fetch(`${pets.href}?limit=1`, { headers: BEARER });
        const next = /^<([^<>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
        expect(next).to.match(new RegExp(`^${base}/pets\\?`));
        expect(await (await fetch(new URL(next, url), { headers: BEARER })).text()).to.match(/^\[\{"id":2,/);
      });

      it('takes two Authorization headers for no good key, and refuses a body that is too large', async () => {
        const url = await run(name);
        const head = `POST ${base}/pets HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${KEY}\r\n`;
        const answerTo = async (message: string) => {
          const { answers } = await converse(url, { bytes: Buffer.from(message), methods: ['POST'] }, false);
          return answers[0];
        };
        const repeated = await answerTo(`${head}Authorization: Bearer ${KEY}\r\nContent-Length: 0\r\n\r\n`);
        expect(repeated?.body.toString()).to.include('"invalid_api_key"');
        const body = 'x'.repeat(300_000);
        const large = await answerTo(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
        expect(large?.body.toString()).to.include('"payload_too_large"');
      });
    });
  }

  describe('fetch-server.mjs', () => {
    it('exports a handler as runtimes that serve such take it', async () => {
      const code = `
        const { default: server } = await import(${JSON.stringify(example('fetch-server.mjs').href)});
        const answer = await server.fetch(new Request('http://localhost/v1/pets', {
          method: 'POST',
          headers: ${JSON.stringify(JSON_BODY)},
          body: '{"name":"Bella","categoryId":1}',
        }));
        console.log(answer.status, await answer.text());`;
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module', '--eval', code],
        { env: { ...process.env, API_KEY: KEY, ANIMALS_FILE: '' } },
      );
      expect(stdout).to.equal('201 {"id":1,"name":"Bella","categoryId":1,"status":"available"}\n');
    });
  });

  describe('fetch-transport.mjs', () => {
    it('carries the whole service over Fetch, which then answers as over Koa, to the byte', async () => {
      const { adapter } = (await import(example('fetch-transport.mjs').href)) as { adapter: ContainerModule };
      const names = new Set<string>();
      const transcript = readTranscript(readFileSync(new URL('test/http/transcript.jsonl', ROOT), 'utf8'));
      const { equal, difference } = await replay(transcript, async (situation) => {
        const subject = await koaServices(() => 'memory:', [adapter])(situation);
        return {
          ...subject,
          async send(request, wanted) {
            const conversation = await subject.send(request, wanted);
            for (const [name] of conversation.answers[0]?.headers ?? []) names.add(name);
            return conversation;
          },
        };
      });
      expect(difference?.answer).to.deep.equal(difference?.recorded.answer);
      expect(equal).to.equal(transcript.length);
      // Headers of Fetch forget how names were spelled: it was not Koa.
      expect([...names])
        .to.include('x-request-id')
        .and.not.include('X-Request-Id');
    });
  });
});

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ERRORS, type ErrorCode } from '../../src/adapters/http/error-codes.js';
import type { HttpSettings } from '../../src/adapters/http/http-settings.js';
import { openApiDocument } from '../../src/adapters/http/open-api/open-api-document.js';
import { stringifyJson } from '../../src/exact-json.js';
import {
  KEY,
  REX,
  createWith,
  httpInterface,
  memoryAnimalStore,
  requestWith,
} from '../adapters/http/fixtures.js';
import { HTTP_RULES } from '../contract/http/http-tests.js';
import {
  documentFor,
  judgeFor,
  operationAt,
  operationsOf,
  type OpenApiDocument,
  type Schema,
} from './document.js';

const statusesOf = (document: OpenApiDocument): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(operationsOf(document)).map(([id, { responses }]) => [
      id,
      Object.keys(responses),
    ]),
  );

const serversOf = (settings: Parameters<typeof documentFor>[0]): string[][] =>
  documentFor(settings).servers.map(({ url, description }) => [url, description]);

/**
 * What no single row can show (a timeout, two requests), what will not be declared any more, and what the server refuses
 * before any operation.
 */
const ELSEWHERE =
  / (?:request_timeout|idempotency_key_reused|precondition_failed|malformed_request|expectation_failed|headers_too_large)$/;

describe('The OpenAPI document', () => {
  const document = documentFor();
  const operations = operationsOf(document);

  it('has an example for every member and path parameter, for tools', () => {
    for (const name of ['Pet', 'NewPet', 'Error']) {
      const { properties = {} } = document.components.schemas[name] ?? {};

      expect(properties, name).to.not.be.empty;

      for (const [member, schema] of Object.entries(properties)) {
        if (schema.$ref === undefined)
          expect(schema, `${name}.${member}`).to.have.property('example');

        expect(schema, `${name}.${member}`).not.to.have.property('default');
      }
    }

    expect(operations['getPet']?.parameters?.[0]).to.have.property('example', 1n);
  });

  it('says what to use instead of getPet: what the interface says, and how to get one animal', () => {
    expect(operations['getPet'])
      .to.have.property('x-deprecated-reason')
      .that.includes('`GET /pets` with the `status` filter')
      .and.includes('`GET /pets?after=<id - 1>&limit=1`');
  });

  it('has an example for every media type of a request body, which the service accepts', async () => {
    const settings: Partial<HttpSettings> = { experimental: ['changePet', 'removePet'] };
    const service = httpInterface({ animalStore: memoryAnimalStore(), settings });
    const { createPet, changePet } = operationsOf(documentFor(settings));

    for (const [operation, target, expected] of [
      [createPet, { method: 'POST' }, 201],
      [changePet, { method: 'PATCH', path: '/v1/pets/1' }, 200],
    ] as const) {
      const types = Object.entries(operation?.requestBody?.content ?? {});

      expect(types).to.not.be.empty;

      for (const [type, { example }] of types) {
        const { status, body } = await service.handle(createWith(stringifyJson(example), target));

        expect(status, `the example of ${type} got ${body}`).to.equal(expected);
      }
    }
  });

  it('has examples of query parameters that list the first animal, for tools that send all of them', async () => {
    const service = httpInterface();
    await service.handle(createWith(REX));
    const parameters = operations['listPets']?.parameters ?? [];
    const query = parameters
      .flatMap(({ name, example }) => (example === undefined ? [] : `${name}=${example}`))
      .join('&');

    const { body } = await service.handle(requestWith(KEY, { query }));

    expect(body, query).to.include('"name":"Rex"');
  });

  it('has patterns in ASCII that every common engine reads alike', () => {
    const members = openApiDocument().matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g);
    const patterns = Array.from(members, ([, text = '']) => String(JSON.parse(text)));

    expect(patterns, 'the patterns of the document').to.have.length.above(1);
    for (const pattern of patterns) {
      expect(pattern).to.match(/^[ -~]+$/);
      // Languages differ in classes such as \s, in \u, and in groups with a question mark. Ruby refuses bytes above \x7f.
      expect(pattern).to.match(/^(?:\\x[0-7][0-9a-f]|\\[[\]]|\(\?:|\((?!\?)|[^\\(])+$/);
    }
  });

  it('is in the repository as a service with default settings publishes it', () => {
    const copy = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');

    expect(copy === openApiDocument(), 'run: npm run openapi').to.equal(true);
  });

  it('names as servers the two addresses of the settings, or the base path relative to itself', () => {
    const publicUrl = 'https://animals.example.org/v1';
    const stagingUrl = 'https://staging.example.org/shop/v1';
    const relative = serversOf({ basePath: '/animals/v1' });
    const absolute = serversOf({ publicUrl, stagingUrl });

    expect(relative).to.deep.equal([['animals/v1', 'Production']]);
    expect(absolute).to.deep.equal([
      [publicUrl, 'Production'],
      [stagingUrl, 'Staging'],
    ]);
  });

  it('shows what to use instead of a removed operation at the public address', () => {
    const publicUrl = 'https://animals.example.org/v1';
    const { getPet } = operationsOf(documentFor({ publicUrl, getPet: 'off' }));
    const { message } = getPet?.responses['410']?.content?.['application/json'].example ?? {};

    expect(message).to.include(`GET ${publicUrl}/pets?after=<id - 1>&limit=1`);
  });

  describe('declares the statuses that the settings can produce', () => {
    it('those of experimental operations where they are served, and nothing of them elsewhere', () => {
      const experimental = documentFor({ experimental: ['changePet', 'removePet'] });
      const { changePet = [], removePet = [], ...stable } = statusesOf(experimental);

      expect(stable).to.deep.equal(statusesOf(document));

      const ofChange = '200 400 401 403 404 408 409 412 413 415 417 431 500 503';

      expect(changePet.join(' ')).to.equal(ofChange);

      const ofRemoval = '204 400 401 403 404 408 409 412 417 431 500 503';

      expect(removePet.join(' ')).to.equal(ofRemoval);

      const declared = operationsOf(experimental);

      for (const id of ['changePet', 'removePet']) {
        expect(declared[id]).to.include({ 'x-stability': 'experimental' });
        expect(declared[id]).to.not.have.property('deprecated');
      }

      const types = Object.keys(declared['changePet']?.requestBody?.content ?? {});

      expect(types).to.have.members(['application/merge-patch+json', 'application/json']);
      expect(openApiDocument()).to.not.match(
        /x-stability|PetChange|AcceptPatch|status_conflict|pets:delete/,
      );
    });

    it('a success for every operation, and 410 instead of it where getPet is switched off', () => {
      expect(statusesOf(documentFor({ getPet: 'off' }))).to.deep.equal({
        ...statusesOf(document),
        getPet: ['400', '401', '408', '410', '417', '431', '500', '503'],
      });
    });

    it('429 with its headers where a rate limit is set, except for a removed operation', () => {
      const limited = documentFor({ rateLimit: { requests: 5, seconds: 60 }, getPet: 'off' });
      const declaring = Object.entries(operationsOf(limited)).filter(
        ([, { responses }]) => responses['429'],
      );

      expect(declaring.map(([id]) => id)).to.deep.equal(['listPets', 'createPet']);

      const headers = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'];

      for (const [, { responses }] of declaring) {
        expect(responses['429']?.headers).to.have.all.keys(...headers, 'Retry-After');
        expect(responses['429']?.content?.['application/json'].example).to.include({
          message: 'This API key may send 5 requests in 60 s: wait as long as Retry-After says.',
        });
        expect(responses['200'] ?? responses['201'])
          .to.have.property('headers')
          .that.includes.keys(headers);
      }
      expect(limited.components.headers).to.include.keys('RateLimit', 'RateLimitPolicy');
      expect(document.components.headers).to.not.have.any.keys('RateLimit', 'RateLimitPolicy');
    });

    it('each with the codes that it may have, and one of them as its example', () => {
      const responses = Object.values(operations).flatMap((each) => Object.entries(each.responses));
      const errors = responses.filter(([status]) => Number(status) >= 400);

      for (const [status, { content, 'x-error-codes': codes = [] }] of errors) {
        const statuses = new Set(codes.map((code) => ERRORS[code as ErrorCode].status));

        expect([...statuses], `the statuses of ${codes.join()}`).to.deep.equal([Number(status)]);

        const { code, status: shown } = content?.['application/json'].example ?? {};

        expect([code, String(shown)], 'the example').to.deep.equal([codes[0], status]);
      }
    });
  });

  it('declares only answers that a row of the request table shows', () => {
    const rows = HTTP_RULES.filter(({ settings = {} }) => !settings.experimental)
      .flatMap(({ rules }) => Object.values(rules))
      .flatMap((cases) => (typeof cases === 'function' ? [] : cases));
    const shown = new Set(
      rows.flatMap(({ request: { method, path }, expected: { status, code } }) => {
        const [target = ''] = path.split('?', 1);
        const operation = operationAt(document, '/v1', method, target);
        return operation ? [`${operation.operationId} ${status} ${code}`] : [];
      }),
    );
    const declared = Object.entries(operations).flatMap(([id, { responses }]) =>
      Object.entries(responses).flatMap(([status, { 'x-error-codes': codes = [undefined] }]) =>
        codes.map((code) => `${id} ${status} ${code}`),
      ),
    );
    const unshown = declared.filter((answer) => !shown.has(answer) && !ELSEWHERE.test(answer));

    expect(unshown).to.deep.equal([]);
  });

  it('gives the limit of a body that was set as the example of 413', () => {
    const { post } = documentFor({ bodyLimit: 1000 }).paths['/pets'] ?? {};

    expect(post?.responses['413']?.content?.['application/json'].example).to.include({
      message: 'The body is larger than 1000 bytes.',
    });
  });

  it('gives examples that are valid', () => {
    const { schemas } = document.components;
    const contents = Object.values(operations).flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) => content?.['application/json'] ?? []),
    );
    const examples: ReadonlyArray<readonly [schema: Schema, value: unknown]> = [
      ...Object.values(schemas).flatMap((schema) =>
        ((schema['examples'] ?? []) as unknown[]).map((value) => [schema, value] as const),
      ),
      ...contents.flatMap(({ schema, example }) => (example ? [[schema, example] as const] : [])),
    ];
    const judge = judgeFor(document);

    for (const [schema, value] of examples)
      expect(judge(schema)(value), stringifyJson(value)).to.equal(undefined);
    expect(examples, 'the examples of the document').to.have.length.above(30);
  });
});

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openApiDocument } from '../../../../src/adapters/http/open-api/open-api-document.js';
import { stringifyJson } from '../../../../src/json.js';
import { createWith, httpInterface, memoryAnimalStore, outcome } from '../fixtures.js';
import { documentFor, judgeFor, operationsOf } from './held-to-document.js';

const REX_DATA = { name: 'Rex', categoryId: 1n };
const EXPERIMENTAL = ['changePet', 'removePet'] as const;

const statusesIn = (document: ReturnType<typeof documentFor>) =>
  Object.fromEntries(
    operationsOf(document).map(({ operationId, responses }) => [
      operationId,
      Object.keys(responses).join(' '),
    ]),
  );

describe('The OpenAPI document', () => {
  const document = documentFor({ experimental: EXPERIMENTAL });
  const { schemas } = document.components;
  const judge = judgeFor(document);

  it('is in the repository as a service with default settings publishes it', () => {
    const copy = readFileSync(new URL('../../../../../docs/openapi.json', import.meta.url), 'utf8');
    expect(copy === openApiDocument(), 'run: npm run openapi').to.equal(true);
  });

  for (const [settings, servers] of [
    [{ basePath: '/animals/v1' }, ['animals/v1 Production']],
    [
      { publicUrl: 'https://a.example/v1', stagingUrl: 'https://b.example/shop/v1' },
      ['https://a.example/v1 Production', 'https://b.example/shop/v1 Staging'],
    ],
  ] as const)
    it(`names the servers ${servers.join(' and ')}`, () => {
      const named = documentFor(settings).servers;
      expect(named.map(({ url, description }) => `${url} ${description}`)).to.deep.equal(servers);
    });

  it('declares the statuses of every operation', () => {
    const read = '200 304 400 401 403';
    expect(statusesIn(document)).to.deep.equal({
      listPets: `${read} 408 431 500 503`,
      createPet: '201 400 401 403 408 409 413 415 422 431 500 503',
      getPet: `${read} 404 408 431 500 503`,
      changePet: '200 400 401 403 404 408 409 412 413 415 431 500 503',
      removePet: '204 400 401 403 404 408 409 412 431 500 503',
    });
  });

  it('marks experimental operations, and says nothing of them where they are not served', () => {
    const marked = operationsOf(document).filter((operation) => 'x-stability' in operation);
    expect(marked.map(({ operationId }) => operationId)).to.deep.equal(EXPERIMENTAL);
    expect(openApiDocument()).to.not.match(/x-stability|PetChange|pets:delete/);
  });

  it('has an example of the path parameter, and none of optional ones, which tools would send', () => {
    const parameters = operationsOf(document).flatMap((operation) => operation.parameters);
    for (const { name, required = false, example } of parameters)
      expect(example !== undefined, String(name)).to.equal(required);
  });

  it('has examples that are valid, and that the service accepts', async () => {
    for (const [name, schema] of Object.entries(schemas))
      for (const value of (schema['examples'] ?? []) as unknown[])
        expect(judge(schema, value), `${name} ${stringifyJson(value)}`).to.equal(undefined);

    const http = httpInterface({
      animalStore: memoryAnimalStore(),
      settings: { experimental: EXPERIMENTAL },
    });
    for (const [name, target, expected] of [
      ['NewPet', { method: 'POST' }, '201'],
      ['PetChange', { method: 'PATCH', path: '/v1/pets/1' }, '200'],
    ] as const)
      for (const value of (schemas[name]?.['examples'] ?? []) as unknown[]) {
        const response = await http.handle(createWith(stringifyJson(value), target));
        expect(outcome(response), stringifyJson(value)).to.equal(expected);
      }
  });

  it('describes names and categories as the service judges them', () => {
    for (const valid of [
      { name: ' é\n' },
      { name: '🐈'.repeat(1000) },
      { categoryId: -(2n ** 63n) },
    ])
      expect(
        judge(schemas['NewPet'] ?? {}, { ...REX_DATA, ...valid }),
        stringifyJson(valid),
      ).to.equal(undefined);
    for (const wrong of [
      { name: ' \t\n' },
      { name: 'a\0' },
      { name: '🐈'.repeat(1001) },
      { categoryId: 2n ** 63n },
      { categoryId: 1.5 },
      { status: 'gone' },
    ])
      expect(
        judge(schemas['NewPet'] ?? {}, { ...REX_DATA, ...wrong }),
        stringifyJson(wrong),
      ).to.be.a('string');
  });

  it('has patterns in ASCII that every common engine reads alike', () => {
    const patterns = Array.from(openApiDocument().matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g));
    expect(patterns).to.have.length.above(1);
    // Languages differ in classes such as \s, in \u, and in groups with a question mark.
    for (const [, pattern = ''] of patterns)
      expect(JSON.parse(pattern))
        .to.match(/^[ -~]+$/)
        .and.not.match(/\\(?!x[0-7][0-9a-f]|[[\]])|\(\?(?!:)/);
  });
});

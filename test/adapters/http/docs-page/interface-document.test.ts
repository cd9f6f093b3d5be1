import { expect } from 'chai';
import {
  readInterface,
  type InterfaceDocument,
  type Operation,
} from '../../../../src/adapters/http/docs-page/interface-document.js';
import { readJson } from '../../../../src/adapters/http/docs-page/json-text.js';
import { openApiDocument } from '../../../../src/adapters/http/open-api/open-api-document.js';

const ours = readInterface(readJson(openApiDocument()));

function operationOf({ groups }: InterfaceDocument, id: string): Operation {
  const found = groups.flatMap(({ operations }) => operations).find((operation) => operation.id === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
}

/** A document with one operation. */
const withOperation = (operation: string, components = '{}'): Operation =>
  operationOf(
    readInterface(
      readJson(`{"tags":[{"name":"t"}],"paths":{"/a":{"get":${operation}}},"components":${components}}`),
    ),
    'a',
  );

describe('What the docs page reads of the OpenAPI document', () => {
  it('is the title, the version and the address', () => {
    expect(ours).to.include({ title: 'Animal Store', version: '1.0.0' });
    expect(ours.servers.map(({ url }) => url)).to.deep.equal(['/v1']);
    expect(ours.security).to.have.length(1);
  });

  it('is every operation, by its tag', () => {
    expect(ours.groups.map(({ name, operations }) => [name, operations.map(({ id }) => id)])).to.deep.equal([
      ['animals', ['listPets', 'createPet', 'getPet']],
    ]);
  });

  it('is the parameters with what is asked of them, in words', () => {
    const [limit, status] = operationOf(ours, 'listPets').parameters;
    expect(ours.schemas.limits(limit?.schema ?? {})).to.deep.equal(['from 1 to 100', '20 when left out']);
    expect(ours.schemas.choices(status?.schema ?? {})).to.deep.equal(['available', 'pending', 'sold']);
    const [petId] = operationOf(ours, 'getPet').parameters;
    expect(petId).to.include({ place: 'path', required: true });
    expect(ours.schemas.kind(petId?.schema ?? {})).to.equal('integer (int64)');
    expect(ours.schemas.limits(petId?.schema ?? {})).to.deep.equal([
      'from −9223372036854775808 to 9223372036854775807',
    ]);
  });

  it('is the deprecation with both of its days', () => {
    expect(operationOf(ours, 'getPet').deprecation).to.deep.equal({
      since: new Date('2026-11-20'),
      sunset: new Date('2030-12-05'),
    });
    expect(operationOf(ours, 'listPets').deprecation).to.equal(undefined);
  });

  it('is the body with examples, to the digit', () => {
    const { body } = operationOf(ours, 'createPet');
    expect(body?.mediaType).to.equal('application/json');
    expect(body?.examples.map(({ text }) => text).join()).to.include('"categoryId":9223372036854775807');
    expect(
      ours.schemas.fields(body?.schema ?? {}).map(({ name, required }) => [name, required]),
    ).to.deep.equal([
      ['name', true],
      ['categoryId', true],
      ['status', false],
    ]);
  });

  it('is every answer with its codes and headers', () => {
    const { answers } = operationOf(ours, 'listPets');
    const answer = (status: string) => answers.find((candidate) => candidate.status === status);
    expect(answer('200')?.headers.map(({ name }) => name)).to.include.members(['Link', 'X-Request-Id']);
    expect(answer('401')?.codes.map(({ code }) => code)).to.deep.equal([
      'missing_api_key',
      'invalid_api_key',
    ]);
    for (const { status, codes } of answers) expect(codes.length > 0, status).to.equal(Number(status) >= 400);
  });

  it('is every code once, with what it means and who answers it', () => {
    const codes = ours.errors.map(({ code }) => code);
    expect(new Set(codes).size).to.equal(codes.length);
    const notFound = ours.errors.find(({ code }) => code === 'pet_not_found');
    expect(notFound).to.deep.include({ status: '404', operations: ['getPet'] });
    expect(ours.errors.filter(({ meaning }) => meaning === '')).to.deep.equal([]);
  });

  it('is the mark of an operation that may still change', () => {
    expect(withOperation('{"operationId":"a","tags":["t"],"x-stability":"beta"}').stability).to.equal('beta');
    expect(operationOf(ours, 'listPets').stability).to.equal('');
  });

  it('is what references mean, and what parts of a schema say together', () => {
    const components = `{
      "parameters":{"p":{"name":"p~/q","in":"query","schema":{"const":"x"}}},
      "schemas":{
        "Base":{"type":"object","required":["b"],"properties":{"b":{"type":"string"},"c":{"type":"boolean"}}},
        "Whole":{"allOf":[{"$ref":"#/components/schemas/Base"},{"required":["a","c"],"properties":{"a":{}}}]}}}`;
    const { parameters, body } = withOperation(
      `{"operationId":"a","tags":["t"],"parameters":[{"$ref":"#/components/parameters/p"}],
        "requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Whole"}}}}}`,
      components,
    );
    expect(parameters[0]).to.include({ name: 'p~/q', example: 'x' });
    const { schemas } = readInterface(readJson(`{"components":${components}}`));
    expect(
      schemas.fields(body?.schema ?? {}).map(({ name, required }) => `${name} ${required}`),
    ).to.deep.equal(['b true', 'c true', 'a true']);
  });

  it('is nothing of what a document leaves out', () => {
    expect(readInterface(readJson('{}'))).to.include({ title: '', version: '', description: '' });
    expect(readInterface(readJson('[]')).groups).to.deep.equal([]);
    const operation = withOperation('{"operationId":"a","tags":["t"],"deprecated":true}');
    expect(operation.deprecation).to.deep.equal({ since: undefined, sunset: undefined });
    expect(operation.answers).to.deep.equal([]);
  });
});

import type { HttpSettings } from '../../../src/adapters/http/http-settings.js';
import { openApiDocument } from '../../../src/adapters/http/open-api/open-api-document.js';
import { bearer, type Header, type Row } from './request-row.js';
import type { Situation } from './situation.js';

const published = (
  name: string,
  given: Situation,
  settings: Partial<HttpSettings> = {},
  ...headers: Header[]
): Row => ({
  name,
  given,
  request: { method: 'GET', target: '/openapi.json', headers },
  expect: { status: 200, body: openApiDocument(settings) },
});

/** The published description of the interface. */
export const DOCUMENT: readonly Row[] = [
  published('publishes the OpenAPI document, for which no key is wanted', 'plain'),
  published('publishes the OpenAPI document to a key that is not valid', 'plain', {}, bearer('nobody')),
  published('publishes the OpenAPI document while the store is away', 'storeAway'),
  published('names the public address in the OpenAPI document, where it is known', 'publicUrl', {
    publicUrl: 'https://animals.example/shop/v1',
  }),
  published(
    'publishes the OpenAPI document outside another base path, and names that path',
    'otherBasePath',
    {
      basePath: '/animals/v1',
    },
  ),
  published('says in the OpenAPI document how large bodies may be', 'smallBodies', { bodyLimit: 100 }),
  published('says in the OpenAPI document since when getPet is deprecated', 'deprecatedLater', {
    deprecatedSince: new Date('2029-02-28T00:00:00Z'),
  }),
  published('says in the OpenAPI document that getPet was removed', 'getPetOff', { getPet: 'off' }),
];

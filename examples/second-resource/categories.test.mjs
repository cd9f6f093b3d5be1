// Holds the categories to what the service promises of every resource: keys, scopes, errors, headers.
// Run with: node --test
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAnimalStore } from 'animal-store';
import { HttpInterface, Readiness } from 'animal-store/http';
import { createKoaApp } from 'animal-store/koa';
import { openMemoryStore } from 'animal-store/memory';
import { NodeServer } from 'animal-store/node';
import { categoriesRouter, memoryCategories } from './categories.mjs';

const SCOPES = { reader: ['pets:read'], writer: ['pets:write'] };
const authenticator = {
  authenticate: async (keyId) =>
    keyId in SCOPES
      ? { ok: true, principal: { keyId, scopes: new Set(SCOPES[keyId]) } }
      : { ok: false, reason: 'unknown' },
};

describe('The categories', () => {
  let server;
  let url;
  before(async () => {
    const animalStore = createAnimalStore(openMemoryStore());
    const readiness = new Readiness(async () => {});
    const http = new HttpInterface({ animalStore, authenticator, readiness });
    const router = categoriesRouter(memoryCategories('Dogs', 'Cats'));
    server = new NodeServer(createKoaApp(http, router).callback());
    url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1/categories`;
  });
  after(() => server.close(100));

  for (const [key, path, expected] of [
    ['reader', '', 200],
    ['reader', '/2', 200],
    ['reader', '/3', 404],
    ['writer', '', 403],
    ['nobody', '', 401],
    [undefined, '/1', 401],
  ]) {
    it(`answer ${expected} to GET ${path} by ${key ?? 'no key'}`, async () => {
      const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const response = await fetch(url + path, { headers });
      const body = await response.json();

      assert.equal(response.status, expected);
      assert.match(response.headers.get('x-request-id'), /^[\w.-]+$/);
      if (expected >= 400) {
        assert.deepEqual(Object.keys(body).sort(), ['code', 'message', 'status']);
        assert.equal(body.status, expected);
      }
    });
  }
});

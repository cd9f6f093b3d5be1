import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ERROR_STATUS } from '../../src/adapters/http/answer/error-answers.js';
import { bindContract } from '../contract/bind-contract.js';
import { fetchRequest } from '../contract/http/fetch-message.js';
import { httpContract } from '../contract/http-contract.js';
import type { OpenHttp } from '../contract/http/http-subject.js';
import type { RowRequest } from '../contract/http/request-row.js';
import { ROWS } from '../contract/http/request-table.js';
import { SCENARIOS } from '../contract/http/request-scenarios.js';
import { heldToDocument, type Tally } from '../open-api/held-to-document.js';
import { fetchServices } from './fetch-service.js';
import { koaServices } from './koa-service.js';

/** Whether a Request can say all of it: two values of a header are one to it, and some headers are not its own. */
function isSayable(request: RowRequest): boolean {
  const names = request.headers.map(([name]) => name.toLowerCase());
  if (names.some((name) => name === 'expect' || name === 'connection')) return false;
  if (names.indexOf('authorization') !== names.lastIndexOf('authorization')) return false;
  try {
    return fetchRequest(request).url.endsWith(request.target);
  } catch {
    return false;
  }
}

describe('The table of requests', () => {
  it('has 250 rows or more', () => {
    expect(ROWS.length).to.be.at.least(250);
  });

  it('makes no promise twice', () => {
    const names = [...ROWS, ...SCENARIOS].map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
  });

  it('names the code of every error', () => {
    const errors = ROWS.flatMap(({ name, expect: first }) =>
      [first, ...(first.further ?? [])].map(({ status, code }) => ({ name, status, code })),
    );
    const wrong = errors.filter(
      ({ status, code }) =>
        (code === undefined ? undefined : ERROR_STATUS[code]) !== (status < 400 ? undefined : status),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('says why a row of raw bytes needs a socket', () => {
    const silent = ROWS.filter(({ request, socketOnly }) => 'raw' in request && !socketOnly);
    expect(silent).to.deep.equal([]);
  });

  it('leaves out without a socket only what no Request can say', () => {
    const sayable = ROWS.filter(
      ({ request, socketOnly }) => socketOnly && !('raw' in request) && isSayable(request),
    );
    expect(sayable.map(({ name }) => name)).to.deep.equal([]);
  });

  it('shows every code but those of what is not offered yet, and of time-outs', () => {
    const shown = new Set(
      ROWS.flatMap(({ expect: first }) => [first, ...(first.further ?? [])].map(({ code }) => code)),
    );
    const missing = Object.keys(ERROR_STATUS).filter((code) => ![...shown].includes(code as never));
    expect(missing).to.have.members([
      // Several requests show it.
      'idempotency_key_reused',
      'rate_limited',
      'request_timeout',
    ]);
  });
});

/** The contract, every answer besides being held to the OpenAPI document that the service publishes. */
function bindHttpContract(open: OpenHttp): void {
  const tally: Tally = { held: 0, outside: 0 };
  bindContract(httpContract, heldToDocument(open, tally));
  after(() => {
    const { held, outside } = tally;
    console.log(`${held} answers were held to the OpenAPI document, ${outside} were to what is not in it`);
  });
}

describe('Koa on the memory store', () => {
  bindHttpContract(koaServices(() => 'memory:'));
});

describe('Fetch on the memory store', () => {
  bindHttpContract(fetchServices(() => 'memory:'));
});

describe('SQLite in a folder of its own', () => {
  let folder = '';
  let files = 0;
  const newStore = (): string => {
    files += 1;
    return `sqlite:${join(folder, `${files}.db`)}`;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  });

  after(() => rm(folder, { recursive: true }));

  describe('Koa on the SQLite store', () => {
    bindHttpContract(koaServices(newStore));
  });

  describe('Fetch on the SQLite store', () => {
    bindHttpContract(fetchServices(newStore));
  });
});

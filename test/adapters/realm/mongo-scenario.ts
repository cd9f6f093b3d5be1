import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { ObjectId } from 'mongodb';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { isMongoFault } from '../../../src/adapters/mongodb/mongo-errors.js';
import { readableClaim } from '../../../src/adapters/mongodb/pet-document.js';
import { rejectsWithCode } from '../../contract/rejection.js';

const error = await new Promise((resolve) => connect(1, '127.0.0.1').on('error', resolve));
assert.ok(!(error instanceof Error), 'this must run in a realm of its own');
assert.ok(isMongoFault(error), `${String(error)} must be a fault of the network`);

// Copied in the realm of Node.js, as the driver makes its dates there.
const keepUntil = structuredClone(new Date(0));
const pet = { _id: 7n, operation: new ObjectId() };
const claim = { _id: 'a claim', fingerprint: 'rex', keepUntil, pet };
assert.deepEqual(readableClaim(claim), claim);

const { pets, close } = await openMongoStore('mongodb://127.0.0.1:1', { timeout: 300 });
await rejectsWithCode(pets.findById(7n), 'service_unavailable');
await close();

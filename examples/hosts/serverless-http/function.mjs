// A whole AWS Lambda function: its animals are in memory, so each instance of the function has its own.
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';
import { lambdaHandler } from './app.mjs';

const { pets, check } = openMemoryStore();
const http = new HttpInterface({
  animalStore: createAnimalStore({ pets }),
  authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
  readiness: new Readiness(check),
});

export const handler = lambdaHandler(http);

// What a client generated for TypeScript does, against a running service.
import { createRequire } from 'node:module';

const [folder, url, key] = process.argv.slice(2);
const { AnimalsApi, Configuration, ResponseError } = createRequire(import.meta.url)(`${folder}/index.js`);
const animals = new AnimalsApi(new Configuration({ basePath: url, accessToken: key }));

// Its numbers are doubles: 2^63 - 1 cannot be said, and what another client said arrives rounded.
const largest = Number.MAX_SAFE_INTEGER;
const created = await animals.createPet({ newPet: { name: 'Bella', categoryId: largest } });
const milo = { newPet: { name: 'Milo', categoryId: 1, status: 'sold' }, idempotencyKey: 'once' };
const [first, second] = [await animals.createPet(milo), await animals.createPet(milo)];
const listed = await animals.listPets({ limit: 100 });
const page = await animals.listPetsRaw({ limit: 1 });
const got = await animals.getPet({ petId: created.id });
const refused = await animals.getPet({ petId: largest }).catch((error) => error);
const exact = await fetch(`${url}/pets`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  body: '{"name":"Ada","categoryId":9223372036854775807}',
}).then((response) => response.text());
const { id } = JSON.parse(exact);

console.log(
  JSON.stringify({
    created: String(created.categoryId),
    once: first.id === second.id,
    listed: listed.map(({ categoryId }) => String(categoryId)),
    got: String(got.categoryId),
    status: got.status,
    next: page.raw.headers.has('Link'),
    refusal: refused instanceof ResponseError ? (await refused.response.json()).code : null,
    rounded: BigInt((await animals.getPet({ petId: id })).categoryId).toString(),
  }),
);

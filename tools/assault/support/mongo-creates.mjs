/** Adds an animal, with a claim if `isKeyed`. Resolves to undefined if the store refuses; `refused` counts the reasons. */
export async function tryToAdd(store, name, isKeyed, refused) {
  const animal = { name, categoryId: 1n, status: 'available' };
  const now = Date.now();
  const claim = { scope: 's', key: name, fingerprint: name, keepUntil: now + 3_600_000 };
  try {
    if (!isKeyed) return await store.pets.add(animal);
    return (await store.pets.addOnce(animal, claim, now)).pet;
  } catch ({ code, cause }) {
    const why = `${code}: ${cause?.message}`;
    refused[why] = (refused[why] ?? 0) + 1;
    return undefined;
  }
}

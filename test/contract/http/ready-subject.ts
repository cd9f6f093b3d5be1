import { strict as assert } from 'node:assert';
import { nextTarget } from './next-target.js';
import { SEED, get, post, type RawRequest, type RowRequest, type Values } from './request-row.js';
import { headerValues, type Conversation } from './conversation.js';
import type { HttpSubject, Wanted } from './http-subject.js';
import { SITUATIONS, type Situation, type SituationSetup } from './situation.js';
import { fillRequest } from './wire.js';

/** A service with animals in its store, that fills in what rows leave open. */
export interface Ready {
  readonly overSocket: boolean;
  readonly values: Values & Readonly<Record<string, string>>;
  /** Whether the store is well, so that one can look what is in it. */
  readonly hasStore: boolean;
  send(request: RowRequest | RawRequest, wanted?: Wanted): Promise<Conversation>;
}

/** Adds the animals of `SEED` to a service whose store is empty, if it is well. */
export async function startReady(subject: HttpSubject, situation: Situation): Promise<Ready> {
  const { store }: SituationSetup = SITUATIONS[situation];
  const { host, pathname: base } = new URL(subject.url);
  const unseeded = { ...subject.keys, host, base, ...UNSEEDED };
  const values = store === undefined ? { ...unseeded, ...(await seed(subject, unseeded)) } : unseeded;
  return {
    overSocket: subject.overSocket,
    values,
    hasStore: store === undefined,
    send: (request, wanted) => subject.send(fillRequest(request, values), wanted),
  };
}

const UNSEEDED = { pet: '1', cursor: '', soldCursor: '', petTag: '', petTagText: '', listTag: '' };

type Seeded = keyof typeof UNSEEDED;

async function seed(
  subject: HttpSubject,
  values: Readonly<Record<string, string>>,
): Promise<Pick<Values, Seeded>> {
  const answerTo = async (request: RowRequest, status: number) => {
    const [answer] = (await subject.send(fillRequest(request, values))).answers;
    assert.equal(answer?.status, status, `${request.method} was answered ${answer?.status}`);
    return answer;
  };
  const ids: string[] = [];
  for (const members of SEED) {
    const { body } = await answerTo(post(`{${members}}`), 201);
    ids.push(/^\{"id":(\d+),/.exec(body.toString())?.[1] ?? '');
  }
  const cursorOf = async (query: string): Promise<string> => {
    const target = nextTarget(await answerTo(get(`/pets?limit=1${query}`), 200));
    return new URLSearchParams(target?.split('?')[1]).get('cursor') ?? '';
  };
  const tagOf = async (path: string): Promise<string> => {
    const [answer] = (await subject.send(fillRequest(get(path), values))).answers;
    // Nothing where getPet is switched off.
    return (answer && headerValues(answer, 'ETag')[0]) ?? '';
  };
  const [pet = ''] = ids;
  const petTag = await tagOf(`/pets/${pet}`);
  return {
    pet,
    cursor: await cursorOf(''),
    soldCursor: await cursorOf('&status=sold'),
    petTag,
    petTagText: petTag.replaceAll('"', ''),
    listTag: await tagOf('/pets?limit=1'),
  };
}

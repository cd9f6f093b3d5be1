import { bearer, get, send, type Header, type Row } from './request-row.js';

const ETAG = /^"[\w-]{22}"$/;
const ifNoneMatch = (value: string): Header => ['If-None-Match', value];

const sent = { status: 200, headers: { ETag: ETAG } } as const;
/** As RFC 9110, 15.4.5 wants it: what the 200 would have said, without what describes a body. */
const notModified = {
  status: 304,
  headers: { ETag: ETAG, 'Content-Type': null, 'Content-Length': null },
  body: '',
} as const;

/** Reads of what the client has already. `{{listTag}}` and `{{petTag}}` are tags that the service gave. */
export const CONDITIONAL: readonly Row[] = [
  { name: 'gives a list its entity tag', request: get('/pets?limit=1'), expect: sent },
  { name: 'gives an animal its entity tag', request: get('/pets/{{pet}}'), expect: sent },
  ...(
    [
      ['the tag', '{{petTag}}'],
      ['the tag made weak on the way', 'W/{{petTag}}'],
      ['the tag among others', '"other", W/"another" ,{{petTag}}, "third"'],
      ['a list with empty members', ',, {{petTag}} ,'],
      ['a star', '*'],
    ] as const
  ).flatMap(([what, value]): Row[] => [
    {
      name: `answers 304 to getPet with ${what} in If-None-Match`,
      request: get('/pets/{{pet}}', ifNoneMatch(value)),
      expect: notModified,
    },
    {
      name: `answers 304 to listPets with ${what} in If-None-Match`,
      request: get('/pets?limit=1', ifNoneMatch(value.replace('petTag', 'listTag'))),
      expect: notModified,
    },
  ]),
  {
    name: 'answers 304 where If-None-Match is sent twice and the second has the tag',
    request: get('/pets/{{pet}}', ifNoneMatch('"other"'), ifNoneMatch('{{petTag}}')),
    expect: notModified,
  },
  {
    name: 'says in a 304 where the next page is',
    request: get('/pets?limit=1', ifNoneMatch('{{listTag}}')),
    expect: { status: 304, headers: { Link: /rel="next"/ } },
  },
  {
    name: 'answers 304 to HEAD as to GET',
    request: send('HEAD', '/pets?limit=1', ifNoneMatch('{{listTag}}')),
    expect: notModified,
  },
  ...(
    [
      ['another tag', '"other"'],
      ['the tag of something else', '{{listTag}}'],
      ['the tag without its quotes', '{{petTagText}}'],
      ['the tag cut short', '"{{petTagText}}'],
      ['a star in quotes', '"*"'],
      ['a star among tags', '"other", *'],
      ['nothing', ''],
    ] as const
  ).map(([what, value]): Row => ({
    name: `sends the animal to getPet with ${what} in If-None-Match`,
    request: get('/pets/{{pet}}', ifNoneMatch(value)),
    expect: sent,
  })),
  {
    name: 'answers 404 whatever If-None-Match says',
    request: get('/pets/0', ifNoneMatch('*')),
    expect: { status: 404, code: 'pet_not_found', headers: { ETag: null } },
  },
  {
    name: 'looks at the key before If-None-Match',
    request: { ...get('/pets'), headers: [bearer('nobody'), ifNoneMatch('*')] },
    expect: { status: 401, code: 'invalid_api_key', headers: { ETag: null } },
  },
  {
    name: 'looks at the parameters before If-None-Match',
    request: get('/pets?limit=0', ifNoneMatch('*')),
    expect: { status: 400, code: 'invalid_parameter', headers: { ETag: null } },
  },
];

import { expect } from 'chai';
import { inspect } from 'node:util';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { rejection } from './mongo-store-tests.js';

const SECRET = 'hunter2-&=secret';

const WRONG = [
  'mongodb://',
  'postgres://user:hunter2@host/db',
  `mongodb://user:${SECRET}@`,
  `mongodb://user:${SECRET}/x@host/db`,
  `mongodb://user:${SECRET}%@host/db`,
  `mongodb://user:p@ss:${SECRET}@host/db`,
  `mongodb://user:secret@host/db?unknown=${SECRET}`,
  `mongodb://user:secret@host/db?maxPoolSize=${SECRET}`,
  'mongodb+srv://one.example.com,two.example.com/db',
  'mongodb://host/a.b',
  `mongodb://host/${'ä'.repeat(32)}`, // of 64 bytes
  'mongodb://host/..',
  'mongodb://host/db-and-line-end\n',
];

/** What the refusal of a URL names. */
const NAMED = {
  'mongodb://host/admin': 'not admin, config or local',
  'mongodb://host/%6cocal?appName=x': 'not admin, config or local',
  'mongodb://host/config': 'not admin, config or local',
  'mongodb://host/db?ssl=maybe': ': ssl.',
  'mongodb://host/db?appName=x&MAXCONNECTING=0': ': maxconnecting.',
  'mongodb://host?minPoolSize=60&maxPoolSize=10': 'a minPoolSize above its maxPoolSize',
  'mongodb://host/?tls=true&tlscafile=/missing/ca%20file': '/missing/ca file (ENOENT)',
  'mongodb://host/?tlsCRLFile=/': ' / (EISDIR)',
  'mongodb://host/?TLSCERTIFICATEKEYFILE=/missing+key': '/missing key (ENOENT)',
  'mongodb://host/?serverSelectionTimeoutMS=5s&MAXPOOLSIZE=1e3&connectTimeoutMS=1.5&maxIdleTimeMS=500':
    ' no whole numbers: serverselectiontimeoutms, maxpoolsize, connecttimeoutms.',
  'mongodb://host/db&replicaSet=rs0': 'options begin with ?',
  'mongodb://host/db;replicaSet=rs0?tls=true': 'options begin with ?',
  'mongodb://host/replicaSet=rs0': 'options begin with ?',
  'mongodb://host/db#main': 'options begin with ?',
  'mongodb://host/db?appName=x&tlsAllowInvalidCertificates=flase':
    'refuses, one of appname, tlsallowinvalidcertificates.',
  'mongodb://host/db?compressors=zlib,snapy': 'refuses, one of compressors.',
  'mongodb+srv://one.example.com:27017/db?appName=x': 'one name without port.',
  'mongodb://host/?unknown=1&foo=2&appName=x': ': unknown, foo.',
};

const LOCATIONS = {
  [`mongodb://user:${encodeURIComponent(SECRET)}@one,two:27018/animals?replicaSet=r`]:
    'mongodb://one:27017,two:27018/animals',
  'mongodb://Two:27018,one:27017/animals': 'mongodb://one:27017,two:27018/animals',
  'mongodb://one': 'mongodb://one:27017/animal-store',
  'mongodb://one/test': 'mongodb://one:27017/test',
  'mongodb://one/our%2Danimals': 'mongodb://one:27017/our-animals',
  'mongodb://u:a&b=c;d@one/our%26animals': 'mongodb://one:27017/our&animals',
  'mongodb://one?tlsCAFile=/etc/hosts': 'mongodb://one:27017/animal-store',
  'mongodb://one/?tlsCAFile=/etc/hosts&appName=a/animals': 'mongodb://one:27017/animal-store',
  'mongodb://one/a?readPreference=secondaryPreferred&maxStalenessSeconds=120&serverSelectionTimeoutMS=1':
    'mongodb://one:27017/a',
  'mongodb://one/a?ReadPreference=nearest&readPreferenceTags=a:b&readPreferenceTags=&serverSelectionTimeoutMS=1':
    'mongodb://one:27017/a',
  'mongodb://one/a?maxstalenessseconds=120&serverSelectionTimeoutMS=1': 'mongodb://one:27017/a',
  'mongodb://[::1]:27018/?appName=x': 'mongodb://[::1]:27018/animal-store',
  'mongodb+srv://user:x@cluster.example.com/animals': 'mongodb+srv://cluster.example.com/animals',
};

describe('The URL of a MongoDB store', () => {
  for (const url of WRONG) {
    it(`is refused in one line without secrets: ${url.trim()}`, async () => {
      const error = await rejection(openMongoStore(url));
      expect(error).to.have.property('name', 'MongoStoreError');
      expect(error)
        .to.have.property('message')
        .that.matches(/^The URL (?:is|has|names) [^\n]+\.$/);
      const everything = inspect(error, { depth: null, showHidden: true });
      expect(everything).to.not.include('hunter2');
      expect(everything).to.not.match(/user:secret(?!@host)/);
    });
  }

  for (const [url, named] of Object.entries(NAMED)) {
    it(`is refused with the name of what is wrong: ${url}`, async () => {
      const error = await rejection(openMongoStore(url));
      expect(error).to.have.property('message').that.includes(named);
    });
  }

  for (const [url, location] of Object.entries(LOCATIONS)) {
    it(`is shown by its hosts and its database only: ${url}`, async () => {
      const store = await openMongoStore(url);
      await store.close();
      expect(store.location).to.equal(location);
    });
  }

  it('opens a store that is closed at the end of the block that declares it with `await using`', async () => {
    const pets = await (async () => {
      await using store = await openMongoStore('mongodb://127.0.0.1:1');
      return store.pets;
    })();
    expect(String(await rejection(pets.findById(1n)))).to.include('after close');
  });
});

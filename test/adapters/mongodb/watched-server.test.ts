import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { rejection } from './mongo-store-tests.js';
import { describeWithServerCommand } from './own-server.js';
import { WatchedServer } from './watched-server.js';

const readFrom = async (uri: string, signal?: AbortSignal): Promise<void> => {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1000 });
  try {
    await client.db('watched').collection('things').findOne({}, { signal });
  } finally {
    client.close().catch(() => {});
  }
};

describeWithServerCommand('A server that the tests watch', (command) => {
  let server: WatchedServer;
  beforeEach(async () => {
    server = new WatchedServer(command, 3000);
    await server.start();
  });
  afterEach(() => server.stop());

  it('is replaced when it hangs, and the test that it hung in is run again', async () => {
    const uris: string[] = [];
    await server.run(async () => {
      uris.push(server.uri);
      if (uris.length === 1) server.freeze();
      await readFrom(server.uri, AbortSignal.timeout(1000));
    });
    expect(uris).to.have.length(2);
    expect(uris[1]).to.not.equal(uris[0]);
  });

  it('is replaced when a test waits for it in vain', async () => {
    let runs = 0;
    await server.run(async () => {
      runs += 1;
      if (runs === 1) server.freeze();
      await readFrom(server.uri);
    });
    expect(runs).to.equal(2);
  });

  it('is not replaced when a test fails on it: that failure stands', async () => {
    let runs = 0;
    const failure = new Error('no such animal');
    const { uri } = server;
    const error = await rejection(
      server.run(async () => {
        runs += 1;
        await readFrom(server.uri);
        throw failure;
      }),
    );
    expect(error).to.equal(failure);
    expect(runs).to.equal(1);
    expect(server.uri).to.equal(uri);
  });
});

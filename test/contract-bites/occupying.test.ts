import { expect } from 'chai';
import { fetchSubjects, listenerSubjects, serviceSubjects } from '../contract/http-contract.js';
import { NO_KEYS } from '../contract/http/http-subjects.js';
import { occupied } from '../contract/http/occupying.js';
import { NodeServer } from '../../src/adapters/http/node/node-server.js';
import { rejectionOf } from '../contract/rejection.js';

const never = new Promise<never>(() => {});

describe('A service that is to be busy', () => {
  it('fails at once where a request listener answers before the store is used', async () => {
    const open = listenerSubjects(() => (_request, response) => void response.writeHead(500).end());
    const error = await rejectionOf(open('busy'));
    expect(error)
      .to.be.an('error')
      .with.property('message', MESSAGE('was answered HTTP/1.1 500 Internal Server Error'));
  });

  it('fails at once where a request listener drops the connection', async () => {
    const open = listenerSubjects(() => (request) => void request.socket.destroy());
    const error = await rejectionOf(open('busy'));
    expect(error).to.be.an('error').with.property('message', MESSAGE('lost its connection'));
  });

  it('fails at once where a function from Request to Response answers or rejects before the store is used', async () => {
    const answering = fetchSubjects(() => async () => new Response('', { status: 404 }));
    expect(await rejectionOf(answering('busy'))).to.have.property('message', MESSAGE('was answered 404'));
    const rejecting = fetchSubjects(() => () => Promise.reject(new RangeError('no such path')));
    expect(await rejectionOf(rejecting('busy'))).to.have.property(
      'message',
      MESSAGE('was rejected with RangeError: no such path'),
    );
  });

  it('is stopped when it fails', async () => {
    const server = new NodeServer((_request, response) => void response.writeHead(500).end());
    const port = await server.listen(0, '127.0.0.1');
    let stopped = false;
    const stop = async (): Promise<void> => void (stopped = true);
    const open = serviceSubjects(async () => ({
      url: `http://127.0.0.1:${port}/v1`,
      keys: NO_KEYS,
      used: never,
      stop,
    }));
    await rejectionOf(open('busy'));
    await server.close(0);
    expect(stopped).to.equal(true);
  });

  it('fails where nothing comes of the request in time, or nobody tells when the store is used', async () => {
    expect(await rejectionOf(occupied(never, never, 1))).to.have.property(
      'message',
      'the request that is to occupy the service did not come to the store within 0.001 s',
    );
    expect(await rejectionOf(occupied(undefined, never, 1))).to.be.instanceOf(TypeError);
  });
});

const MESSAGE = (end: string): string =>
  `the request that is to occupy the service ${end}, and the store was not used`;

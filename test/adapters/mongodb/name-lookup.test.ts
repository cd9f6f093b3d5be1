import { expect } from 'chai';
import { promises as dns, type LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import { memberLookup } from '../../../src/adapters/mongodb/name-lookup.js';

const { lookup: original } = dns;
const ADDRESSES = [
  { address: '192.0.2.1', family: 4 },
  { address: '2001:db8::1', family: 6 },
];

/** As sockets ask, whose `autoSelectFamily` is on by default. */
const asking = () => {
  const lookUp = promisify(memberLookup());
  return (name: string): Promise<unknown> => lookUp(name, { all: true });
};

describe('The name of a MongoDB server', () => {
  const asked: string[] = [];
  let answer: () => Promise<LookupAddress[]>;
  beforeEach(() => {
    asked.length = 0;
    answer = async () => ADDRESSES;
    const lookup = (name: string): Promise<LookupAddress[]> => {
      asked.push(name);
      return answer();
    };
    Object.assign(dns, { lookup });
  });
  afterEach(() => void Object.assign(dns, { lookup: original }));

  it('is looked up once at a time, also while it hangs, and delays no other', async () => {
    const lookUp = asking();
    answer = () => new Promise(() => {});
    for (let left = 5; left > 0; left -= 1) void lookUp('dead');
    answer = async () => ADDRESSES;
    expect(await lookUp('alive')).to.deep.equal(ADDRESSES);
    expect(await lookUp('alive')).to.deep.equal(ADDRESSES);
    expect(asked).to.deep.equal(['dead', 'alive', 'alive']);
  });

  it('keeps its last addresses while the lookup fails or hangs, and has new ones afterwards', async () => {
    const lookUp = asking();
    await lookUp('db');
    answer = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await lookUp('db')).to.deep.equal(ADDRESSES);
    const slow = Promise.withResolvers<LookupAddress[]>();
    answer = () => slow.promise;
    expect(await lookUp('db')).to.deep.equal(ADDRESSES);
    slow.resolve(ADDRESSES.slice(1));
    await slow.promise;
    expect(await lookUp('db'), 'while the late lookup settles').to.have.length(1);
    answer = async () => ADDRESSES;
    expect(await lookUp('db')).to.deep.equal(ADDRESSES);
  });

  it('fails as the operating system says while no address is known', async () => {
    const lookUp = asking();
    const fault = Object.assign(new Error('ENOTFOUND'), { syscall: 'getaddrinfo' });
    answer = () => Promise.reject(fault);
    expect(await lookUp('db').catch((error: unknown) => error)).to.equal(fault);
    answer = async () => ADDRESSES;
    expect(await lookUp('db')).to.deep.equal(ADDRESSES);
  });

  it('is given as one address to sockets that want one', (done) => {
    memberLookup()('db', {}, (error, address, family) => {
      expect([error, address, family]).to.deep.equal([null, '192.0.2.1', 4]);
      done();
    });
  });
});

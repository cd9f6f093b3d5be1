import { expect } from 'chai';
import { promises as dns, type LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import { memberLookup } from '../../../src/adapters/mongodb/name-lookup.js';
import { rejectionOf as rejection } from '../../contract/rejection.js';

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

    const found = [await lookUp('alive'), await lookUp('alive')];

    expect(found).to.deep.equal([ADDRESSES, ADDRESSES]);
    expect(asked).to.deep.equal(['dead', 'alive', 'alive']);
  });

  it('keeps its last addresses while the lookup fails', async () => {
    const lookUp = asking();
    await lookUp('db');
    answer = () => Promise.reject(new Error('ENOTFOUND'));

    const found = await lookUp('db');

    expect(found).to.deep.equal(ADDRESSES);
  });

  it('keeps its last addresses while the lookup hangs, and has new ones afterwards', async () => {
    const lookUp = asking();
    const slow = Promise.withResolvers<LookupAddress[]>();
    await lookUp('db');
    answer = () => slow.promise;

    const before = await lookUp('db');
    slow.resolve(ADDRESSES.slice(1));
    await slow.promise;
    const settling = await lookUp('db');
    answer = async () => ADDRESSES;
    const after = await lookUp('db');

    expect(before, 'while it hangs').to.deep.equal(ADDRESSES);
    expect(settling, 'while the late lookup settles').to.deep.equal(ADDRESSES.slice(1));
    expect(after, 'afterwards').to.deep.equal(ADDRESSES);
  });

  it('fails as the operating system says while no address is known', async () => {
    const lookUp = asking();
    const fault = Object.assign(new Error('ENOTFOUND'), { syscall: 'getaddrinfo' });
    answer = () => Promise.reject(fault);

    const error = await rejection(lookUp('db'));
    answer = async () => ADDRESSES;
    const found = await lookUp('db');

    expect(error).to.equal(fault);
    expect(found, 'by the next lookup').to.deep.equal(ADDRESSES);
  });

  it('is given as one address to sockets that want one', (done) => {
    memberLookup()('db', {}, (error, address, family) => {
      expect({
        error,
        address,
        family,
      }).to.deep.equal({
        error: null,
        address: '192.0.2.1',
        family: 4,
      });
      done();
    });
  });
});

import { expect } from 'chai';
import { clientAddressBehind } from '../../../src/bootstrap/service/client-address.js';
import { networks } from '../../../src/bootstrap/service/setting-values.js';
import { requestWith } from '../../adapters/http/fixtures.js';

describe('The address of a client', () => {
  const PROXY = '10.1.2.3';
  const client = '203.0.113.9';
  for (const [title, remoteAddress, headers, expected] of [
    ['is that of the connection without a proxy', client, {}, client],
    ['is what a trusted proxy says', PROXY, { 'x-forwarded-for': client }, client],
    [
      'is not what others say',
      client,
      { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=1.1.1.1' },
      client,
    ],
    [
      'is not what others say on the same machine',
      '127.0.0.1',
      { 'x-forwarded-for': client },
      '127.0.0.1',
    ],
    [
      'is not what others told a trusted proxy',
      PROXY,
      { 'x-forwarded-for': `1.1.1.1, ${client}` },
      client,
    ],
    [
      'is found behind several trusted proxies',
      PROXY,
      { 'x-forwarded-for': `${client}, 10.9.9.9` },
      client,
    ],
    ['is that of the proxy if it says nothing', PROXY, {}, PROXY],
    ['is not what a client wrote into Forwarded', PROXY, { forwarded: 'for=7.7.7.7' }, PROXY],
    ['may be of IPv6', PROXY, { 'x-forwarded-for': '2001:db8::1' }, '2001:db8::1'],
    [
      'is found where IPv4 is mapped to IPv6',
      '::ffff:10.1.2.3',
      { 'x-forwarded-for': client },
      client,
    ],
    [
      'is found without the ports of IPv4',
      PROXY,
      { 'x-forwarded-for': `${client}:4711, 10.1.2.3:5555` },
      client,
    ],
    [
      'is found without the ports and brackets of IPv6',
      '::ffff:10.1.2.3',
      { 'x-forwarded-for': '[2001:db8::1]:4711,[::ffff:10.1.2.3]:80' },
      '2001:db8::1',
    ],
    [
      'is found without brackets alone',
      PROXY,
      { 'x-forwarded-for': '[2001:db8::1]' },
      '2001:db8::1',
    ],
    ['keeps an IPv6 that ends like a port', PROXY, { 'x-forwarded-for': '::1:80' }, '::1:80'],
    [
      'is found past empty members of the list',
      PROXY,
      { 'x-forwarded-for': `1.1.1.1, ${client},, 10.1.2.3 ,` },
      client,
    ],
    [
      'is what a proxy writes in place of an address',
      PROXY,
      { 'x-forwarded-for': 'unknown' },
      'unknown',
    ],
    ['is unknown with the connection', undefined, { 'x-forwarded-for': client }, undefined],
  ] as const) {
    it(title, () => {
      const addressOf = clientAddressBehind(['10.0.0.0/8']);
      expect(addressOf(requestWith(headers, { remoteAddress }))).to.equal(expected);
    });
  }

  it('is known with every network that the setting allows', () => {
    for (const network of [
      '0.0.0.0/1',
      '::/1',
      '::ffff:10.0.0.1',
      '::ffff:10.0.0.0/104',
      'fe80::1%lo',
      '::',
    ])
      expect(
        clientAddressBehind(networks(network))(requestWith({}, { remoteAddress: PROXY })),
      ).to.equal(PROXY);
  });
});

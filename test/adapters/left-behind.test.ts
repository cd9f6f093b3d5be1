import { expect } from 'chai';
import { echoBody, head, inTime } from './http/node/listening-server.js';
import { NodeServer } from '../../src/adapters/http/node/index.js';
import { RawConnection } from './http/node/raw-connection.js';
import { leftBehind } from '../left-behind.js';

describe('Nothing is left', () => {
  it('of a server that was closed', async () => {
    const left = await leftBehind(async () => {
      const server = new NodeServer(echoBody);
      const port = await server.listen(0, '127.0.0.1');
      const connection = await RawConnection.open(port, head('GET /'));
      await connection.responses(1);
      const malformed = await RawConnection.open(port, '@@\r\n\r\n');
      await malformed.allResponses();
      const cut = await RawConnection.open(port, head('POST /', 'Content-Length: 4'));
      cut.socket.resetAndDestroy();
      expect(await inTime(server.close(30_000))).to.equal(true);
      await RawConnection.closeAll();
    });
    expect(left).to.deep.equal([]);
  });
});

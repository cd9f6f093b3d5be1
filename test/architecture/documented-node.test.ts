import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';

const FOLDER = new URL('../../../src/adapters/http/node/', import.meta.url);

/** The events that the documentation of Node.js 22, 24 and 26 names, and the listener uses. */
const EVENTS = new Set(
  [
    'data end error close drain finish resume', // streams and sockets
    'connection request checkContinue checkExpectation connect clientError', // http.Server
    'listening newListener', // net.Server, EventEmitter
  ].flatMap((names) => names.split(' ')),
);
/** What the documentation of streams tells implementers to provide. */
const HOOKS = new Set(['_read', '_write', '_final', '_destroy']);
/** The documented property of a server that is set. */
const SET = new Set(['http.maxHeadersCount']);

/** What a source uses of the inside of Node.js, as written. */
function undocumented(source: string): string[] {
  const found = (pattern: RegExp, known: ReadonlySet<string> = new Set()): string[] =>
    Array.from(source.matchAll(pattern)).flatMap(([text, name = text]) =>
      known.has(name) ? [] : [text],
    );
  return [
    ...found(/\.(?:on|once|emit)\(\s*'(\w+)'/g, EVENTS),
    ...found(/(?<![\w'])(_[a-z]\w*)\(/g, HOOKS),
    ...found(/\._(?!_)\w+(?!\w*\()/g),
    ...found(/\.(?:listeners|rawListeners|removeListener|removeAllListeners)\(/g),
    ...found(/(?<![\w#.])((?:socket|request|response|req|http|server)\.\w+) = /g, SET),
    ...found(/\bas any\b|\bprocess\.binding\b|Symbol\(/g),
  ];
}

describe('The listener for HTTP', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));

  it('calls nothing of Node.js, and listens to nothing, that is not documented', () => {
    const used = files.flatMap((name) =>
      undocumented(readFileSync(new URL(name, FOLDER), 'utf8')).map((text) => `${name}: ${text}`),
    );
    expect(used).to.deep.equal([]);
    expect(files).to.include.members(['gate.ts', 'node-server.ts']);
  });

  for (const planted of [
    "socket.listeners('data')",
    "socket.removeListener('data', parse);",
    'socket.resume = () => socket;',
    "response.once('prefinish', count);",
    'override _implicitHeader() {}',
    'if (response._last) end();',
    'socket._handle.fd;',
  ])
    it(`is caught at ${planted}`, () => {
      expect(undocumented(planted), 'what is found').to.not.deep.equal([]);
    });
});

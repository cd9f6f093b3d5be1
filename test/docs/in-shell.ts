import { Script, createContext } from 'node:vm';

/** What was called in MongoDB's shell, and with what. */
type ShellCall = readonly [string, ...unknown[]];

/** What MongoDB's shell offers, as far as the pages use it: tells what was called, and with what. */
export function inShell(code: string): readonly ShellCall[] {
  const calls: ShellCall[] = [];
  const recording =
    (name: string): ((...args: unknown[]) => void) =>
    (...args) =>
      void calls.push([name, ...args]);
  const collection = (name: string) => ({ createIndex: recording(`${name}.createIndex`) });
  const context = {
    use: recording('use'),
    db: {
      pets: collection('pets'),
      counters: { updateOne: recording('counters.updateOne') },
      createRole: recording('createRole'),
      createUser: recording('createUser'),
    },
    sh: { shardCollection: recording('shardCollection') },
    Long: (value: number) => value,
    passwordPrompt: () => 'secret',
  };
  new Script(code).runInContext(createContext(context));
  return JSON.parse(JSON.stringify(calls)) as readonly ShellCall[];
}

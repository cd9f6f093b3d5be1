import type { ParseArgsConfig } from 'node:util';
import type { Operations, Terminal } from './operations.js';

/** What is written, and what it means, in a few words. */
export type Term = readonly [written: string, meaning: string];

/** One command of the command line. */
export interface Command {
  /** One word, or two. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  /** A whole line that works. */
  readonly example: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** What its argument and its options mean, in the order in which help shows them. */
  readonly terms: readonly Term[];
  /** What the settings mean that it is there for; those that every command reads go without saying. */
  readonly settings?: readonly Term[];
  /** What its one argument is called, if it takes one. */
  readonly positional?: string;
  /** Resolves to the exit code. */
  run(operations: Operations, terminal: Terminal, options: CommandOptions): Promise<number>;
}

export interface CommandOptions {
  readonly values: Readonly<Record<string, unknown>>;
  /** Empty where the command takes none. */
  readonly argument: string;
}

import { inspect } from 'node:util';

/** How many documents are remembered as told of. */
const REMEMBERED = 1000;

/** A document's `_id`, for people. */
export const nameOf = (id: unknown): string => inspect(id, { breakLength: Infinity, maxStringLength: 100 });

/** Tells of documents that another program wrote and this one cannot use: of each once, by its id only. */
export class RefusedDocuments {
  readonly #collection: string;
  readonly #tell: (line: string) => void;
  readonly #told = new Set<string>();

  constructor(collection: string, tell: (line: string) => void) {
    this.#collection = collection;
    this.#tell = tell;
  }

  tell(id: unknown): undefined {
    const name = nameOf(id);
    if (this.#told.has(name)) return;
    if (this.#told.size >= REMEMBERED) this.#told.clear();
    this.#told.add(name);
    this.#tell(
      `the document ${name} in ${this.#collection} is passed over: its fields are missing, of wrong types or not valid`,
    );
  }
}

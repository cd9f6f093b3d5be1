import type { Pet } from '../domain/pet.js';

/** How many lines are hashed together. Part of the definition: another number gives other checksums. */
const BLOCK = 1000;

/**
 * A checksum of records in a fixed order, the same whatever store they are in and however they are cut into
 * batches. Each record is a line: the JSON text, as ECMAScript writes it, of an array of strings, then U+000A.
 * The lines are taken in blocks of 1,000, the last one shorter. The checksum of none is 32 zero bytes; that of
 * all up to a block is SHA-256 of the checksum before, followed by the block in UTF-8.
 */
export class CatalogueChecksum {
  /** How many records were added. */
  count = 0;
  #sum = new Uint8Array(32);
  #lines: string[] = [];

  async add(fields: readonly string[]): Promise<void> {
    this.#lines.push(`${JSON.stringify(fields)}\n`);
    this.count += 1;
    if (this.#lines.length === BLOCK) await this.#close();
  }

  /** 64 lower-case hexadecimal digits. Nothing can be added afterwards. */
  async finish(): Promise<string> {
    if (this.#lines.length > 0) await this.#close();
    return Array.from(this.#sum, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  async #close(): Promise<void> {
    const block = new TextEncoder().encode(this.#lines.join(''));
    this.#lines = [];
    const message = new Uint8Array(this.#sum.length + block.length);
    message.set(this.#sum);
    message.set(block, this.#sum.length);
    this.#sum = new Uint8Array(await crypto.subtle.digest('SHA-256', message));
  }
}

/** The record of an animal: id and categoryId in decimal. Animals are added in ascending order of their ids. */
export const petRecord = ({ id, name, categoryId, status }: Pet): readonly string[] => [
  String(id),
  name,
  String(categoryId),
  status,
];

import { INT64_MAX, INT64_MIN } from '../../domain/int64.js';

/** JSON Schema keywords (2020-12). Their integers may be bigints, which `stringify` prints to the digit. */
export interface Keywords {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Keywords;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Keywords>>;
  readonly required?: readonly string[];
  readonly default?: string | number;
  readonly $ref?: string;
  readonly [keyword: string]: unknown;
}

/** A reference to one of the `COMPONENTS` of the document. */
export const reference = (name: string, keywords?: Keywords): Keywords => ({
  $ref: `#/components/schemas/${name}`,
  ...keywords,
});

export const INT64 = { type: 'integer', format: 'int64', minimum: INT64_MIN, maximum: INT64_MAX };

export const PET_ID: Keywords = {
  ...INT64,
  description: 'Identifier of the animal, assigned by the service: ascending, never reused.',
  example: 1n,
};

/** The JSON Schema keywords (2020-12) that pages show. Their integers may be bigints. */
export interface Keywords {
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly enum?: readonly (string | number)[];
  readonly items?: Keywords;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Keywords>>;
  readonly required?: readonly string[] | undefined;
  readonly default?: string | number;
  readonly $ref?: string;
}

/** A reference to one of the `COMPONENTS` of the document. */
export const reference = (name: string): Keywords => ({ $ref: `#/components/schemas/${name}` });

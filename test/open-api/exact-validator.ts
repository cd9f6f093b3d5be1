import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** A JSON value, its integers as bigints: what `parse` of exact JSON gives. */
export type Exact = unknown;

/** Says what is wrong with a value by a schema; `undefined` when nothing is. */
export type Judge = (value: Exact) => string | undefined;

/**
 * Validators of the schemas in an OpenAPI document, by Ajv: another implementation than the one that the
 * service judges by. Ajv knows no bigints, and its numbers would round int64s, so integers are taught to it.
 * @param components the schemas that the document names
 */
export function exactValidator(components: Readonly<Record<string, Exact>>): (schema: Exact) => Judge {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false, // a schema that only adds to a reference leaves the type to what it refers to
    allErrors: true,
    unicodeRegExp: true,
    formats: { int32: true, int64: true },
  });
  ajv.addKeyword({
    keyword: INTEGER,
    schemaType: 'object',
    compile:
      ({ minimum, maximum }: Bounds) =>
      (value: Exact) =>
        typeof value === 'bigint' &&
        (minimum === undefined || value >= minimum) &&
        (maximum === undefined || value <= maximum),
  });
  ajv.addSchema({ $id: COMPONENTS, $defs: forAjv(components) });
  return (schema) => {
    const validate: ValidateFunction = ajv.compile(forAjv(schema) as object);
    return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors));
  };
}

const COMPONENTS = 'components';
const INTEGER = 'x-exact-integer';

interface Bounds {
  readonly minimum?: bigint;
  readonly maximum?: bigint;
}

/** Keywords that judge nothing, and whose values are data, bigints and all. */
const ANNOTATIONS = new Set(['default', 'example', 'examples']);

/** A schema of the document as one for Ajv: integers by our keyword, references to where the components are. */
function forAjv(schema: Exact): unknown {
  if (Array.isArray(schema)) return schema.map(forAjv);
  if (typeof schema === 'bigint') return Number(schema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, minimum, maximum, ...rest } = schema as Record<string, Exact>;
  const exact = type === 'integer' ? { ...rest, [INTEGER]: { minimum, maximum } } : schema;
  return Object.fromEntries(
    Object.entries(exact).flatMap(([keyword, value]) => {
      if (ANNOTATIONS.has(keyword)) return [];
      if (keyword === INTEGER) return [[keyword, value]];
      if (keyword === '$ref')
        return [[keyword, String(value).replace('#/components/schemas/', `${COMPONENTS}#/$defs/`)]];
      return [[keyword, forAjv(value)]];
    }),
  );
}

/** One JSON Schema is the type, the validation and what a model or client is shown. */
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { RE2JS } from 're2js';
import { OryxError, messageOf } from './errors.ts';
import { sentence } from './schema-message.ts';

/** A JSON Schema of draft 2020-12, as plain data. It is compiled once per object: do not change it afterwards. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Flatten<T> = { [K in keyof T]: T[K] } & {};
type Required<S, P> =
  | (S extends { required: readonly (infer K)[] } ? K : never)
  | { [K in keyof P]: P[K] extends { default: unknown } ? K : never }[keyof P];

/**
 * The type of a value that passed `S`, defaults filled in. Understands const, enum, scalars (nullable as `type: ['string', 'null']`), arrays,
 * objects with required and defaults, and records; anything else is `unknown`.
 */
export type FromSchema<S> = S extends { const: infer V }
  ? V
  : S extends { enum: readonly (infer V)[] }
    ? V
    : S extends { type: readonly (infer T)[] }
      ? T extends unknown
        ? FromSchema<Omit<S, 'type'> & { type: T }>
        : never
      : S extends { type: 'null' }
        ? null
        : S extends { type: 'string' }
          ? string
          : S extends { type: 'number' | 'integer' }
            ? number
            : S extends { type: 'boolean' }
              ? boolean
              : S extends { type: 'array'; items: infer I }
                ? readonly FromSchema<I>[]
                : S extends { type: 'object'; properties: infer P }
                  ? Flatten<
                      { readonly [K in keyof P as K extends Required<S, P> ? K : never]: FromSchema<P[K]> } & {
                        readonly [K in keyof P as K extends Required<S, P> ? never : K]?: FromSchema<P[K]>;
                      }
                    >
                  : S extends { type: 'object'; additionalProperties: infer A }
                    ? Readonly<Record<string, FromSchema<A>>>
                    : unknown;

/** What a check says: the value with defaults filled in, or one readable sentence that names each parameter at fault. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** How a value is checked. */
export interface CheckOptions {
  /** Fill defaults into the value itself instead of a copy. */
  readonly inPlace?: boolean;
  /** What the value as a whole is called in the message; default "the value". */
  readonly subject?: string;
}

/** Checks a value; converts nothing. Only plain data: a copy keeps own enumerable properties of objects and arrays. */
export type Check<T> = (value: unknown, options?: CheckOptions) => Checked<T>;

/** How a schema is compiled. */
export interface SchemaOptions {
  /**
   * The schema comes from somebody else: unknown keywords and formats are ignored, and so is a pattern that has no linear-time form.
   * Without this they are errors of the author.
   */
  readonly foreign?: boolean;
}

const MAX_DEPTH = 100;

/** Compiles schemas, each once: the check is kept as long as the schema object lives. */
export class Schemas {
  readonly #checks = new WeakMap<JsonSchema, Check<unknown>>();
  #strict: Ajv2020 | undefined;
  #lenient: Ajv2020 | undefined;

  /** Throws ORYX_CONFIG for a schema that is not valid itself. Later calls with the same object return the same check, whatever the options. */
  compile<const S extends JsonSchema>(schema: S, { foreign = false }: SchemaOptions = {}): Check<FromSchema<S>> {
    let check = this.#checks.get(schema);
    if (!check) this.#checks.set(schema, (check = foreign ? this.#compileForeign(schema) : this.#compileOwn(schema)));
    return check as Check<FromSchema<S>>;
  }

  #compileOwn(schema: JsonSchema): Check<unknown> {
    this.#strict ??= engine({ strict: true, strictRequired: false, allowUnionTypes: true, code: { regExp: linearRegExp } });
    return checkWith(this.#strict, schema);
  }

  /** `$schema` and `$id` would be looked up and remembered; the rest of the schema does not need them. */
  #compileForeign({ $schema: _dialect, $id: _id, ...schema }: JsonSchema): Check<unknown> {
    this.#lenient ??= engine({ strict: false, validateFormats: false, code: { regExp: lenientRegExp } });
    return checkWith(this.#lenient, schema);
  }
}

const shared = new Schemas();

/** As `Schemas.compile`, over one set of schemas for the whole process. */
export function compileSchema<const S extends JsonSchema>(schema: S, options?: SchemaOptions): Check<FromSchema<S>> {
  return shared.compile(schema, options);
}

/** Freezes plain data all the way down and returns it. */
export function deepFreeze<T>(value: T): T {
  if (!isPlain(value) || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

function engine(options: Options): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, useDefaults: true, ownProperties: true, addUsedSchema: false, logger: false, ...options });
  formats.default(ajv);
  return ajv.addVocabulary(['example']);
}

function checkWith(ajv: Ajv2020, schema: JsonSchema): Check<unknown> {
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    throw new OryxError('ORYX_CONFIG', `a schema is not valid: ${messageOf(error)}`, { cause: error });
  } finally {
    ajv.removeSchema(schema);
  }
  return (value, { inPlace = false, subject = 'the value' } = {}) => {
    if (isDeeper(value, MAX_DEPTH)) return { ok: false, message: `${subject} is nested more than ${MAX_DEPTH} levels deep` };
    const checked = inPlace ? value : copy(value);
    if (validate(checked)) return { ok: true, value: checked };
    return { ok: false, message: sentence(validate.errors ?? [], subject) };
  };
}

/** RE2 takes linear time where a backtracking engine can take for ever on a hostile text. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), { code: 'linearRegExp' });

const lenientRegExp = Object.assign(
  (pattern: string) => {
    try {
      return linearRegExp(pattern);
    } catch {
      return { test: () => true };
    }
  },
  { code: 'lenientRegExp' },
);

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isPlain(value)) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function copy(value: unknown): unknown {
  if (!isPlain(value)) return value;
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member)]));
}

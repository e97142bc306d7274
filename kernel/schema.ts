/** One JSON Schema is the type, the validation and what a model or client is shown. */

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
      ? FromSchema<{ type: T }>
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

/** Compiles, or the types that schemas stand for have changed. */
import { compileSchema, definePlugin, defineTool, ok, type FromSchema } from '../../kernel/index.ts';

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- comparing two generic functions is the one exact comparison of types
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(proof: Equal<A, B>): void => void proof;

same<FromSchema<{ type: 'string' }>, string>(true);
same<FromSchema<{ type: 'integer' }>, number>(true);
same<FromSchema<{ type: 'number' }>, number>(true);
same<FromSchema<{ type: 'boolean' }>, boolean>(true);
same<FromSchema<{ type: 'null' }>, null>(true);
same<FromSchema<{ readonly type: readonly ['string', 'null'] }>, string | null>(true);
same<FromSchema<{ readonly type: readonly ['array', 'null']; items: { type: 'string' } }>, readonly string[] | null>(true);
same<FromSchema<{ const: 'on' }>, 'on'>(true);
same<FromSchema<{ readonly enum: readonly ['text', 'hex'] }>, 'text' | 'hex'>(true);
same<FromSchema<{ type: 'array'; items: { type: 'integer' } }>, readonly number[]>(true);
same<FromSchema<{ type: 'object'; additionalProperties: { type: 'integer' } }>, Readonly<Record<string, number>>>(true);
same<FromSchema<{ oneOf: [] }>, unknown>(true);
same<
  FromSchema<{
    type: 'object';
    properties: { a: { type: 'string' }; b: { type: 'integer'; default: 1 }; c: { type: 'boolean' } };
    required: readonly ['a'];
  }>,
  { readonly a: string; readonly b: number; readonly c?: boolean }
>(true);

const checked = compileSchema({ type: 'object', properties: { n: { type: 'integer', default: 3 } } })({});
if (checked.ok) checked.value.n satisfies number;
// @ts-expect-error a value exists only when the check succeeded
void checked.value;

export const typedPlugin = definePlugin({
  name: 'typed',
  requires: ['store'],
  config: { type: 'object', properties: { port: { type: 'integer', default: 1 } }, additionalProperties: false },
  setup(ctx) {
    ctx.config.port satisfies number;
    void ctx.services.store.get;
    // @ts-expect-error a service that `requires` does not name
    void ctx.services.engine;
    // @ts-expect-error a property that the schema does not have
    void ctx.config.host;
    // @ts-expect-error a hook that does not exist
    ctx.tap('beforeLunch', () => undefined);
    // @ts-expect-error an item of the wrong shape
    ctx.register('tool', { name: 'x' });
  },
});

export const typedTool = defineTool({
  name: 'typed',
  description: '',
  input: { type: 'object', properties: { path: { type: 'string' }, depth: { type: 'integer' } }, required: ['path'] },
  claims: ({ path }) => [{ kind: 'file', value: path }],
  async execute({ path, depth }) {
    path satisfies string;
    // @ts-expect-error an optional property may be missing
    depth satisfies number;
    return ok('');
  },
});

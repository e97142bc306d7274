/** Inference for authors; at run time these hand back what the kernel holds. */
import type { Claim, Context, Plugin, ServiceName, Tool, ToolResult, ToolRun, Turn } from './contract/index.ts';
import type { FromSchema, JsonSchema } from './schema.ts';

const BRAND = Symbol.for('oryxos.plugin');

/** Names of settings; any name where the schema is not known while compiling. */
type SettingOf<S> = unknown extends FromSchema<S> ? string : keyof FromSchema<S> & string;

/**
 * Declares a plugin. `config` types `ctx.config`, `requires` types `ctx.services`; `live` names settings that it takes while it runs.
 *
 * @example
 * ```ts
 * export default definePlugin({
 *   name: 'hello',
 *   config: { type: 'object', properties: { greeting: { type: 'string', default: 'Hello' } }, additionalProperties: false },
 *   setup(ctx) {
 *     ctx.register('tool', helloTool(ctx.config.greeting));
 *   },
 * });
 * ```
 */
export function definePlugin<const S extends JsonSchema = JsonSchema, const R extends ServiceName = never>(plugin: {
  readonly name: string;
  readonly version?: string;
  readonly requires?: readonly R[];
  readonly configAt?: string | Readonly<Record<string, string>>;
  readonly config?: S;
  readonly live?: readonly SettingOf<S>[];
  readonly guard?: boolean;
  setup(ctx: Context<FromSchema<S>, R>): void | Promise<void>;
}): Plugin {
  const defined: Plugin = { requires: [], ...plugin };
  Object.defineProperty(defined, BRAND, { value: true });
  return defined;
}

/** Recognises what `definePlugin` made, also in another copy of this module. */
export function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}

/**
 * Declares a tool. `input` is the JSON Schema that the model sees, that arguments are checked with, and that types `claims` and `execute`.
 *
 * @example
 * ```ts
 * const greet = defineTool({
 *   name: 'greet',
 *   description: 'Greet somebody by name. Returns one sentence.',
 *   readOnly: true,
 *   input: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'], additionalProperties: false },
 *   async execute({ who }) {
 *     return ok(`Hello, ${who}.`);
 *   },
 * });
 * ```
 */
export function defineTool<const S extends JsonSchema>(tool: {
  readonly name: string;
  readonly description: string | (() => string);
  readonly input: S;
  readonly readOnly?: boolean;
  readonly idempotent?: boolean;
  readonly source?: string;
  readonly timeoutMs?: number;
  readonly aliases?: Readonly<Record<string, string>>;
  claims?(input: FromSchema<S>, turn: Turn): readonly Claim[];
  execute(input: FromSchema<S>, run: ToolRun): Promise<ToolResult>;
}): Tool {
  const { input, ...rest } = tool;
  return { ...rest, inputSchema: input };
}

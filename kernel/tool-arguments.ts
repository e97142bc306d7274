/** A model's arguments: parsed, validated, frozen. */
import type { Tool } from './contract/index.ts';
import { messageOf } from './errors.ts';
import { type Check, compileSchema, deepFreeze } from './schema.ts';

/** The frozen input, or one sentence for the model that names what is wrong. */
export type ParsedArguments =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string };

/**
 * Parses and checks arguments with the tool's schema; nothing is coerced, unknown parameters are refused by schemas that say so.
 * An empty text and `null` count as `{}`, and other spellings that the tool names are accepted. The result is frozen all the way down.
 */
export function parseArguments(tool: Tool, argumentsJson: string): ParsedArguments {
  const parsed = parseObject(argumentsJson);
  if (!parsed.ok) return parsed;
  const checked = checkOf(tool)(respelled(parsed.value, tool.aliases ?? {}));
  if (!checked.ok) return checked;
  return { ok: true, value: deepFreeze(checked.value as Record<string, unknown>) };
}

/** Tools of plugins and servers may use keywords that we do not know. A schema that cannot be compiled lets nothing pass. */
function checkOf(tool: Tool): Check<unknown> {
  try {
    return compileSchema(tool.inputSchema, { foreign: true });
  } catch (error) {
    return () => ({ ok: false, message: `the tool's own schema is not valid: ${messageOf(error)}` });
  }
}

function parseObject(argumentsJson: string): ParsedArguments {
  if (argumentsJson.trim() === '') return { ok: true, value: {} };
  let value: unknown;
  try {
    value = JSON.parse(argumentsJson);
  } catch {
    return { ok: false, message: 'the arguments are not valid JSON' };
  }
  if (value === null) return { ok: true, value: {} };
  if (typeof value !== 'object' || Array.isArray(value)) return { ok: false, message: 'the arguments must be a JSON object' };
  return { ok: true, value: value as Record<string, unknown> };
}

function respelled(input: Readonly<Record<string, unknown>>, aliases: Readonly<Record<string, string>>): Record<string, unknown> {
  const entries = Object.entries(input).map(([key, value]) => {
    const proper = Object.hasOwn(aliases, key) ? aliases[key] : undefined;
    return [proper !== undefined && !Object.hasOwn(input, proper) ? proper : key, value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

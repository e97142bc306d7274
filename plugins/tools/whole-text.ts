/** Half of a character, which UTF-8 cannot hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Why the values cannot be written as they are, as the failure text of the tool; undefined when they can. */
export function brokenText(tool: string, values: Readonly<Record<string, string>>): string | undefined {
  const broken = Object.entries(values).find(([, value]) => LONE_SURROGATE.test(value));
  return broken && `Bad arguments for ${tool}: ${broken[0]} has half of a character (a lone surrogate)`;
}

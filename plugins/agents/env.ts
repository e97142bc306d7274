/** Environment variables in the provider section of an AGENT.md. */

const PLACEHOLDER = /\$\{([A-Za-z0-9_]+)\}/g;
const ALLOWED = /(?:_KEY|_TOKEN|_SECRET|_URL)$|^ORYXOS_/;

/** Values of variables by name, e.g. `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${NAME}` in every string of `value`, in lists and maps too. Only names that end in _KEY, _TOKEN, _SECRET or _URL or start with
 * ORYXOS_ are looked up; others, and variables that are not set, stay as they are and are reported through `onWarning`.
 */
export function expandEnvironment(value: unknown, environment: Environment, onWarning: (warning: string) => void): unknown {
  if (typeof value === 'string') return expanded(value, environment, onWarning);
  if (Array.isArray(value)) return value.map((item) => expandEnvironment(item, environment, onWarning));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value)) copy[key] = expandEnvironment(item, environment, onWarning);
  return copy;
}

function expanded(text: string, environment: Environment, onWarning: (warning: string) => void): string {
  return text.replace(PLACEHOLDER, (placeholder, name: string) => {
    if (!ALLOWED.test(name)) {
      onWarning(
        `${placeholder} is kept as it stands: only names that end in _KEY, _TOKEN, _SECRET or _URL or start with ORYXOS_ are replaced`,
      );
      return placeholder;
    }
    const found = environment[name];
    if (found === undefined) onWarning(`${placeholder} is kept as it stands: the environment variable is not set`);
    return found ?? placeholder;
  });
}

/** The configuration: packaged defaults, a file, the environment and flags, in this order; later ones win. */
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { type Check, compileSchema, type JsonSchema, OryxError, type Plugin } from '../../kernel/index.ts';
import { respelled, substituted, typed } from './fit.ts';
import { canonical, variableOf } from './key-path.ts';
import { keyTable, type KeyEntry } from './key-table.ts';

/** Where a value came from: "default", "file <path>", "environment <NAME>" or "flag". */
export interface ConfiguredValue {
  readonly value: unknown;
  readonly origin: string;
}

/** Where values come from, weakest first; below them stand the defaults of the plugins' schemas. */
export interface ConfigurationSources {
  /** Plugins whose keys are known. */
  readonly plugins: readonly Plugin[];
  /** Path of the file with the user's values; undefined for none. A path that is named but missing is an error. */
  readonly file: string | undefined;
  /** What stands in that file; absent: it is read. */
  readonly text?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values by key path, e.g. from the command line. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** The configuration, read and valid. It does not change: another start reads another one. */
export interface Configuration {
  /** What a plugin is loaded with: its own properties, where they are set. */
  sectionOf(plugin: Plugin): Readonly<Record<string, unknown>>;
  /** Every known key with its value and origin, sorted by key. */
  values(): ReadonlyMap<string, ConfiguredValue>;
}

/**
 * Reads and checks the configuration. Maps merge, lists replace.
 *
 * @throws ORYX_CONFIG that lists every unknown key and wrong type with file, key and expected type
 */
export function readConfiguration(sources: ConfigurationSources): Configuration {
  const keys = keyTable(sources.plugins);
  const problems: string[] = [];
  const fromFile =
    sources.file === undefined
      ? new Map<string, unknown>()
      : fileValues(sources.file, sources.text ?? readText(sources.file), keys, problems);
  const flags = new Map(Object.entries(sources.flags).map(([path, value]) => [path.split('.').map(canonical).join('.'), value]));
  const values = new Map<string, ConfiguredValue>();
  for (const key of keys) {
    const found = valueOf(key, fromFile, flags, sources);
    const message = found.origin === 'default' ? undefined : problemWith(key, found.value);
    if (message !== undefined) problems.push(`${found.origin}: ${message}`);
    values.set(key.path, found);
  }
  if (problems.length > 0) throw new OryxError('ORYX_CONFIG', `the configuration is not valid:\n  ${problems.join('\n  ')}`);
  return {
    values: () => new Map([...values].sort(([a], [b]) => a.localeCompare(b))),
    sectionOf: (plugin) => section(plugin, keys, values),
  };
}

function valueOf(
  key: KeyEntry,
  fromFile: ReadonlyMap<string, unknown>,
  flags: ReadonlyMap<string, unknown>,
  { env, file }: ConfigurationSources,
): ConfiguredValue {
  const finished = (value: unknown): unknown => substituted(respelled(value, key.schema), env, key.schema);
  if (flags.get(key.path) !== undefined) return { value: finished(flags.get(key.path)), origin: 'flag' };
  const variable = variableOf(key.path);
  const text = env[variable];
  if (text !== undefined) return { value: respelled(typed(text, key.schema), key.schema), origin: `environment ${variable}` };
  if (fromFile.has(key.path)) return { value: finished(fromFile.get(key.path)), origin: `file ${file}` };
  return { value: substituted(key.schema['default'], env, key.schema), origin: 'default' };
}

/** Compiling a schema takes milliseconds, and a configuration is read again with each edit: each key's check is kept with its schema. */
const checks = new WeakMap<JsonSchema, Check<unknown>>();

function problemWith({ path, schema }: KeyEntry, value: unknown): string | undefined {
  let check = checks.get(schema);
  if (!check) checks.set(schema, (check = compileSchema({ type: 'object', properties: { [path]: schema }, additionalProperties: false })));
  const checked = check({ [path]: value });
  return checked.ok ? undefined : checked.message;
}

function section(
  plugin: Plugin,
  keys: readonly KeyEntry[],
  values: ReadonlyMap<string, ConfiguredValue>,
): Readonly<Record<string, unknown>> {
  const own = keys.filter((key) => key.plugin === plugin.name);
  const entries = own.map((key) => [key.property, values.get(key.path)?.value] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The values of a file by canonical key path; what is not a known key is a problem. */
function fileValues(file: string, text: string, keys: readonly KeyEntry[], problems: string[]): ReadonlyMap<string, unknown> {
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: true, merge: false });
  for (const error of document.errors) problems.push(`file ${file}: ${error.message.split('\n')[0]}`);
  const found = new Map<string, unknown>();
  const root: unknown = document.errors.length > 0 ? {} : document.toJS({ maxAliasCount: 20 });
  if (root !== null && (typeof root !== 'object' || Array.isArray(root))) problems.push(`file ${file}: must be a map of keys`);
  else collect(root ?? {}, '', keys, found, (path) => problems.push(`file ${file}: unknown key "${path}"${hint(path, keys)}`));
  return found;
}

function collect(
  map: object,
  prefix: string,
  keys: readonly KeyEntry[],
  found: Map<string, unknown>,
  unknown: (path: string) => void,
): void {
  for (const [key, value] of Object.entries(map) as [string, unknown][]) {
    const path = prefix + canonical(key);
    const isSection = keys.some((entry) => entry.path.startsWith(`${path}.`));
    if (keys.some((entry) => entry.path === path)) found.set(path, value);
    else if (isSection && typeof value === 'object' && value !== null && !Array.isArray(value))
      collect(value, `${path}.`, keys, found, unknown);
    else if (!isSection || value !== null) unknown(path);
  }
}

function hint(path: string, keys: readonly KeyEntry[]): string {
  const section = path.slice(0, path.lastIndexOf('.') + 1);
  const siblings = keys.filter((key) => key.path.startsWith(section) && section !== '').map((key) => key.path);
  return siblings.length === 0 ? '' : ` (known there: ${siblings.join(', ')})`;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new OryxError('ORYX_CONFIG', `the configuration file ${file} cannot be read`, { cause: error });
  }
}

/** Finds the package of a plugin on the disk and reads what its package.json promises. Nothing of it is run here. */
import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { OryxError } from '../../kernel/index.ts';
import { isInRange } from './version-range.ts';

/** Where packages may lie. */
export interface Places {
  /** `<root>/plugins`. */
  readonly pluginsDirectory: string;
  /** The directory of the running oryxos package. */
  readonly hostDirectory: string;
  /** Its version. */
  readonly hostVersion: string;
}

/** A package that was found. */
export interface FoundPackage {
  readonly version: string | undefined;
  readonly source: 'package' | 'directory';
  /** Real path of the package. */
  readonly directory: string;
  /** Whether it stands somewhere else and a link leads to it. */
  readonly isLinked: boolean;
  /** What package.json says, as it was read. */
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** A name as npm has it, with or without a scope; never a path. */
export const PACKAGE_NAME = '^(?:@[A-Za-z0-9~_-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~_-][A-Za-z0-9._~-]*$';
const IS_NAME = new RegExp(PACKAGE_NAME);

/**
 * Every package of this name, the one that counts first: `<root>/plugins/node_modules`, `<root>/plugins/<name>`, the host's node_modules.
 *
 * @throws ORYX_PLUGIN_CONFIG for a name that is none, and for a package.json that cannot be read
 */
export async function findPackages(name: string, { pluginsDirectory, hostDirectory }: Places): Promise<readonly FoundPackage[]> {
  if (!IS_NAME.test(name) || name === 'node_modules')
    throw problem(`"${name}" is not the name of a package; a path or "..", for one, is not allowed`);
  const own = [
    { directory: join(pluginsDirectory, 'node_modules', name), source: 'package' as const },
    { directory: join(pluginsDirectory, name), source: 'directory' as const },
  ];
  const hosts = nodeModulesAbove(hostDirectory).map((directory) => ({ directory: join(directory, name), source: 'package' as const }));
  const found: FoundPackage[] = [];
  for (const { directory, source } of [...own, ...hosts]) {
    const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const real = await realpath(directory);
    if (found.some((other) => other.directory === real)) continue;
    const manifest = parsed(text, `the package.json of plugin "${name}" (${source})`);
    const { version } = manifest;
    const isLinked = (await lstat(directory)).isSymbolicLink();
    found.push({ version: typeof version === 'string' ? version : undefined, source, directory: real, isLinked, manifest });
  }
  return found;
}

/**
 * The file that a package's plugin is imported from: `oryxos.plugin` of its package.json, else `main`, else index.js.
 *
 * @throws ORYX_PLUGIN_CONFIG when it was made for another version of OryxOS, and when that file is missing or not inside the package
 */
export async function entryOf(name: string, { directory, manifest }: FoundPackage, hostVersion: string): Promise<string> {
  checkVersion(name, manifest, hostVersion);
  const { plugin } = mapOf(manifest['oryxos']);
  const declared = plugin ?? manifest['main'] ?? 'index.js';
  const field = plugin === undefined ? 'main' : 'oryxos.plugin';
  if (typeof declared !== 'string' || declared === '')
    throw problem(`${field} in the package.json of plugin "${name}" must be a file name`);
  const file = join(directory, declared);
  if (!isInside(directory, file)) throw problem(`${field} in the package.json of plugin "${name}" leads out of the package: "${declared}"`);
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined)
    throw problem(`plugin "${name}" has no file "${declared}", which ${field} in its package.json names; is it built?`);
  if (!isInside(directory, real)) throw problem(`the file "${declared}" of plugin "${name}" is a link that leads out of the package`);
  return real;
}

function checkVersion(name: string, manifest: FoundPackage['manifest'], have: string): void {
  const wanted = mapOf(manifest['peerDependencies'])['oryxos'];
  if (wanted === undefined) return;
  const isFine = typeof wanted === 'string' ? isInRange(have, wanted) : undefined;
  if (isFine === true) return;
  const range = typeof wanted === 'string' ? wanted : JSON.stringify(wanted);
  if (isFine === undefined) throw problem(`plugin "${name}" wants oryxos "${range}" (peerDependencies), which is not a range of versions`);
  const advice = `install a version of the plugin for oryxos ${have} ("npm install ${name}@latest" in the plugins directory)`;
  throw problem(`plugin "${name}" wants oryxos ${range}, this is oryxos ${have}: ${advice}, or another oryxos`);
}

function parsed(text: string, what: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new OryxError('ORYX_PLUGIN_CONFIG', `${what} is not valid JSON`, { cause: error });
  }
  throw problem(`${what} is not a JSON object`);
}

/** As Node looks for them from a file in that directory, nearest first. */
function nodeModulesAbove(directory: string): readonly string[] {
  const parent = dirname(directory);
  return [join(directory, 'node_modules'), ...(parent === directory ? [] : nodeModulesAbove(parent))];
}

function isInside(directory: string, file: string): boolean {
  const path = relative(directory, file);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`);
}

const mapOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const problem = (message: string): OryxError => new OryxError('ORYX_PLUGIN_CONFIG', message);

/** Runs in Node's loader thread while third-party plugins are in use: gives them the running host, and keeps the generations of their code apart. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What the hook is given when it is registered: URLs of the host's modules by what plugins import, e.g. "oryxos/http". */
export interface HookData {
  readonly hostModules: Readonly<Record<string, string>>;
}

interface Resolved {
  readonly url: string;
}

let hostModules: ReadonlyMap<string, string> = new Map();

/** Called by Node, once. */
export function initialize(data: HookData): void {
  hostModules = new Map(Object.entries(data.hostModules));
}

/**
 * Called by Node for every import. `oryxos` is this host, wherever the plugin lies and whatever is installed there. A module that was imported
 * with `?gen=` hands the generation on to the modules of its own package, so that a new generation is new as a whole; what lies in
 * node_modules is shared.
 */
export async function resolve(
  specifier: string,
  context: { readonly parentURL?: string },
  nextResolve: (specifier: string, context: unknown) => Promise<Resolved>,
): Promise<Resolved> {
  const own = hostModules.get(specifier);
  if (own !== undefined) return nextResolve(own, context);
  const resolved = await nextResolve(specifier, context);
  const parent = URL.canParse(context.parentURL ?? '') ? new URL(context.parentURL ?? '') : undefined;
  const generation = parent?.searchParams.get('gen');
  if (!parent || !generation || !resolved.url.startsWith('file:')) return resolved;
  const url = new URL(resolved.url);
  if (url.searchParams.has('gen') || !(/^\.\.?\//.test(specifier) || isInPackageOf(parent, url))) return resolved;
  url.searchParams.set('gen', generation);
  return { ...resolved, url: url.href };
}

function isInPackageOf(parent: URL, url: URL): boolean {
  const home = packageOf(new URL('.', parent.href));
  return home !== undefined && url.href.startsWith(home) && !url.href.slice(home.length).includes('node_modules/');
}

/** The nearest directory, upwards, with a package.json. */
function packageOf(directory: URL): string | undefined {
  if (existsSync(fileURLToPath(new URL('package.json', directory)))) return directory.href;
  const parent = new URL('..', directory);
  return parent.href === directory.href ? undefined : packageOf(parent);
}

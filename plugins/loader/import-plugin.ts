/** Imports the code of a plugin, one generation after the other. */
import { register } from 'node:module';
import { relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Clock, isPlugin, messageOf, OryxError, type Plugin } from '../../kernel/index.ts';
import { syntaxPlace } from './syntax-place.ts';

/** How long the top level of a plugin's modules may take. */
const IMPORT_TIMEOUT_MS = 30_000;

/** One generation of a plugin's code. */
export interface PluginCode {
  /** The name in the configuration. */
  readonly name: string;
  /** Real path of the package. */
  readonly directory: string;
  /** Real path of the file to import. */
  readonly entry: string;
  /** Differs from the generation of every other import of this plugin: Node answers a URL that it knows from memory, a failure too. */
  readonly generation: string;
}

let isHookRegistered = false;

/** Makes `oryxos` the running host for all imports from now on. Once per process, because Node's loader is one per process. */
export function registerResolveHook(hostModules: Readonly<Record<string, string>>): void {
  if (isHookRegistered) return;
  isHookRegistered = true;
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  register(`./resolve-hook.${extension}`, import.meta.url, { data: { hostModules } });
}

/**
 * Imports a plugin. The code stays in memory for the life of the process: Node does not forget modules.
 *
 * Rejects with ORYX_PLUGIN_FAILED when the import fails, takes longer than 30 s, or brings something that `definePlugin` has not made; with
 * the reason of `signal` when that aborts first.
 */
export async function importPlugin({ name, directory, entry, generation }: PluginCode, clock: Clock, signal: AbortSignal): Promise<Plugin> {
  const url = pathToFileURL(entry);
  url.searchParams.set('gen', generation);
  const imported = import(url.href) as Promise<{ readonly default?: unknown }>;
  const module = await bounded(imported, name, clock, signal).catch(async (error: unknown) => {
    if (signal.aborted || error instanceof OryxError) throw error;
    const where = placeIn(error, directory) || (error instanceof SyntaxError ? await syntaxPlace(error, directory) : '');
    const reason = messageOf(error).replaceAll(`${directory}${sep}`, '');
    throw new OryxError('ORYX_PLUGIN_FAILED', `plugin "${name}" could not be imported: ${reason}${where}`, { cause: error });
  });
  const plugin = module.default;
  if (isPlugin(plugin) && isComplete(plugin)) return plugin;
  const what = `the default export of ${relative(directory, entry)} of plugin "${name}"`;
  const problem = isPlugin(plugin)
    ? 'needs a name (a text), setup (a function) and, if any, requires (a list)'
    : 'must be what definePlugin returns';
  throw new OryxError('ORYX_PLUGIN_FAILED', `${what} is not a plugin: it ${problem}`);
}

/** Authors without types can leave things out. */
function isComplete({ name, setup, requires }: Partial<Plugin>): boolean {
  return typeof name === 'string' && name !== '' && typeof setup === 'function' && Array.isArray(requires);
}

/** Settles as `work` does, unless the time is over or the signal aborts first. */
async function bounded<T>(work: Promise<T>, name: string, clock: Clock, signal: AbortSignal): Promise<T> {
  let release = (): void => undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    const message = `plugin "${name}" was not imported within ${IMPORT_TIMEOUT_MS / 1000} s: an "await" at the top level of its code does not end`;
    const cancel = clock.after(IMPORT_TIMEOUT_MS, () => reject(new OryxError('ORYX_PLUGIN_FAILED', message)));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    release = () => {
      cancel();
      signal.removeEventListener('abort', onAbort);
    };
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    release();
  }
}

/** " (lib/tool.js:12)" for an error of the plugin's own code, else "". */
function placeIn(error: unknown, directory: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const start = stack.indexOf(`${pathToFileURL(directory).href}/`);
  if (start < 0) return '';
  const [, file, line] = /^([^?:\s]+)(?:\?gen=[\w-]+)?:(\d+)/.exec(stack.slice(start + pathToFileURL(directory).href.length + 1)) ?? [];
  return file === undefined ? '' : ` (${decodeURIComponent(file)}:${line})`;
}

/** Where the package is installed. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the package, found from the sources as well as from the built files. */
export const packageRoot: string = nearestPackage(dirname(fileURLToPath(import.meta.url)));

/** What a new workspace is copied from. */
export const templateRoot: string = join(packageRoot, 'workspace-template');

/** The version in package.json. */
export const packageVersion: string = (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;

/** What third-party plugins import, by name: this very host. */
export const hostModules: Readonly<Record<string, string>> = {
  oryxos: hostModule('kernel/index'),
  'oryxos/http': hostModule('plugins/http/contract'),
  'oryxos/outside': hostModule('plugins/outside/public'),
  'oryxos/testing': hostModule('test/harness/index'),
};

/** The URL of a module in the same form, source or built, as this one. */
function hostModule(name: string): string {
  return new URL(`../${name}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url).href;
}

function nearestPackage(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory;
  const parent = dirname(directory);
  if (parent === directory) throw new Error('the package.json of oryxos is missing');
  return nearestPackage(parent);
}

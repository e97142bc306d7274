/** `oryxos` as other packages see it, from the built output as well as from the sources. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';

/** Whether the tests run from the built output. */
export const isBuilt: boolean = import.meta.url.endsWith('.js');

/** Arguments of node for a process that imports `oryxos` from below a directory where it was installed. */
export const nodeArguments: readonly string[] = isBuilt ? [] : ['--import', join(packageRoot, 'node_modules/tsx/dist/esm/index.mjs')];

/** Puts `oryxos` into the node_modules of a directory. */
export async function installOryxos(directory: string): Promise<void> {
  const target = join(directory, 'node_modules/oryxos');
  await mkdir(join(directory, 'node_modules'), { recursive: true });
  if (isBuilt) return symlink(packageRoot, target);
  await mkdir(target);
  for (const folder of ['kernel', 'plugins', 'test']) await symlink(join(packageRoot, folder), join(target, folder));
  const exports = { '.': './kernel/index.ts', './http': './plugins/http/contract.ts', './testing': './test/harness/index.ts' };
  await writeFile(join(target, 'package.json'), JSON.stringify({ name: 'oryxos', type: 'module', exports }));
}

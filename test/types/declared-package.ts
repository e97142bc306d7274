/** The declarations of the package, as they are published. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../config/package-root.ts';

let made: Promise<string> | undefined;

/** A directory with package.json and, in `dist`, declarations that fit the sources. Tests of the sources make them once; it goes with the process. */
export function declaredPackage(): Promise<string> {
  if (import.meta.url.endsWith('.js')) return Promise.resolve(packageRoot);
  return (made ??= declare());
}

async function declare(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'oryxos-declared-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  await mkdir(join(directory, 'dist'));
  await copyFile(join(packageRoot, 'package.json'), join(directory, 'package.json'));
  await symlink(join(packageRoot, 'node_modules'), join(directory, 'node_modules'));
  const args = ['-p', packageRoot, '--emitDeclarationOnly', '--outDir', join(directory, 'dist')];
  // An error in the sources is told by the build; the declarations are written all the same.
  await promisify(execFile)(join(packageRoot, 'node_modules/.bin/tsc'), args).catch(() => undefined);
  return directory;
}

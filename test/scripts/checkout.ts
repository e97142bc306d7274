/** A small checkout in a temporary directory, and the project's scripts to try on it. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Tests run in the project's directory. */
export const project = resolve('.');

/** A module of `scripts/lib`; the scripts are plain JavaScript, so the test says what it expects of them. */
export async function script<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(join(project, 'scripts', 'lib', name)).href)) as T;
}

export interface Checkout extends AsyncDisposable {
  readonly root: string;
  write(path: string, text: string): Promise<void>;
}

/** A package without dependencies, with one source and the project's compiler. */
export async function openCheckout(): Promise<Checkout> {
  const root = await mkdtemp(join(tmpdir(), 'oryxos-checkout-'));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await write('package.json', JSON.stringify({ name: 'sample', version: '1.0.0', type: 'module', engines: { node: '>=20.19' } }));
  await write('package-lock.json', JSON.stringify({ name: 'sample', lockfileVersion: 3, packages: { '': { name: 'sample' } } }));
  await write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: { rootDir: '.', outDir: 'dist', strict: true, types: [] }, include: ['config', 'test'] }),
  );
  await write('config/bin.ts', 'export const answer: number = 42;\n');
  await write('test/a.ts', 'export const a = 1;\n');
  await mkdir(join(root, 'node_modules', '.bin'), { recursive: true });
  await symlink(join(project, 'node_modules', '.bin', 'tsc'), join(root, 'node_modules', '.bin', 'tsc'));
  return { root, write, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

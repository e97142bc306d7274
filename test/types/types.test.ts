import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../config/package-root.ts';
import { declaredPackage } from './declared-package.ts';

const run = promisify(execFile);
const tsc = join(packageRoot, 'node_modules/.bin/tsc');

/** What a plugin offers to others: a service and an extension point of its own. */
const AUGMENTATION = `import { definePlugin } from 'oryxos';
declare module 'oryxos' {
  interface Services { greeter: { greet(who: string): string } }
  interface Extensions { greeting: { readonly name: string; readonly text: string } }
}
export default definePlugin({
  name: 'greeter',
  setup(ctx) {
    ctx.provide('greeter', { greet: (who) => ctx.registry('greeting').list().map(({ text }) => text + who).join(' ') });
    // @ts-expect-error the service is something else
    ctx.provide('greeter', { greet: 1 });
  },
});
export const user = definePlugin({
  name: 'user',
  requires: ['greeter', 'store'],
  setup(ctx) {
    ctx.services.greeter.greet('you') satisfies string;
    ctx.register('greeting', { name: 'hello', text: 'Hello, ' });
    // @ts-expect-error a greeting has a text
    ctx.register('greeting', { name: 'hello' });
  },
});
`;

/** Other services are there once their types are asked for. */
const WITHOUT_HTTP = `import { definePlugin } from 'oryxos';
// @ts-expect-error the service http comes with oryxos/http
export default definePlugin({ name: 'x', requires: ['http'], setup: () => undefined });
// @ts-expect-error the service outside comes with oryxos/outside
export const other = definePlugin({ name: 'y', requires: ['outside'], setup: () => undefined });
`;

/** A directory outside of the package in which \`oryxos\` is installed as npm would. */
async function projectWith(files: Readonly<Record<string, string>>, options: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'oryxos-types-'));
  await mkdir(join(directory, 'node_modules'));
  await symlink(await declaredPackage(), join(directory, 'node_modules/oryxos'));
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(packageRoot, 'node_modules/@types')],
    ...options,
  };
  const all = {
    'package.json': '{"type": "module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: Object.keys(files) }),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) await writeFile(join(directory, name), text);
  return directory;
}

/** What the compiler says; "" for nothing. */
async function messages(directory: string): Promise<string> {
  try {
    return await run(tsc, ['-p', directory, '--pretty', 'false']).then(
      () => '',
      (error: { readonly stdout: string }) => error.stdout,
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe('the types of the public surface', function () {
  this.timeout(120_000);

  it('compile from outside what authors and their tests write, and refuse what is wrong', async () => {
    const read = (name: string): Promise<string> => readFile(join(packageRoot, 'test/types', name), 'utf8');
    const files = { 'plugins.ts': await read('plugins.ts'), 'tests.ts': await read('tests.ts') };
    expect(await messages(await projectWith(files))).to.equal('');
  });

  it('can be extended with services and extension points through the module oryxos', async () => {
    expect(await messages(await projectWith({ 'augmentation.ts': AUGMENTATION }))).to.equal('');
  });

  it('know the services of a feature once its types are imported', async () => {
    expect(await messages(await projectWith({ 'without.ts': WITHOUT_HTTP }))).to.equal('');
  });

  it('type the example plugin, which is JavaScript', async () => {
    const directory = await projectWith({}, { checkJs: true, allowJs: true });
    await cp(join(packageRoot, 'examples/oryxos-plugin-hello'), join(directory, 'hello'), { recursive: true });
    const config = JSON.parse(await readFile(join(directory, 'tsconfig.json'), 'utf8')) as object;
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ ...config, files: undefined, include: ['hello/**/*.js'] }));
    expect(await messages(directory)).to.equal('');
  });
});

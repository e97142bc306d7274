import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openCheckout, script } from './checkout.ts';

type Key = Readonly<Record<'lock' | 'abi' | 'platform' | 'node', string>>;
interface InstallModule {
  readonly installKey: (root: string, versions?: { readonly modules: string; readonly node: string }) => Key;
  readonly needsInstall: (root: string, key?: Key) => string;
}
interface BuildModule {
  readonly needsBuild: (root: string) => boolean;
  readonly sourcesOf: (root: string) => readonly string[];
}
interface SetupModule {
  readonly setup: (options: { readonly root: string; readonly print: (line: string) => void; readonly builds?: boolean }) => Promise<void>;
}

const { installKey, needsInstall } = await script<InstallModule>('install.mjs');
const { needsBuild, sourcesOf } = await script<BuildModule>('build.mjs');
const { setup } = await script<SetupModule>('setup.mjs');
const { installProblem } = await script<{ readonly installProblem: (output: string) => string }>('install-problem.mjs');
const { nodeProblem } = await script<{ readonly nodeProblem: (version: string, range: string) => string | undefined }>('node-version.mjs');

const silent = (): void => {};
const failure = async (work: Promise<unknown>): Promise<Error & { readonly details?: string }> => {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error('did not fail');
};

describe('the set-up: Node', () => {
  it('accepts the Node that package.json asks for, and newer ones', () => {
    for (const version of ['20.19.0', '20.20.2', '22.1.0', '26.0.0']) expect(nodeProblem(version, '>=20.19'), version).to.equal(undefined);
  });

  it('turns an older one away with both versions and a way out', () => {
    for (const version of ['20.18.3', '18.20.0', '9.0.0']) {
      expect(nodeProblem(version, '>=20.19')).to.contain('20.19').and.to.contain(version).and.to.contain('nodejs.org');
    }
  });
});

describe('the set-up: packages', () => {
  it('takes packages that npm has installed by hand as they are', async () => {
    await using checkout = await openCheckout();
    await checkout.write(
      'package-lock.json',
      JSON.stringify({
        packages: { '': {}, 'node_modules/x': { version: '1.0.0' }, 'node_modules/mac': { version: '1.0.0', optional: true } },
      }),
    );
    await checkout.write('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/x': { version: '1.0.0' } } }));
    expect(needsInstall(checkout.root)).to.equal('install');
    const printed: string[] = [];
    await setup({ root: checkout.root, print: (line) => printed.push(line), builds: false });
    expect(needsInstall(checkout.root)).to.equal('nothing');
    expect(printed).to.deep.equal([]);
  });

  it('installs again when the lockfile has changed, and only rebuilds for another Node', async () => {
    await using checkout = await openCheckout();
    await checkout.write('node_modules/.package-lock.json', JSON.stringify({ packages: {} }));
    await setup({ root: checkout.root, print: silent, builds: false });
    expect(needsInstall(checkout.root, installKey(checkout.root, { modules: '999', node: '99.0.0' }))).to.equal('rebuild');
    await checkout.write('package-lock.json', JSON.stringify({ packages: { 'node_modules/y': { version: '1.0.0' } } }));
    expect(needsInstall(checkout.root)).to.equal('install');
  });

  it('runs npm when a package is missing or has another version, and reports what npm said', async () => {
    await using checkout = await openCheckout();
    await checkout.write('package-lock.json', JSON.stringify({ packages: { 'node_modules/x': { version: '2.0.0' } } }));
    await checkout.write('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/x': { version: '1.0.0' } } }));
    const npm = join(checkout.root, 'npm-cli.js');
    const runningNpm = process.env['npm_execpath'];
    process.env['npm_execpath'] = npm;
    try {
      await checkout.write('npm-cli.js', "console.log('npm error code EACCES', process.argv[2]); process.exit(243);\n");
      const printed: string[] = [];
      const print = (line: string): void => void printed.push(line);
      const error = await failure(setup({ root: checkout.root, print, builds: false }));
      expect(error.message).to.contain('npm may not write here');
      expect(error.details).to.equal('npm error code EACCES ci\n');
      expect(printed[0]).to.contain('about 90 s, once');
      expect(needsInstall(checkout.root)).to.equal('install');

      await checkout.write('npm-cli.js', '');
      await setup({ root: checkout.root, print, builds: false });
      expect(needsInstall(checkout.root)).to.equal('nothing');
    } finally {
      if (runningNpm === undefined) delete process.env['npm_execpath'];
      else process.env['npm_execpath'] = runningNpm;
    }
  });

  it('installs when the stamp is damaged or the packages are gone', async () => {
    await using checkout = await openCheckout();
    await checkout.write('node_modules/.oryxos-setup.json', '{"lock":');
    expect(needsInstall(checkout.root)).to.equal('install');
    await rm(join(checkout.root, 'node_modules'), { recursive: true });
    expect(needsInstall(checkout.root)).to.equal('install');
  });

  it('says what a failed install means and what to do', () => {
    expect(installProblem('npm error code ENOTFOUND\nnpm error network request to https://registry failed'))
      .to.contain('registry')
      .and.to.contain('proxy');
    expect(installProblem('gyp ERR! stack Error: not found: make\ngyp ERR! build error'))
      .to.contain('build-essential')
      .and.to.contain('xcode-select');
    expect(installProblem('gyp ERR! find Python\ngyp ERR! configure error')).to.contain('Python 3');
    expect(installProblem('gyp ERR! stack FetchError: getaddrinfo ENOTFOUND nodejs.org')).to.contain('headers of Node.js');
    expect(
      installProblem('npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync'),
    ).to.contain('npm install');
    const noBinary = 'prebuild-install warn install getaddrinfo ENOTFOUND github.com\n';
    expect(
      installProblem(`${noBinary}gyp ERR! stack Error: Could not find any Python installation to use\ngyp ERR! find Python`),
    ).to.contain('Python 3');
    expect(installProblem(`${noBinary}gyp ERR! build error\ngyp ERR! stack Error: make failed with exit code: 2`)).to.contain(
      'could not be compiled',
    );
    expect(installProblem('ENOSPC: no space left on device')).to.contain('disk is full');
    expect(installProblem('EACCES: permission denied')).to.contain('may not write');
    expect(installProblem('???')).to.equal('npm could not install the packages.');
  });
});

describe('the set-up: build', () => {
  const opened = async (): ReturnType<typeof openCheckout> => {
    const checkout = await openCheckout();
    await checkout.write('node_modules/.package-lock.json', JSON.stringify({ packages: {} }));
    return checkout;
  };

  it('builds once, does nothing while nothing changes, and builds again after a change', async () => {
    await using checkout = await opened();
    const printed: string[] = [];
    const print = (line: string): void => void printed.push(line);
    await setup({ root: checkout.root, print });
    expect(printed[0]).to.equal('Building.');
    const entry = join(checkout.root, 'dist', 'config', 'bin.js');
    expect((await stat(entry)).mode & 0o111, 'executable').to.not.equal(0);

    printed.length = 0;
    await setup({ root: checkout.root, print });
    expect(printed).to.deep.equal([]);

    await checkout.write('config/bin.ts', 'export const answer: number = 43;\n');
    expect(needsBuild(checkout.root)).to.equal(true);
    await setup({ root: checkout.root, print });
    expect(await readFile(entry, 'utf8')).to.contain('43');
  });

  it('removes the output of a source that is no more', async () => {
    await using checkout = await opened();
    await setup({ root: checkout.root, print: silent });
    const output = join(checkout.root, 'dist', 'test', 'a.js');
    expect(existsSync(output)).to.equal(true);
    await rm(join(checkout.root, 'test', 'a.ts'));
    await setup({ root: checkout.root, print: silent });
    expect(existsSync(output)).to.equal(false);
    expect(sourcesOf(checkout.root)).to.deep.equal(['config/bin.ts']);
  });

  it('fails with the messages of the compiler, leaves the last build alone, and is not done', async () => {
    await using checkout = await opened();
    await setup({ root: checkout.root, print: silent });
    await checkout.write('config/bin.ts', "export const answer: number = 'x';\n");
    const error = await failure(setup({ root: checkout.root, print: silent }));
    expect(error.message).to.equal('The sources do not compile.');
    expect(error.details).to.contain('config/bin.ts');
    expect(await readFile(join(checkout.root, 'dist', 'config', 'bin.js'), 'utf8')).to.contain('42');
    expect(needsBuild(checkout.root)).to.equal(true);
  });

  it('lets two at once end well, with one build', async () => {
    await using checkout = await opened();
    const printed: string[] = [];
    const print = (line: string): void => void printed.push(line);
    await Promise.all([setup({ root: checkout.root, print }), setup({ root: checkout.root, print })]);
    expect(printed.filter((line) => line === 'Building.')).to.have.length(1);
    expect(printed.some((line) => line.includes('waiting for it'))).to.equal(true);
    expect(existsSync(join(checkout.root, 'dist', '.setup.lock'))).to.equal(false);
  });
});

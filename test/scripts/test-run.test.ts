import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openCheckout, project, script } from './checkout.ts';

interface TestRunModule {
  readonly mochaArguments: (root: string, args: readonly string[]) => readonly string[];
  readonly testEnvironment: (env: Readonly<Record<string, string>>, scratch: string) => Readonly<Record<string, string | undefined>>;
  readonly summaryLine: (
    stats: { readonly passes: number; readonly failures: number; readonly pending: number } | undefined,
    code: number,
  ) => { readonly lines: readonly string[]; readonly exitCode: number };
}
const { mochaArguments, summaryLine, testEnvironment } = await script<TestRunModule>('test-run.mjs');

describe('npm test', () => {
  it('runs every built test but the slow ones, and only those with --slow', () => {
    const all = mochaArguments('/p', []);
    expect(all).to.include('dist/test/**/*.test.js').and.to.include('--forbid-only');
    expect(all[all.indexOf('--ignore') + 1]).to.equal('dist/test/slow/**/*.test.js');
    expect(mochaArguments('/p', ['--slow']))
      .to.include('dist/test/slow/**/*.test.js')
      .and.to.not.include('--ignore');
  });

  it('takes the source of a test for its built file', () => {
    const some = mochaArguments('/p', ['test/kernel/scope.test.ts', '--grep', 'closes']);
    expect(some).to.include('dist/test/kernel/scope.test.js').and.to.include('closes').and.to.not.include('dist/test/**/*.test.js');
  });

  it('keeps the settings of a server that runs away from the tests', () => {
    const env = testEnvironment({ PATH: '/bin', ORYXOS_ROOT: '/home/me/.oryxos', SERVER_PORT: '8080' }, '/tmp/x');
    expect(env).to.deep.equal({ PATH: '/bin', TMPDIR: '/tmp/x' });
  });

  it('ends with the numbers, and fails when anything failed', () => {
    expect(summaryLine({ passes: 3, failures: 0, pending: 0 }, 0)).to.deep.equal({ lines: ['3 passed, 0 failed'], exitCode: 0 });
    expect(summaryLine({ passes: 3, failures: 2, pending: 1 }, 2)).to.deep.equal({
      lines: ['1 skipped', '3 passed, 2 failed'],
      exitCode: 2,
    });
    expect(summaryLine({ passes: 3, failures: 2, pending: 0 }, 0).exitCode).to.equal(1);
  });

  it('counts a run that broke outside the tests as one failure', () => {
    expect(summaryLine(undefined, 1).lines.at(-1)).to.equal('0 passed, 1 failed');
    expect(summaryLine({ passes: 3, failures: 0, pending: 0 }, 7)).to.deep.include({ exitCode: 7 });
    expect(summaryLine({ passes: 3, failures: 0, pending: 0 }, 7).lines.at(-1)).to.equal('3 passed, 1 failed');
  });
});

describe('.ci/run', () => {
  const ci = async (testCommand: string): Promise<{ readonly code: number; readonly last: string | undefined }> => {
    await using checkout = await openCheckout();
    await checkout.write('package.json', JSON.stringify({ name: 'sample', scripts: { test: testCommand } }));
    await mkdir(join(checkout.root, '.ci'));
    await copyFile(join(project, '.ci', 'run'), join(checkout.root, '.ci', 'run'));
    await chmod(join(checkout.root, '.ci', 'run'), 0o755);
    return await new Promise((resolve) => {
      const child = execFile(join(checkout.root, '.ci', 'run'), { cwd: '/' }, (_error, stdout) =>
        resolve({ code: child.exitCode ?? -1, last: stdout.trimEnd().split('\n').at(-1) }),
      );
    });
  };

  it('repeats the numbers as its last line and keeps the exit code', async () => {
    expect(await ci('echo "4 passed, 0 failed"')).to.deep.equal({ code: 0, last: '4 passed, 0 failed' });
    const failed = await ci('echo "4 passed, 2 failed"; exit 3');
    expect(failed.last).to.equal('4 passed, 2 failed');
    expect(failed.code).to.not.equal(0);
  });

  it('says that something failed when there are no numbers', async () => {
    const broken = await ci('exit 1');
    expect(broken.last).to.equal('0 passed, 1 failed');
    expect(broken.code).to.not.equal(0);
  });
});

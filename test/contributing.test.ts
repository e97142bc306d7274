/** Follows the recipes of CONTRIBUTING.md as they stand there. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../config/package-root.ts';

const run = promisify(execFile);
/** What a build needs, and the rules that what is added must keep. */
const PARTS = [
  'kernel',
  'plugins',
  'adapters',
  'config',
  'workspace-template',
  'test/harness',
  'test/contract',
  'test/architecture.test.ts',
  'tsconfig.json',
  'package.json',
];

/** A block of code, and the file that the text before it names. */
interface Block {
  readonly kind: string;
  readonly file: string;
  readonly text: string;
}

/** Recipes by their title. */
async function recipes(): Promise<ReadonlyMap<string, readonly Block[]>> {
  const page = await readFile(join(packageRoot, 'CONTRIBUTING.md'), 'utf8');
  const sections = page.split(/^## Recipe: /m).slice(1);
  return new Map(sections.map((section) => [section.split('\n', 1)[0] ?? '', blocksOf(section)]));
}

function blocksOf(section: string): readonly Block[] {
  let file = '';
  return section.split('```').flatMap((part, index) => {
    if (index % 2 === 1) return [{ kind: part.split('\n', 1)[0] ?? '', file, text: part.slice(part.indexOf('\n') + 1) }];
    file = /`([\w./-]+\.ts)`:\s*$/.exec(part)?.[1] ?? file;
    return [];
  });
}

/** A copy of the sources, with the packages of the original. */
async function copyOfSources(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'oryxos-recipe-'));
  for (const part of PARTS) await cp(join(packageRoot, part), join(directory, part), { recursive: true });
  await symlink(join(packageRoot, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

/** Does what a block says; the result takes it back. */
async function apply(directory: string, { kind, file, text }: Block): Promise<() => Promise<void>> {
  const path = join(directory, file);
  if (kind === 'ts') {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
    return () => rm(path);
  }
  const lines = text.trimEnd().split('\n');
  const side = (mark: string): string =>
    lines
      .filter((line) => line.startsWith(' ') || line.startsWith(mark))
      .map((line) => `\n${line.slice(1)}`)
      .join('');
  const [before, after] = [side('-'), side('+')];
  const source = `\n${await readFile(path, 'utf8')}`;
  expect(source.split(`${before}\n`), `places in ${file} that look like\n${before}`).to.have.length(2);
  await writeFile(path, source.replace(`${before}\n`, () => `${after}\n`).slice(1));
  return async () => {
    const changed = `\n${await readFile(path, 'utf8')}`;
    await writeFile(path, changed.replace(`${after}\n`, () => `${before}\n`).slice(1));
  };
}

/** What a command for the built output is: the test that it names. */
function testOf({ text }: Block): string {
  const [, test = ''] = /^npm test -- (test\/\S+)\.ts$/m.exec(text) ?? [];
  expect(test, 'the command of the recipe').not.to.equal('');
  return `dist/${test}.js`;
}

describe('a recipe of CONTRIBUTING.md', function () {
  this.timeout(300_000);

  for (const title of ['a tool', 'a notify adapter', 'a REST route', 'a table']) {
    it(`(${title}) builds, keeps the rules of the house, works, and leaves without a trace`, async () => {
      const blocks = (await recipes()).get(title) ?? [];
      const changes = blocks.filter(({ kind }) => kind !== 'sh');
      const directory = await copyOfSources();
      try {
        const undo: (() => Promise<void>)[] = [];
        for (const block of changes) undo.unshift(await apply(directory, block));
        const built = await run(join(directory, 'node_modules/.bin/tsc'), ['-p', directory, '--pretty', 'false']).catch(
          (error: { stdout: string }) => error,
        );
        expect(built.stdout).to.equal('');
        const tests = blocks.filter(({ kind }) => kind === 'sh').map(testOf);
        expect(tests).to.have.length(1);
        const mocha = [
          'node_modules/mocha/bin/mocha.js',
          '--timeout',
          '30000',
          '--reporter',
          'dot',
          ...tests,
          'dist/test/architecture.test.js',
        ];
        const ran = await run(process.execPath, mocha, { cwd: directory }).catch((error: { stdout: string }) => error);
        expect(ran.stdout)
          .to.match(/\d+ passing/)
          .and.not.include('failing');
        for (const each of undo) await each();
        for (const { kind, file } of changes)
          if (kind === 'diff')
            expect(await readFile(join(directory, file), 'utf8')).to.equal(await readFile(join(packageRoot, file), 'utf8'));
      } finally {
        await rm(directory, { recursive: true });
      }
    });
  }

  it('is run here, whichever there is', async () => {
    expect([...(await recipes()).keys()]).to.deep.equal(['a tool', 'a notify adapter', 'a REST route', 'a table']);
  });
});

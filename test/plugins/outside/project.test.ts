import { expect } from 'chai';
import * as fc from 'fast-check';
import { closeSync, constants, lstatSync, openSync, readlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProjectionProblem, project } from '../../../plugins/outside/project.ts';
import { bench, rejection } from './bench.ts';

describe('where a path really leads', () => {
  it('starts relative paths at the base and leaves absolute ones alone', async () => {
    await using b = await bench();
    expect(await project('ok.txt', b.allowed)).to.deep.equal({ real: join(b.allowed, 'ok.txt'), missing: [] });
    expect((await project('.', b.allowed)).real).to.equal(b.allowed);
    expect((await project(join(b.outside, 'secret.txt'), b.allowed)).real).to.equal(join(b.outside, 'secret.txt'));
    expect((await project('/', b.allowed)).real).to.equal('/');
  });

  it('follows links, in the middle and at the end', async () => {
    await using b = await bench();
    await b.link(b.outside, join(b.allowed, 'd'));
    await b.link('d/secret.txt', join(b.allowed, 'f'));
    expect((await project('d/secret.txt', b.allowed)).real).to.equal(join(b.outside, 'secret.txt'));
    expect((await project('f', b.allowed)).real).to.equal(join(b.outside, 'secret.txt'));
    expect(await project('d/new/deep.txt', b.allowed)).to.deep.equal({
      real: join(b.outside, 'new/deep.txt'),
      missing: ['new', 'deep.txt'],
    });
  });

  it('takes ".." after a link for the parent of its target, as the kernel does', async () => {
    await using b = await bench();
    await mkdir(join(b.top, 'skills/s'), { recursive: true });
    await b.link('../../../skills/s', join(b.home, 's'));
    expect((await project('s/../../f', b.home)).real).to.equal(join(b.top, 'f'));
    expect((await project('s/../../../../f', b.home)).real).to.not.match(new RegExp(`^${b.allowed}`));
  });

  it('appends what does not exist, and takes ".." in it by name', async () => {
    await using b = await bench();
    expect(await project('a/../b/./c', b.allowed)).to.deep.equal({ real: join(b.allowed, 'b/c'), missing: ['b', 'c'] });
    expect((await project('new/../../outside/secret.txt', b.allowed)).real).to.equal(join(b.outside, 'secret.txt'));
    expect((await project('ok.txt/x', b.allowed)).real).to.equal(join(b.allowed, 'ok.txt/x'));
    expect((await project(`${'n'.repeat(300)}/x`, b.allowed)).missing).to.have.length(2);
  });

  it('resolves links that come after a missing part', async () => {
    await using b = await bench();
    await b.link(b.outside, join(b.allowed, 'd'));
    expect((await project('new/../d/secret.txt', b.allowed)).real).to.equal(join(b.outside, 'secret.txt'));
  });

  it('decodes, expands and folds nothing', async () => {
    await using b = await bench();
    for (const name of ['%2e%2e', '~', '．．∕．．', '..\\..', 'cafe\u0301', 'caf\u00e9', '$HOME', 'a ']) {
      expect((await project(`${name}/x`, b.allowed)).real).to.equal(`${b.allowed}/${name}/x`);
    }
  });

  const problems: readonly (readonly [string, string, RegExp])[] = [
    ['an empty path', '', /is empty/],
    ['a NUL character', 'ok.txt\0/../../etc/passwd', /NUL/],
    ['a path that is too long', 'a/'.repeat(3000), /too long/],
    ['a dangling link', 'dangling', /dangling/],
    ['a path below a dangling link', 'dangling/x', /dangling/],
    ['a dangling link behind a missing part', 'new/../dangling', /dangling/],
    ['a loop of links', 'loop', /loop/],
    ['a path below a loop of links', 'loop/x', /loop/],
  ];
  for (const [what, path, message] of problems) {
    it(`gives up on ${what}`, async () => {
      await using b = await bench();
      await b.link(join(b.outside, 'created.txt'), join(b.allowed, 'dangling'));
      await b.link('loop2', join(b.allowed, 'loop'));
      await b.link('loop', join(b.allowed, 'loop2'));
      const error = await rejection(project(path, b.allowed));
      expect(error).to.be.instanceOf(ProjectionProblem);
      expect(error.message).to.match(message);
    });
  }

  it('agrees with the kernel about every path that can be opened', async function () {
    this.timeout(20_000);
    await using b = await bench();
    const names = ['a', 'b', 'l', 'm', 'f'] as const;
    await mkdir(join(b.allowed, 'a/b'), { recursive: true });
    await mkdir(join(b.allowed, 'b/a'), { recursive: true });
    for (const directory of ['', 'a', 'a/b', 'b', 'b/a']) await writeFile(join(b.allowed, directory, 'f'), directory);
    await b.link('a/b', join(b.allowed, 'l'));
    await b.link('../..', join(b.allowed, 'a/b/l'));
    await b.link('/', join(b.allowed, 'm'));
    await b.link(`..${b.allowed}/b`, join(b.allowed, 'b/m'));
    await b.link('../l/../../b', join(b.allowed, 'a/m'));
    const path = fc.array(fc.constantFrom(...names, '..', '.', ''), { minLength: 1, maxLength: 8 }).map((parts) => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(path, async (given) => {
        const truth = openedAt(`${b.allowed}/${given}`);
        if (truth === undefined) return;
        expect(await project(`${b.allowed}/${given}`, '/')).to.deep.equal({ real: truth, missing: [] });
      }),
      { numRuns: 500 },
    );
  });
});

/** What the kernel says about a path: where the descriptor is that it opens. */
function openedAt(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  let fd: number;
  try {
    lstatSync(path);
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

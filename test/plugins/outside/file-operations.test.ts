import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { FileProblem } from '../../../plugins/outside/contract.ts';
import { SECRET, bench, rejection } from './bench.ts';
import type { Bench } from './bench.ts';

describe('operations on files for tools', () => {
  it('tell what is at a path, or that nothing is', async () => {
    await using b = await bench();
    await symlink('../../ok.txt', join(b.home, 'in'));
    execFileSync('mkfifo', [join(b.home, 'p')]);
    const kinds = await Promise.all(['in', '.', 'p', 'none', 'none/x'].map((path) => b.files.stat(path, b.run())));
    expect(kinds.map((found) => found?.kind)).to.deep.equal(['file', 'directory', 'other', undefined, undefined]);
    expect(kinds[0]?.size).to.equal(2);
    expect((await rejection(b.files.stat(b.outside, b.run()))).code).to.equal('ORYX_REFUSED');
  });

  it('claim both ends of a move as written, and of a copy one as read', async () => {
    await using b = await bench();
    await b.files.copy('../../ok.txt', 'c', b.run());
    await b.files.move('c', 'd', b.run());
    await b.files.remove('d', b.run());
    await b.files.append('e', Buffer.from('e'), b.run());
    await b.files.update('e', b.run(), { maxBytes: 9 }, () => Buffer.from('f'));
    const at = (name: string): string => join(b.home, name);
    expect(b.claims.map(({ value, access }) => [access, value])).to.deep.equal([
      ['read', join(b.allowed, 'ok.txt')],
      ['write', at('c')],
      ['write', at('c')],
      ['write', at('d')],
      ['write', at('d')],
      ['write', at('e')],
      ['read', at('e')],
      ['write', at('e')],
    ]);
  });

  it('remove and move a link itself, and follow links in the directories above', async () => {
    await using b = await bench();
    await symlink(join(b.outside, 'secret.txt'), join(b.home, 'out'));
    await symlink('../..', join(b.home, 'up'));
    await b.files.move('out', 'up/moved', b.run());
    await b.files.remove('up/moved', b.run());
    expect(await readdir(b.home)).to.deep.equal(['up']);
    expect(await readFile(join(b.outside, 'secret.txt'), 'utf8')).to.equal(SECRET);
  });

  it('add nothing to a file that has another name, whose other name would change too', async () => {
    await using b = await bench();
    await b.hardlink(join(b.outside, 'secret.txt'), join(b.home, 'hl'));
    const error = await rejection(b.files.append('hl', Buffer.from('PWN'), b.run()));
    expect(error).to.include({ blockedBy: 'sandbox' });
    expect(error.message).to.include('file.allow_hardlinks');
    expect(await readFile(join(b.outside, 'secret.txt'), 'utf8')).to.equal(SECRET);
  });

  it('make one file when many make it at once', async () => {
    await using b = await bench();
    for (let round = 0; round < 60; round += 1) {
      const add = async (n: number): Promise<void> => {
        // Each a little later, so that one looks while another makes the file.
        for (let turn = 0; turn < n * (round % 6); turn += 1) await setImmediate();
        await b.files.append(`new${round}`, Buffer.from(`${n}`), b.run());
      };
      await Promise.all(Array.from({ length: 8 }, (_, n) => add(n)));
      const text = await readFile(join(b.home, `new${round}`), 'utf8');
      expect(text.split('').sort().join('')).to.equal('01234567');
    }
  });

  it('write one call of append as one piece, so that fifty at once make fifty lines', async () => {
    await using b = await bench();
    const lines = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(3_000, '.'));
    await Promise.all(lines.map((line) => b.files.append('log', Buffer.from(`${line}\n`), b.run())));
    const written = (await readFile(join(b.home, 'log'), 'utf8')).trimEnd().split('\n');
    expect(written.sort()).to.deep.equal(lines.sort());
  });

  describe('update', () => {
    const plus = (text: string) => (old: Uint8Array) => Buffer.concat([old, Buffer.from(text)]);

    it('asks again when somebody else has replaced or changed the file meanwhile', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'f'), 'one');
      const seen: string[] = [];
      await b.files.update('f', b.run(), { maxBytes: 99 }, (old) => {
        seen.push(Buffer.from(old).toString());
        if (seen.length === 1) execFileSync('sh', ['-c', 'printf other > f.new && mv f.new f'], { cwd: b.home });
        if (seen.length === 2) execFileSync('sh', ['-c', 'printf " more" >> f'], { cwd: b.home });
        return Buffer.from(`<${Buffer.from(old).toString()}>`);
      });
      expect(seen).to.deep.equal(['one', 'other', 'other more']);
      expect(await readFile(join(b.home, 'f'), 'utf8')).to.equal('<other more>');
    });

    it('gives up when the file never rests, and leaves no temporary file', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'f'), '');
      const error = await rejection(
        b.files.update('f', b.run(), { maxBytes: 99 }, () => {
          execFileSync('sh', ['-c', 'printf x >> f'], { cwd: b.home });
          return Buffer.from('mine');
        }),
      );
      expect(error.message).to.equal('Changed while it was being opened, try again: f');
      expect(await readFile(join(b.home, 'f'), 'utf8')).to.equal('xxx');
      expect(await readdir(b.home)).to.deep.equal(['f']);
    });

    it('keeps the file when the change throws or is too large, and its permissions when it is made', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'f'), 'old');
      await chmod(join(b.home, 'f'), 0o640);
      const problem = new FileProblem('no');
      const throwing = (): Uint8Array => {
        throw problem;
      };
      expect(await rejection(b.files.update('f', b.run(), { maxBytes: 99 }, throwing))).to.equal(problem);
      expect((await rejection(b.files.update('f', b.run(), { maxBytes: 2 }, plus('x')))).message).to.match(/^File too large/);
      const huge = (): Uint8Array => new Uint8Array(5 * 1024 * 1024 + 1);
      expect((await rejection(b.files.update('f', b.run(), { maxBytes: 99 }, huge))).message).to.match(/^Content too large/);
      expect(await readFile(join(b.home, 'f'), 'utf8')).to.equal('old');
      await b.files.update('f', b.run(), { maxBytes: 99 }, plus('er'));
      expect(await readFile(join(b.home, 'f'), 'utf8')).to.equal('older');
      expect((await stat(join(b.home, 'f'))).mode & 0o777).to.equal(0o640);
    });
  });

  describe('writing in pieces', () => {
    async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
      for (const text of texts) yield Buffer.from(text);
    }
    const write = (b: Bench, content: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> =>
      b.files.writePieces('sub/f', content, b.run(signal), { maxBytes: 6 });

    it('puts the whole in place at once and tells its size', async () => {
      await using b = await bench();
      expect(await write(b, pieces('abc', 'def'))).to.equal(6);
      expect(await readFile(join(b.home, 'sub/f'), 'utf8')).to.equal('abcdef');
    });

    it('keeps the old file when there is too much, when the source fails, and when the run is aborted', async () => {
      await using b = await bench();
      await write(b, pieces('old'));
      const failure = new Error('cut off');
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('x');
        throw failure;
      }
      const abort = new AbortController();
      async function* aborting(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('x');
        abort.abort(new Error('stopped'));
        yield Buffer.from('y');
      }
      expect((await rejection(write(b, pieces('abcd', 'efg')))).message).to.equal('Content too large (more than 6 bytes): sub/f');
      expect(await rejection(write(b, failing()))).to.equal(failure);
      expect((await rejection(write(b, aborting(), abort.signal))).message).to.equal('stopped');
      expect(await readFile(join(b.home, 'sub/f'), 'utf8')).to.equal('old');
      expect(await readdir(join(b.home, 'sub'))).to.deep.equal(['f']);
    });
  });

  describe('walking', () => {
    const walk = async (b: Bench, path: string, only?: { readonly enters?: (path: string) => boolean; readonly max?: number }) => {
      const seen: string[] = [];
      const cuts = await b.files.walk(path, b.run(), {
        enters: only?.enters ?? (() => true),
        wants: () => true,
        visit: (file) => seen.push(file.path) < (only?.max ?? Number.POSITIVE_INFINITY),
      });
      return { seen, cuts };
    };

    it('visits files sorted by name, follows no link, and passes over what the guard does not permit', async () => {
      await using b = await bench();
      await mkdir(join(b.home, 'd/e'), { recursive: true });
      for (const name of ['z', 'a', 'd/x', 'd/e/y', 'no.private', 'd/a\nb']) await writeFile(join(b.home, name), name);
      await mkdir(join(b.home, 'dir.private'));
      await writeFile(join(b.home, 'dir.private/x'), SECRET);
      await symlink(b.outside, join(b.home, 'out'));
      await symlink('a', join(b.home, 'in'));
      execFileSync('mkfifo', [join(b.home, 'pipe')]);
      expect(await walk(b, '.')).to.deep.equal({ seen: ['a', 'd/a\nb', 'd/e/y', 'd/x', 'z'], cuts: [] });
      expect((await walk(b, '.', { enters: () => false })).seen).to.deep.equal(['a', 'z']);
      expect((await walk(b, '.', { max: 2 })).seen).to.deep.equal(['a', 'd/a\nb']);
      expect((await walk(b, 'd/x')).seen).to.deep.equal(['']);
    });

    it('begins nowhere outside, and at no pipe', async () => {
      await using b = await bench();
      await symlink(b.outside, join(b.home, 'out'));
      execFileSync('mkfifo', [join(b.home, 'pipe')]);
      for (const path of ['out', b.outside, b.top, '/']) expect((await rejection(walk(b, path))).code, path).to.equal('ORYX_REFUSED');
      const read = b.files.walk('pipe', b.run(), { enters: () => true, wants: () => true, visit: async (file) => !!(await file.read(9)) });
      expect((await rejection(read)).blockedBy).to.equal('sandbox');
    });

    it('goes no deeper than 64 levels and says so', async () => {
      await using b = await bench();
      await mkdir(join(b.home, Array.from({ length: 70 }, () => 'd').join('/')), { recursive: true });
      await writeFile(join(b.home, Array.from({ length: 63 }, () => 'd').join('/'), 'f'), '');
      await writeFile(join(b.home, Array.from({ length: 64 }, () => 'd').join('/'), 'f'), '');
      const { seen, cuts } = await walk(b, '.');
      expect(seen.map((path) => path.split('/').length)).to.deep.equal([64]);
      expect(cuts).to.deep.equal(['depth']);
    });

    it('ends when its time is over, and when the run is aborted', async () => {
      let now = 0;
      await using b = await bench({ clock: { now: () => 0, monotonic: () => (now += 3_000), after: () => () => undefined } });
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await writeFile(join(b.home, name), '');
      const { seen, cuts } = await walk(b, '.');
      expect(cuts).to.deep.equal(['time']);
      expect(seen.length).to.be.within(1, 5);
      const abort = new AbortController();
      const aborting = { enters: () => true, wants: () => true, visit: () => abort.abort(new Error('stopped')) === undefined };
      expect((await rejection(b.files.walk('.', b.run(abort.signal), aborting))).message).to.equal('stopped');
    });

    it('does not mind what disappears or changes its kind meanwhile', async () => {
      await using b = await bench();
      for (const name of ['a', 'b', 'c', 'd']) await mkdir(join(b.home, name));
      for (const name of ['a/f', 'b/f', 'c/f', 'd/f']) await writeFile(join(b.home, name), '');
      const seen: string[] = [];
      await b.files.walk('.', b.run(), {
        enters: () => true,
        wants: () => true,
        visit: async ({ path }) => {
          seen.push(path);
          if (seen.length > 1) return true;
          await rename(join(b.home, 'b'), join(b.outside, 'b'));
          await rename(join(b.home, 'c'), join(b.outside, 'c'));
          await symlink(join(b.outside, 'c'), join(b.home, 'c'));
          return true;
        },
      });
      expect(seen).to.deep.equal(['a/f', 'd/f']);
    });
  });
});

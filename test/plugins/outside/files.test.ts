import { expect } from 'chai';
import * as fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile, readdir, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { FileProblem } from '../../../plugins/outside/contract.ts';
import type { WalkedFile } from '../../../plugins/outside/contract.ts';
import { openDirectory } from '../../../plugins/outside/open-directory.ts';
import type { Directory, OpenDirectory } from '../../../plugins/outside/open-directory.ts';
import { SECRET, bench, rejection } from './bench.ts';

describe('files for tools', () => {
  describe('reading', () => {
    it('starts relative paths at the directory of the agent', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'notes.txt'), 'mine');
      expect(await b.text('notes.txt')).to.equal('mine');
      expect(await b.text('../../ok.txt')).to.equal('OK');
    });

    it('claims the real path of exactly what it then reads', async () => {
      await using b = await bench();
      await b.link('../../ok.txt', join(b.home, 'in'));
      await b.text('in');
      expect(b.claims.map(({ kind, value, access }) => ({ kind, value, access }))).to.deep.equal([
        { kind: 'file', value: join(b.allowed, 'ok.txt'), access: 'read' },
      ]);
    });

    it('follows a link from outside that points inside, and none that points outside', async () => {
      await using b = await bench();
      await b.link(join(b.allowed, 'ok.txt'), join(b.outside, 'toA'));
      await b.link(join(b.outside, 'secret.txt'), join(b.allowed, 'ln'));
      await b.link(b.outside, join(b.allowed, 'd'));
      expect(await b.text(join(b.outside, 'toA'))).to.equal('OK');
      for (const path of ['ln', 'd/secret.txt', '../outside/secret.txt', '../allowed/../outside/secret.txt']) {
        expect((await rejection(b.text(join(b.allowed, path)))).code, path).to.equal('ORYX_REFUSED');
      }
    });

    it('does not take a sibling with the same beginning for the directory', async () => {
      await using b = await bench();
      await mkdir(`${b.allowed}-evil`);
      await writeFile(`${b.allowed}-evil/x`, SECRET);
      expect((await rejection(b.text(`${b.allowed}-evil/x`))).code).to.equal('ORYX_REFUSED');
    });

    const failures: readonly (readonly [string, string, RegExp])[] = [
      ['a missing file', 'none.txt', /^File not found: none\.txt$/],
      ['a file below a missing directory', 'no/such/file', /^File not found: no\/such\/file$/],
      ['a directory', '.', /^Is a directory/],
      ['a path through a file', '../../ok.txt/x', /^Not a directory/],
      ['percent-encoded dots, which are names', '%2e%2e/%2e%2e/etc/passwd', /^File not found/],
      ['a name that is too long', 'n'.repeat(300), /^(File name too long|File not found)/],
      ['an empty path', '', /^The path is empty/],
    ];
    for (const [what, path, message] of failures) {
      it(`says what is wrong with ${what}`, async () => {
        await using b = await bench();
        const error = await rejection(b.text(path));
        expect(error).to.be.instanceOf(FileProblem);
        expect(error.message).to.match(message);
        expect(error.blockedBy).to.equal(undefined);
      });
    }

    it('shows control characters of a path as escapes', async () => {
      await using b = await bench();
      const error = await rejection(b.text('a\nFAKE LOG\u202e'));
      expect(error.message).to.equal('File not found: a\\u000aFAKE LOG\\u202e');
    });

    it('reads no pipe, socket or device, and does not wait for one', async function () {
      this.timeout(2_000);
      await using b = await bench();
      execFileSync('mkfifo', [join(b.allowed, 'p')]);
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(b.allowed, 's'), resolve));
      const results = await Promise.all(Array.from({ length: 8 }, () => rejection(b.text(join(b.allowed, 'p')))));
      for (const error of results) expect(error.blockedBy).to.equal('sandbox');
      expect(await rejection(b.text(join(b.allowed, 's')))).to.be.instanceOf(FileProblem);
      await new Promise((resolve) => server.close(resolve));
    });

    it('reads no file with several hard links unless the configuration allows it', async () => {
      await using b = await bench();
      await b.hardlink(join(b.outside, 'secret.txt'), join(b.allowed, 'hl'));
      const error = await rejection(b.text(join(b.allowed, 'hl')));
      expect(error.blockedBy).to.equal('sandbox');
      expect(error.message).to.include('file.allow_hardlinks');

      await using free = await bench({ allowHardlinks: true });
      await free.hardlink(join(free.allowed, 'ok.txt'), join(free.allowed, 'hl'));
      expect(await free.text(join(free.allowed, 'hl'))).to.equal('OK');
    });

    it('refuses a huge sparse file by its size, without reading it', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'huge'), '');
      await truncate(join(b.home, 'huge'), 20 * 1024 ** 3);
      const error = await rejection(b.text('huge'));
      expect(error.message).to.include('21474836480 bytes').and.to.include('1000000 bytes');
    });

    it('reads files of exactly the limit and of unknown size', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'big'), 'x'.repeat(1_000_000));
      expect(await b.text('big')).to.have.length(1_000_000);
      await writeFile(join(b.home, 'big'), 'x'.repeat(1_000_001));
      expect((await rejection(b.text('big'))).message).to.include('1000001');
    });

    it('stops when the run was aborted', async () => {
      await using b = await bench();
      const error = await rejection(b.files.read('x', b.run(AbortSignal.abort(new Error('cancelled'))), { maxBytes: 10 }));
      expect(error.message).to.equal('cancelled');
    });

    it('leaves no descriptor open, whatever happened', async function () {
      if (process.platform !== 'linux') this.skip();
      await using b = await bench();
      const before = (await readdir('/proc/self/fd')).length;
      for (let round = 0; round < 20; round += 1) {
        await Promise.allSettled(['none', '.', '../../ok.txt', '../../ok.txt/x', 'no/x'].map((path) => b.text(path)));
        await Promise.allSettled(['.', 'new/deep/f', '../../ok.txt/x', 'bad\n'].map((path) => b.write(path, 'x')));
        await Promise.allSettled(['.', 'none', '../../ok.txt'].map((path) => b.files.list(path, b.run(), { max: 5 })));
        const walk = { enters: () => true, wants: () => true, visit: () => round % 2 === 0 };
        await Promise.allSettled(['../..', 'none', '../../ok.txt'].map((path) => b.files.walk(path, b.run(), walk)));
        await Promise.allSettled(['.', 'none/x', 'log', '../../ok.txt/x'].map((path) => b.files.append(path, Buffer.from('x'), b.run())));
        await Promise.allSettled(['.', 'none', 'log'].map((path) => b.files.copy(path, 'a/copy', b.run())));
        await Promise.allSettled(['.', 'none', 'a/copy'].map((path) => b.files.move(path, '../../ok.txt/x', b.run())));
        await Promise.allSettled(['.', 'none', 'a/copy'].map((path) => b.files.remove(path, b.run())));
        await Promise.allSettled(['deep/er', 'log', 'log/x'].map((path) => b.files.makeDirectory(path, b.run())));
      }
      expect((await readdir('/proc/self/fd')).length).to.be.at.most(before);
    });
  });

  describe('writing', () => {
    it('creates a file with its parents, and replaces one', async () => {
      await using b = await bench();
      await b.write('output/2026/report.md', 'one');
      await b.write('output/2026/report.md', 'two');
      expect(await readFile(join(b.home, 'output/2026/report.md'), 'utf8')).to.equal('two');
      expect(b.claims.at(-1)?.access).to.equal('write');
      expect(await readdir(join(b.home, 'output/2026'))).to.deep.equal(['report.md']);
    });

    it('writes nothing outside: over links, through links, beside a dangling link, by ".."', async () => {
      await using b = await bench();
      await b.link(join(b.outside, 'secret.txt'), join(b.allowed, 'ln'));
      await b.link(b.outside, join(b.allowed, 'd'));
      await b.link(join(b.outside, 'created.txt'), join(b.allowed, 'dang'));
      for (const path of ['ln', 'd/new/deep.txt', 'd/secret.txt', '../outside/x', '../allowed-evil/x', 'new/../../outside/y']) {
        expect((await rejection(b.write(join(b.allowed, path), 'PWN'))).code, path).to.equal('ORYX_REFUSED');
      }
      expect((await rejection(b.write(join(b.allowed, 'dang'), 'PWN'))).message).to.include('dangling');
      expect(await readdir(b.outside)).to.deep.equal(['secret.txt']);
      expect(await readFile(join(b.outside, 'secret.txt'), 'utf8')).to.equal(SECRET);
    });

    it('writes through a link that stays inside, and keeps the link', async () => {
      await using b = await bench();
      await b.link('../../ok.txt', join(b.home, 'in'));
      await b.write('in', 'new');
      expect(await readFile(join(b.allowed, 'ok.txt'), 'utf8')).to.equal('new');
      expect((await lstat(join(b.home, 'in'))).isSymbolicLink()).to.equal(true);
    });

    it('gives a hard link its own content instead of changing the other name', async () => {
      await using b = await bench();
      await b.hardlink(join(b.outside, 'secret.txt'), join(b.allowed, 'hl'));
      await b.write(join(b.allowed, 'hl'), 'mine');
      expect(await readFile(join(b.outside, 'secret.txt'), 'utf8')).to.equal(SECRET);
    });

    it('keeps the permissions of a file that it replaces, without the bits that change identity', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'run.sh'), 'x');
      await chmod(join(b.home, 'run.sh'), 0o4750);
      await b.write('run.sh', 'y');
      expect((await stat(join(b.home, 'run.sh'))).mode & 0o7777).to.equal(0o750);
    });

    it('leaves a read-only file, a directory and a pipe alone', async function () {
      this.timeout(2_000);
      await using b = await bench();
      await writeFile(join(b.home, 'ro'), 'old');
      await chmod(join(b.home, 'ro'), 0o444);
      execFileSync('mkfifo', [join(b.home, 'p')]);
      await mkdir(join(b.home, 'dir'));
      expect((await rejection(b.write('ro', 'new'))).message).to.equal('File is read-only: ro');
      expect((await rejection(b.write('dir', 'new'))).message).to.equal('Is a directory: dir');
      expect((await rejection(b.write('p', 'new'))).blockedBy).to.equal('sandbox');
      expect((await rejection(b.write('/', 'new'))).code).to.equal('ORYX_REFUSED');
      expect((await readdir(b.home)).sort()).to.deep.equal(['dir', 'p', 'ro']);
    });

    it('refuses control characters in new names only', async () => {
      await using b = await bench();
      for (const name of ['inv\u202etxt.exe', 'a\nFAKE LOG', 'tab\t', 'dir\u0007/f', 'c1\u0085']) {
        const error = await rejection(b.write(name, 'x'));
        expect(error, name).to.be.instanceOf(FileProblem);
        expect(error.message).to.match(/control characters: [ -~]+$/);
      }
      await writeFile(join(b.home, 'old\nname'), 'x');
      await b.write('old\nname', 'y');
      expect(await readdir(b.home)).to.deep.equal(['old\nname']);
    });

    it('takes at most 5 MiB', async () => {
      await using b = await bench();
      await b.files.write('five', new Uint8Array(5 * 1024 * 1024), b.run());
      const error = await rejection(b.files.write('five', new Uint8Array(5 * 1024 * 1024 + 1), b.run()));
      expect(error.message).to.include('Content too large');
      expect((await stat(join(b.home, 'five'))).size).to.equal(5 * 1024 * 1024);
    });

    it('does not bring back the directory of an agent that is gone', async () => {
      await using b = await bench();
      await rename(b.home, join(b.top, 'archived'));
      expect((await rejection(b.write('output/x', 'y'))).message).to.include('no longer exists');
      expect(await readdir(join(b.allowed, 'agents'))).to.deep.equal([]);
      await b.write(join(b.allowed, 'elsewhere/x'), 'y');
    });

    it('keeps the old content and leaves no temporary file when the new one cannot be put in place', async () => {
      await using b = await bench();
      await writeFile(join(b.home, 'keep'), 'OLD');
      const failing: OpenDirectory = async (real) => {
        const directory = await openDirectory(real);
        return {
          ...directory,
          async check() {
            throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
          },
        };
      };
      await using broken = await bench({ homeOf: () => b.home, openDirectory: failing });
      const run = { ...broken.run(), claim: async () => undefined };
      expect((await rejection(broken.files.write('keep', Buffer.from('NEW'), run))).message).to.equal('No space left on the disk: keep');
      expect(await readdir(b.home)).to.deep.equal(['keep']);
      expect(await readFile(join(b.home, 'keep'), 'utf8')).to.equal('OLD');
    });

    it('lets readers see the old or the new content, never a part', async function () {
      this.timeout(10_000);
      await using b = await bench();
      const [old, fresh] = ['a'.repeat(300_000), 'b'.repeat(300_000)];
      await b.write('f', old);
      const state = { writing: true };
      const writer = (async () => {
        for (let round = 0; round < 20; round += 1) await b.write('f', round % 2 === 0 ? fresh : old);
        state.writing = false;
      })();
      while (state.writing) expect([old, fresh]).to.include(await b.text('f'));
      await writer;
    });
  });

  describe('listing', () => {
    it('sorts by name and tells kinds', async () => {
      await using b = await bench();
      await mkdir(join(b.home, 'sub'));
      await writeFile(join(b.home, 'a.txt'), '');
      await b.link('/etc', join(b.home, 'ln'));
      expect(await b.files.list('.', b.run(), { max: 10 })).to.deep.equal({
        entries: [
          { name: 'a.txt', kind: 'file' },
          { name: 'ln', kind: 'link' },
          { name: 'sub', kind: 'directory' },
        ],
        more: false,
      });
    });

    it('gives the first names and tells that there are more', async () => {
      await using b = await bench();
      for (const name of ['c', 'a', 'b']) await writeFile(join(b.home, name), '');
      const { entries, more } = await b.files.list('.', b.run(), { max: 2 });
      expect(entries.map(({ name }) => name)).to.deep.equal(['a', 'b']);
      expect(more).to.equal(true);
    });

    it('lists nothing outside, and no file', async () => {
      await using b = await bench();
      await b.link(b.outside, join(b.allowed, 'd'));
      expect((await rejection(b.files.list(join(b.allowed, 'd'), b.run(), { max: 9 }))).code).to.equal('ORYX_REFUSED');
      expect((await rejection(b.files.list(b.top, b.run(), { max: 9 }))).code).to.equal('ORYX_REFUSED');
      expect((await rejection(b.files.list('../../ok.txt', b.run(), { max: 9 }))).message).to.match(/^Not a directory/);
      expect((await rejection(b.files.list('none', b.run(), { max: 9 }))).message).to.equal('Directory not found: none');
    });
  });

  it('opens only what the guard allowed, by the word of the kernel, for random trees and paths', async function () {
    this.timeout(180_000);
    if (process.platform !== 'linux') this.skip();
    const opened: string[] = [];
    const recorded = (directory: Directory): Directory => {
      opened.push(realpathSync(directory.at('.')));
      return { ...directory, enter: async (name) => recorded(await directory.enter(name)) };
    };
    const recording: OpenDirectory = async (real) => recorded(await openDirectory(real));
    await using b = await bench({ openDirectory: recording });
    const part = fc.constantFrom('a', 'b', 'l', 'm', 'ok.txt', 'secret.txt', 'allowed', 'outside', '..', '.', 'new');
    const path = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join('/'));
    const links = fc.array(fc.tuple(fc.constantFrom('l', 'm', 'a/l', 'a/m', 'b', 'a/b/l'), path), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(links, path, path, fc.boolean(), async (made, given, second, absolute) => {
        await rm(b.allowed, { recursive: true });
        await mkdir(b.home, { recursive: true });
        await writeFile(join(b.allowed, 'ok.txt'), 'OK');
        await mkdir(join(b.allowed, 'a/b'), { recursive: true });
        for (const [name, target] of made) await symlink(target, join(b.allowed, name)).catch(() => undefined);
        opened.length = 0;
        b.claims.length = 0;
        const [asked, other] = [given, second].map((each) => (absolute ? `${b.allowed}/${each}` : `../../${each}`)) as [string, string];
        const read = await b.text(asked).catch(() => '');
        await b.write(asked, 'WRITTEN').catch(() => undefined);
        await b.files.list(asked, b.run(), { max: 5 }).catch(() => undefined);
        const walked: string[] = [];
        const visit = async (file: WalkedFile): Promise<boolean> => walked.push(Buffer.from(await file.read(99)).toString()) > 0;
        await b.files.walk(asked, b.run(), { enters: () => true, wants: () => true, visit }).catch(() => undefined);
        await b.files.stat(asked, b.run()).catch(() => undefined);
        await b.files.copy(other, asked, b.run()).catch(() => undefined);
        await b.files.append(asked, Buffer.from('ADDED'), b.run()).catch(() => undefined);
        await b.files.update(asked, b.run(), { maxBytes: 99 }, (old) => Buffer.concat([old, old])).catch(() => undefined);
        await b.files.makeDirectory(other, b.run()).catch(() => undefined);
        await b.files.move(asked, other, b.run()).catch(() => undefined);
        await b.files.remove(other, b.run()).catch(() => undefined);
        expect([read, ...walked].join()).to.not.include(SECRET);
        // The allowed directory itself is an entry of its parent, and only there may that one be opened.
        const parent = b.claims.some(({ value }) => value === b.allowed) ? [b.top] : [];
        for (const directory of opened) if (!parent.includes(directory)) expect(`${directory}/`).to.match(new RegExp(`^${b.allowed}/`));
        expect(await readdir(b.outside)).to.deep.equal(['secret.txt']);
        expect(await readFile(join(b.outside, 'secret.txt'), 'utf8')).to.equal(SECRET);
        expect((await readdir(b.top)).sort()).to.deep.equal(['allowed', 'outside']);
      }),
      { numRuns: 300 },
    );
  });
});

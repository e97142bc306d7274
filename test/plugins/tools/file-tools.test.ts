import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmod, link, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolbox } from './toolbox.ts';
import type { Toolbox } from './toolbox.ts';

describe('tools that change files', function () {
  this.timeout(20_000);

  let box: Toolbox;
  const at = (name: string): string => join(box.allowed, name);
  const content = (name: string): Promise<string> => readFile(at(name), 'utf8');
  before(async () => {
    box = await toolbox();
  });
  after(() => box[Symbol.asyncDispose]());

  it('name every path outside as not on the whitelist, and touch nothing there', async () => {
    const secret = join(box.outside, 'secret.txt');
    await symlink(box.outside, at('way-out'));
    await symlink(secret, at('link-out'));
    await symlink(join(box.outside, 'new'), at('dangling'));
    const calls: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      secret,
      at('way-out/secret.txt'),
      at('link-out'),
    ].flatMap(
      (path) =>
        [
          ['edit_file', { path, oldString: 'TOP', newString: 'x' }],
          ['append_file', { path, content: 'x' }],
          ['delete_file', { path }],
          ['move_file', { from: path, to: at('got') }],
          ['copy_file', { from: path, to: at('got') }],
          ['move_file', { from: at('ok.txt'), to: path }],
          ['copy_file', { from: at('ok.txt'), to: path }],
        ] as const,
    );
    for (const [tool, args] of [
      ...calls,
      ['append_file', { path: at('dangling'), content: 'x' }],
      ['make_dir', { path: at('dangling/d') }],
      ['make_dir', { path: at('way-out/d') }],
      ['make_dir', { path: join(box.outside, 'd') }],
    ] as const) {
      const result = await box.failure(tool, args);
      expect(result.errorMessage, `${tool} ${JSON.stringify(args)}`).to.include('file whitelist');
      expect(result.retryable).to.equal(false);
      expect(result.blockedBy).to.equal('sandbox');
    }
    expect(await readdir(box.outside)).to.deep.equal(['secret.txt']);
    expect(await readFile(secret, 'utf8')).to.equal('TOP-SECRET');
    expect(await content('ok.txt')).to.equal('OK');
  });

  it('leave protected files of the workspace alone, whichever end of the call they are', async () => {
    const calls = [
      ['copy_file', { from: join(box.root, 'oryxos.db'), to: at('db') }],
      ['copy_file', { from: join(box.root, 'master.key'), to: at('key') }],
      ['move_file', { from: join(box.root, 'oryxos.db'), to: at('db') }],
      ['move_file', { from: 'AGENT.md', to: 'x.md' }],
      ['move_file', { from: at('ok.txt'), to: 'AGENT.md' }],
      ['edit_file', { path: 'AGENT.md', oldString: 'tools', newString: 'x' }],
      ['append_file', { path: join(box.root, 'SOUL.md'), content: 'x' }],
      ['append_file', { path: '../a2/notes.md', content: 'x' }],
      ['delete_file', { path: join(box.root, 'skills/x/SKILL.md') }],
      ['make_dir', { path: join(box.root, 'plugins/evil') }],
    ] as const;
    for (const [tool, args] of calls) {
      const result = await box.failure(tool, args);
      expect(result.errorMessage, `${tool} ${JSON.stringify(args)}`).to.match(/protected: tools (may not|never)/);
      expect(result.blockedBy).to.equal('sandbox');
    }
    expect(await readdir(box.root))
      .to.include('oryxos.db')
      .and.not.include('plugins/evil');
  });

  describe('edit_file', () => {
    const edit = (path: string, oldString: string, newString: string): Promise<string> =>
      box.text('edit_file', { path: at(path), oldString, newString });

    it('replaces the one passage and nothing else', async () => {
      await writeFile(at('e.txt'), '\ufeffprice X end\n');
      expect(await edit('e.txt', 'X', '$& $1 $$ $`')).to.equal(`Edited ${at('e.txt')}`);
      expect(await content('e.txt')).to.equal('\ufeffprice $& $1 $$ $` end\n');
      expect(await box.text('edit_file', { file_path: at('e.txt'), old_string: 'price ', new_string: '' })).to.match(/^Edited /);
      expect(await content('e.txt')).to.equal('\ufeff$& $1 $$ $` end\n');
    });

    it('keeps CR LF as line ends, also in what is new', async () => {
      await writeFile(at('crlf.txt'), 'one\r\ntwo\r\nthree\r\n');
      await edit('crlf.txt', 'one\ntwo', '1\n2\n2b');
      expect(await content('crlf.txt')).to.equal('1\r\n2\r\n2b\r\nthree\r\n');
      await writeFile(at('mixed.txt'), 'one\r\ntwo\n');
      expect((await box.failure('edit_file', { path: at('mixed.txt'), oldString: 'one\ntwo', newString: '' })).errorMessage).to.include(
        'does not occur',
      );
      await edit('mixed.txt', 'one\r\n', 'one\n');
      expect(await content('mixed.txt')).to.equal('one\ntwo\n');
    });

    const refusals: readonly (readonly [what: string, text: string, oldString: string, message: RegExp])[] = [
      ['a passage that is missing', 'abc', 'x', /^oldString does not occur; .*: .*r\.txt$/],
      ['one that occurs twice', 'x y x', 'x', /^oldString occurs more than once \(2 times\)/],
      ['one that overlaps itself', 'aaa', 'aa', /^oldString occurs more than once \(2 times\)/],
      ['one that occurs very often', 'a'.repeat(1000), 'a', /more than 100 times/],
      ['an empty one', 'abc', '', /oldString/],
      ['half a character', '😀', '\ud83d', /oldString has half of a character/],
    ];
    for (const [what, text, oldString, message] of refusals) {
      it(`refuses ${what}`, async () => {
        await writeFile(at('r.txt'), text);
        const result = await box.failure('edit_file', { path: at('r.txt'), oldString, newString: 'new' });
        expect(result.errorMessage).to.match(message);
        expect(result.retryable).to.equal(true);
        expect(await content('r.txt')).to.equal(text);
      });
    }

    it('leaves files alone that are no UTF-8 text, too large, missing, or not files', async () => {
      await writeFile(at('b.bin'), Buffer.from('61ff6162', 'hex'));
      await writeFile(at('big.txt'), 'x'.repeat(5 * 1024 * 1024 + 1));
      await mkdir(at('folder'), { recursive: true });
      for (const [name, message] of [
        ['b.bin', /^Not UTF-8 text/],
        ['big.txt', /^File too large/],
        ['none.txt', /^File not found: /],
        ['folder', /^Is a directory: /],
      ] as const) {
        const result = await box.failure('edit_file', { path: at(name), oldString: 'ab', newString: 'zz' });
        expect(result.errorMessage, name).to.match(message);
      }
      expect(await readFile(at('b.bin'), 'hex')).to.equal('61ff6162');
    });

    it('does not lose edits of several calls at once', async () => {
      await writeFile(at('many.txt'), Array.from({ length: 3 }, (_, index) => `<${index}>`).join('\n'));
      box.host.model.will({
        calls: Array.from({ length: 3 }, (_, index) => ({
          name: 'edit_file',
          arguments: { path: at('many.txt'), oldString: `<${index}>`, newString: `[${index}]` },
        })),
      });
      await Promise.all([box.host.say('a1', 'go'), box.call('append_file', { path: at('other.txt'), content: '' }, 'a2')]);
      expect(await content('many.txt')).to.equal('[0]\n[1]\n[2]');
    });
  });

  describe('append_file', () => {
    it('adds to the end, and creates file and directories', async () => {
      expect(await box.text('append_file', { path: 'output/logs/a.txt', content: 'one\n' })).to.equal('Appended to output/logs/a.txt');
      await box.text('append_file', { path: 'output/logs/a.txt', content: 'two' });
      expect(await readFile(join(box.home, 'output/logs/a.txt'), 'utf8')).to.equal('one\ntwo');
    });

    it('refuses directories, pipes, read-only files, and files with several hard links', async () => {
      await mkdir(at('folder'), { recursive: true });
      execFileSync('mkfifo', [at('p')]);
      await writeFile(at('ro'), '', { mode: 0o444 });
      await link(join(box.outside, 'secret.txt'), at('hard'));
      for (const [name, message, isFinal] of [
        ['folder', /^Is a directory/, false],
        ['ro', /^File is read-only/, false],
        ['p', /a pipe, a socket or a device/, true],
        ['hard', /several hard links/, true],
      ] as const) {
        const result = await box.failure('append_file', { path: at(name), content: 'x' });
        expect(result.errorMessage, name).to.match(message);
        expect(result.retryable, name).to.equal(!isFinal);
      }
      expect((await box.failure('append_file', { path: at('x'), content: '\ud800' })).errorMessage).to.include(
        'content has half of a character',
      );
      expect((await box.failure('append_file', { path: at('x'), content: 'x'.repeat(5 * 1024 * 1024 + 1) })).errorMessage).to.include(
        'too large',
      );
      expect(await readFile(join(box.outside, 'secret.txt'), 'utf8')).to.equal('TOP-SECRET');
    });
  });

  it('make_dir creates directories with those above, twice without complaint, and none over a file', async () => {
    for (let round = 0; round < 2; round += 1)
      expect(await box.text('make_dir', { path: 'output/x/y' })).to.equal('Created directory output/x/y');
    expect((await stat(join(box.home, 'output/x/y'))).isDirectory()).to.equal(true);
    expect((await box.failure('make_dir', { path: at('ok.txt') })).errorMessage).to.match(/^Not a directory: /);
    expect((await box.failure('make_dir', { path: 'a\nb' })).errorMessage).to.include('control characters');
  });

  describe('move_file and copy_file', () => {
    it('put a file somewhere else, over what is there, with directories', async () => {
      await writeFile(at('m.sh'), 'm');
      await chmod(at('m.sh'), 0o750);
      expect(await box.text('copy_file', { source: at('m.sh'), destination: at('new/deep/c.sh') })).to.equal(
        `Copied ${at('m.sh')} -> ${at('new/deep/c.sh')}`,
      );
      expect(await content('new/deep/c.sh')).to.equal('m');
      expect((await stat(at('new/deep/c.sh'))).mode & 0o777).to.equal(0o750);
      await writeFile(at('target'), 'old');
      expect(await box.text('move_file', { from: at('m.sh'), to: at('target') })).to.equal(`Moved ${at('m.sh')} -> ${at('target')}`);
      expect(await content('target')).to.equal('m');
      expect(await lstat(at('m.sh')).catch(() => undefined)).to.equal(undefined);
    });

    it('move a link as a link, replace a link as a link, and copy what a link leads to', async () => {
      await writeFile(at('real'), 'R');
      await symlink('real', at('ln1'));
      await box.text('move_file', { from: at('ln1'), to: at('ln2') });
      expect((await lstat(at('ln2'))).isSymbolicLink()).to.equal(true);
      await box.text('copy_file', { from: at('ln2'), to: at('plain') });
      expect((await lstat(at('plain'))).isFile()).to.equal(true);
      await writeFile(at('other'), 'O');
      await box.text('move_file', { from: at('other'), to: at('ln2') });
      expect(await content('real')).to.equal('R');
      expect(await content('ln2')).to.equal('O');
    });

    it('refuse directories, missing files, special files, and a file onto itself', async () => {
      await mkdir(at('dir'), { recursive: true });
      await symlink('dir', at('to-dir'));
      await writeFile(at('f'), 'f');
      await link(at('f'), at('f-again'));
      execFileSync('mkfifo', [at('pipe')]);
      for (const tool of ['move_file', 'copy_file']) {
        for (const [from, to, message] of [
          ['dir', 'd2', /^Is a directory: .*\/dir$/],
          ['ok.txt', 'dir', /^Is a directory: .*\/dir$/],
          ['ok.txt', 'to-dir', /^Is a directory: .*\/to-dir$/],
          ['none', 'made-for-nothing/x', /^File not found: .*\/none$/],
          ['pipe', 'x', /a pipe, a socket or a device/],
          ['ok.txt', 'pipe', /a pipe, a socket or a device/],
          ['ok.txt', 'ok.txt', /^Source and target are the same file/],
          ['f', 'f-again', tool === 'move_file' ? /^Source and target are the same file/ : /several hard links/],
        ] as const) {
          const result = await box.failure(tool, { from: at(from), to: at(to) });
          expect(result.errorMessage, `${tool} ${from} ${to}`).to.match(message);
        }
      }
      expect(await content('f')).to.equal('f');
      expect(await content('ok.txt')).to.equal('OK');
      expect((await lstat(at('pipe'))).isFIFO()).to.equal(true);
      expect(await lstat(at('made-for-nothing')).catch(() => undefined)).to.equal(undefined);
      expect(await lstat(at('x')).catch(() => undefined)).to.equal(undefined);
    });

    it('do not copy more than a gigabyte', async () => {
      await writeFile(at('sparse'), '');
      execFileSync('truncate', ['-s', '2G', at('sparse')]);
      expect((await box.failure('copy_file', { from: at('sparse'), to: at('copy') })).errorMessage).to.match(
        /^File too large to be copied/,
      );
    });
  });

  it('delete_file removes a file, a link itself, and nothing else', async () => {
    await writeFile(at('gone'), '');
    await symlink('ok.txt', at('just-a-link'));
    await mkdir(at('kept'), { recursive: true });
    expect(await box.text('delete_file', { path: at('gone') })).to.equal(`Deleted ${at('gone')}`);
    expect(await box.text('delete_file', { path: at('just-a-link') })).to.match(/^Deleted /);
    expect(await content('ok.txt')).to.equal('OK');
    expect((await box.failure('delete_file', { path: at('gone') })).errorMessage).to.equal(`File not found: ${at('gone')}`);
    for (const path of [at('kept'), `${at('kept')}/`, at('kept/.'), at('kept/..')]) {
      expect((await box.failure('delete_file', { path })).errorMessage, path).to.match(/^Is a directory/);
    }
    expect((await readdir(box.allowed)).filter((name) => name === 'gone' || name === 'just-a-link')).to.deep.equal([]);
  });
});

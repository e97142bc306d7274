import { expect } from 'chai';
import { mkdir, rename, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolRun } from '../../../kernel/index.ts';
import { definePlugin, defineTool, ok } from '../../../kernel/index.ts';
import { askUserTool } from '../../../plugins/tools/ask-user.ts';
import { fakeClock, startHost, until } from '../../harness/index.ts';
import { openStream } from '../conversations/stream-client.ts';
import { TOOLS, toolbox } from './toolbox.ts';
import type { Toolbox } from './toolbox.ts';

describe('the built-in tools', function () {
  this.timeout(20_000);

  const clock = fakeClock(Date.UTC(2026, 6, 22, 1, 30, 5));
  let box: Toolbox;
  before(async () => {
    box = await toolbox({ clock });
  });
  after(() => box[Symbol.asyncDispose]());

  it('are listed by name, with those of other plugins', async () => {
    const extra = definePlugin({
      name: 'extra',
      setup: (ctx) =>
        void ctx.register(
          'tool',
          defineTool({ name: 'a_tool', description: () => 'Says now.', input: { type: 'object' }, execute: async () => ok('x') }),
        ),
    });
    await using host = await startHost({ plugins: [extra] });
    const { status, data } = await host.request('GET', '/api/v1/tools');
    expect(status).to.equal(200);
    expect(data.map(({ name }: { name: string }) => name)).to.deep.equal(['a_tool', ...TOOLS]);
    expect(data[0]).to.deep.equal({ name: 'a_tool', description: 'Says now.' });
    for (const { description } of data) expect(description).to.match(/^[A-Z].*\.$/);
  });

  it('reach the model with a schema that refuses what it does not know', async () => {
    box.host.model.willSay('hi');
    await box.host.say('a1', 'hello');
    const offered = box.host.model.requests.at(-1)?.tools ?? [];
    expect(offered.map(({ name }) => name).sort()).to.deep.equal(TOOLS);
    for (const { parameters } of offered) expect(parameters).to.deep.include({ type: 'object', additionalProperties: false });
  });

  const badArguments: readonly (readonly [string, unknown, string])[] = [
    ['read_file', {}, 'path'],
    ['read_file', { path: 'x', extra: 1 }, 'extra'],
    ['read_file', { path: 'x', offset: 0 }, 'offset'],
    ['read_file', { path: 'x', limit: 1.5 }, 'limit'],
    ['read_file', { path: 42 }, 'path'],
    ['write_file', { path: 'n.txt' }, 'content'],
    ['list_dir', {}, 'path'],
    ['current_time', { timezone: 8 }, 'timezone'],
    ['json_extract', { json: '{}' }, 'path'],
    ['save_memory', { content: 'x', scope: 'everywhere' }, 'scope'],
    ['recall_memory', {}, 'keyword'],
    ['ask_user', { question: '' }, 'question'],
  ];
  for (const [tool, args, parameter] of badArguments) {
    it(`tell the model which argument of ${tool} is bad: ${JSON.stringify(args)}`, async () => {
      const result = await box.failure(tool, args);
      expect(result.retryable).to.equal(true);
      expect(result.errorMessage).to.include(parameter);
    });
  }

  describe('read_file', () => {
    it('gives the text, without quotes', async () => {
      await writeFile(join(box.home, 'a.txt'), '"Grüße"\n\tund 值\n');
      expect(await box.text('read_file', { path: 'a.txt' })).to.equal('"Grüße"\n\tund 值\n');
      expect(await box.text('read_file', { file_path: 'a.txt', offset: 2 })).to.equal('\tund 值\n');
    });

    it('says that a file is empty, missing, a directory, binary or too large', async () => {
      await writeFile(join(box.home, 'empty'), '');
      await writeFile(join(box.home, 'b.bin'), Buffer.from('00ff89504e470d0a1a0a00c3280000', 'hex'));
      await writeFile(join(box.home, 'huge'), '');
      await truncate(join(box.home, 'huge'), 20 * 1024 ** 3);
      expect(await box.text('read_file', { path: 'empty' })).to.equal('(empty file)');
      for (const [path, message] of [
        ['none.txt', /^File not found: none\.txt$/],
        ['.', /^Is a directory: \.$/],
        ['b.bin', /binary: b\.bin$/],
        ['huge', /21474836480 bytes/],
      ] as const) {
        const result = await box.failure('read_file', { path });
        expect(result.retryable, path).to.equal(true);
        expect(result.errorMessage).to.match(message);
      }
    });
  });

  describe('write_file', () => {
    it('creates directories, replaces, and writes empty files', async () => {
      expect(await box.text('write_file', { path: 'output/deep/er/f.txt', content: 'one' })).to.equal('Wrote output/deep/er/f.txt');
      expect(await box.text('write_file', { path: 'output/deep/er/f.txt', content: '' })).to.equal('Wrote output/deep/er/f.txt');
      expect(await box.text('read_file', { path: 'output/deep/er/f.txt' })).to.equal('(empty file)');
    });

    it('refuses names that could forge a line, half characters, and content over 5 MiB', async () => {
      const forged = await box.failure('write_file', { path: 'inv\u202etxt.exe\nFAKE LOG', content: 'x' });
      expect(forged.errorMessage).to.include('control characters').and.not.include('\n');
      expect((await box.failure('write_file', { path: 'x', content: '\ud800' })).errorMessage).to.include('content');
      expect((await box.failure('write_file', { path: 'x', content: 'x'.repeat(5 * 1024 * 1024 + 1) })).errorMessage).to.include(
        'too large',
      );
    });
  });

  describe('list_dir', () => {
    it('gives sorted names, one per line, directories with a slash', async () => {
      const directory = join(box.allowed, 'tree');
      await mkdir(join(directory, 'sub'), { recursive: true });
      await writeFile(join(directory, 'b.txt'), '');
      await writeFile(join(directory, 'a\nb'), '');
      await symlink('/etc', join(directory, 'z-link'));
      expect(await box.text('list_dir', { path: directory })).to.equal('a\\u000ab\nb.txt\nsub/\nz-link');
      expect(await box.text('list_dir', { path: join(directory, 'sub') })).to.equal('(empty directory)');
    });

    it('shows 1000 entries and says that there are more', async () => {
      const directory = join(box.allowed, 'many');
      await mkdir(directory);
      await Promise.all(Array.from({ length: 1001 }, (_, index) => writeFile(join(directory, `f${String(index).padStart(4, '0')}`), '')));
      const lines = (await box.text('list_dir', { path: directory })).split('\n');
      expect(lines).to.have.length(1001);
      expect(lines.at(-2)).to.equal('f0999');
      expect(lines.at(-1)).to.equal('(only the first 1000 entries are shown)');
    });

    it('says what it cannot list', async () => {
      expect((await box.failure('list_dir', { path: 'none' })).errorMessage).to.equal('Directory not found: none');
      expect((await box.failure('list_dir', { path: join(box.allowed, 'ok.txt') })).errorMessage).to.match(/^Not a directory: /);
    });
  });

  describe('current_time', () => {
    const times: readonly (readonly [string, string])[] = [
      ['Asia/Shanghai', '2026-07-22 09:30:05 +08:00'],
      ['UTC', '2026-07-22 01:30:05 +00:00'],
      [' America/New_York ', '2026-07-21 21:30:05 -04:00'],
      ['Asia/Kolkata', '2026-07-22 07:00:05 +05:30'],
    ];
    for (const [timezone, text] of times) {
      it(`tells it in ${timezone.trim()}`, async () => expect(await box.text('current_time', { timezone })).to.equal(text));
    }

    it('takes the zone of the server when none is given, and refuses one that does not exist', async () => {
      for (const args of [{}, { timezone: '' }, ''])
        expect(await box.text('current_time', args)).to.match(/^2026-07-2\d \d\d:\d\d:05 [+-]\d\d:\d\d$/);
      const result = await box.failure('current_time', { timezone: 'Mars/Olympus' });
      expect(result.retryable).to.equal(true);
      expect(result.errorMessage).to.include('Unknown time zone: Mars/Olympus');
    });
  });

  it('extract values from JSON', async () => {
    expect(await box.text('json_extract', { json: '{"a":[{"b":"c"}]}', path: 'a[0].b' })).to.equal('c');
    expect(await box.text('json_extract', { json: '{"a":1}', path: 'b' })).to.equal('(path not found: b)');
  });

  describe('save_memory and recall_memory', () => {
    it('keep a note and find it', async () => {
      expect(await box.text('save_memory', { content: 'Bob likes green tea.' })).to.equal('Saved to archival memory');
      expect(await box.text('save_memory', { content: 'Answer in English.', scope: 'CORE' })).to.equal('Saved to core memory');
      expect(await box.text('save_memory', { content: 'Eve likes tea too.', scope: '' })).to.equal('Saved to archival memory');
      expect(await box.text('recall_memory', { keyword: 'TEA' })).to.match(
        /^\[2026-.*\] Bob likes green tea\.\n\[2026-.*\] Eve likes tea too\.$/,
      );
      expect(await box.text('recall_memory', { keyword: 'English' })).to.equal('No matching memory found');
      expect(await box.text('recall_memory', { keyword: 'tea' }, 'a2')).to.equal('No matching memory found');
    });

    it('say why a note was not kept', async () => {
      expect((await box.failure('save_memory', { content: ' \n ' })).errorMessage).to.match(/^Not saved: content must not be blank/);
      expect((await box.failure('save_memory', { content: 'x'.repeat(3000) })).errorMessage).to.match(/^Not saved: .*2000/);
      expect((await box.failure('recall_memory', { keyword: ' ' })).errorMessage).to.match(/keyword/);
    });
  });

  describe('ask_user', () => {
    it('fails at once where nobody can answer', async () => {
      expect(await box.failure('ask_user', { question: 'Sure?' })).to.deep.equal({
        success: false,
        errorMessage: 'Nobody can answer here',
        retryable: true,
      });
    });

    it('gives what the person types', async () => {
      await box.host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'u' });
      box.host.model.willCall('ask_user', { question: 'Which color?' });
      const stream = await openStream(box.host, '/api/v1/sessions/web:u:a1/messages', { content: 'paint' }, { 'x-oryx-interactive': '1' });
      const { data } = await until('the question arrives', () => stream.events().find(({ event }) => event === 'ask'));
      expect(data.question).to.equal('Which color?');
      await box.host.request('POST', `/api/v1/asks/${data.askId}`, { answer: 'green' });
      await stream.ended();
      const [, , last] = box.host.model.requests.at(-1)?.messages ?? [];
      expect(last).to.deep.include({ role: 'tool', content: 'green' });
    });

    it('says so when that is nothing', async () => {
      const run = { turn: { id: 't1' }, signal: new AbortController().signal } as ToolRun;
      expect(await askUserTool({ ask: async () => ' \n' }).execute({ question: 'Which?' }, run)).to.deep.equal(ok('(no answer)'));
    });
  });

  it('leave a deleted agent without a directory', async () => {
    await using gone = await toolbox();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    gone.host.model.will({
      calls: [
        { name: 'write_file', arguments: { path: 'output/x', content: 'y' } },
        { name: 'save_memory', arguments: { content: 'z' } },
      ],
      after: held,
    });
    const before = gone.host.model.requests.length;
    const outcome = gone.host.say('a1', 'go');
    await until('the model is asked', () => gone.host.model.requests.length > before);
    await rename(gone.home, `${gone.top}/archived`);
    release();
    const results = (await outcome).messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results[0]).to.include('The directory of this agent no longer exists');
    expect(results[1]).to.include('no longer exists');
    expect((await gone.text('list_dir', { path: join(gone.root, 'agents') }, 'a2')).split('\n')).to.not.include('a1/');
  });
});

/** Tools at work while another process swaps what they work on for links to the outside. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolResult } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import { nodeArguments, isBuilt } from '../examples/installed-oryxos.ts';
import { toolbox } from '../plugins/tools/toolbox.ts';

const RACE_MS = 10_000;
const WORKERS = 4;
const SECRET = 'TOP-SECRET';
const MARK = 'only-outside';

/** Every tool that touches files, on everything that is swapped. */
const callsOn = (allowed: string, turn: number): readonly { readonly name: string; readonly arguments: unknown }[] => {
  const at = (path: string): string => join(allowed, path);
  return [
    { name: 'read_file', arguments: { path: at('race') } },
    { name: 'read_file', arguments: { path: at('sub/secret.txt') } },
    { name: 'read_file', arguments: { path: at('sub/deep/secret.txt') } },
    { name: 'list_dir', arguments: { path: at('sub/deep') } },
    { name: 'glob', arguments: { path: allowed, pattern: '**/*' } },
    { name: 'grep', arguments: { path: allowed, pattern: SECRET } },
    { name: 'copy_file', arguments: { from: at('sub/secret.txt'), to: `copy${turn % 7}.txt` } },
    { name: 'copy_file', arguments: { from: at('ok.txt'), to: at(`sub/deep/in${turn % 7}.txt`) } },
    { name: 'write_file', arguments: { path: at('race'), content: 'in' } },
    { name: 'write_file', arguments: { path: at(`sub/deep/new${turn % 7}/file.txt`), content: 'in' } },
    { name: 'append_file', arguments: { path: at('sub/deep/log.txt'), content: 'in\n' } },
    { name: 'edit_file', arguments: { path: at(`sub/deep/new${turn % 7}/file.txt`), oldString: 'in', newString: 'in.' } },
    { name: 'make_dir', arguments: { path: at(`sub/made${turn % 7}`) } },
    { name: 'move_file', arguments: { from: at('sub/deep/log.txt'), to: at(`sub/moved${turn % 7}.txt`) } },
    { name: 'move_file', arguments: { from: at('sub/secret.txt'), to: `moved${turn % 7}.txt` } },
    { name: 'delete_file', arguments: { path: at('sub/deep/secret.txt') } },
    { name: 'read_file', arguments: { path: `copy${turn % 7}.txt` } },
    { name: 'read_file', arguments: { path: `moved${turn % 7}.txt` } },
  ];
};

describe('tools that race with a process which swaps files and directories for links', () => {
  it('neither show nor change anything outside of the list in ten seconds', async function () {
    if (process.platform !== 'linux') this.skip();
    this.timeout(RACE_MS + 60_000);
    const counts = new Map<string, { done: number; refused: number }>();
    const shown: string[] = [];
    const recorder = definePlugin({
      name: 'race-recorder',
      setup(ctx) {
        ctx.tap('afterToolCall', (rows, { toolName }, result: ToolResult) => {
          const count = counts.get(toolName) ?? { done: 0, refused: 0 };
          if (result.success) count.done += 1;
          if (!result.success && result.blockedBy === 'sandbox') count.refused += 1;
          counts.set(toolName, count);
          const text = result.success ? result.content : result.errorMessage;
          // A pattern that was searched for may be repeated in a sentence about the search; what was found may not.
          if (text.includes(MARK) || (text.includes(SECRET) && toolName !== 'grep') || /:\d+:.*TOP-SECRET/.test(text)) shown.push(text);
          return rows;
        });
      },
    });
    await using box = await toolbox({ plugins: [recorder], config: { 'logging.file': false } });
    await mkdir(join(box.outside, 'deep'));
    for (const name of ['deep/secret.txt', 'deep/log.txt', `deep/${MARK}`, 'ok.txt']) await writeFile(join(box.outside, name), SECRET);
    const before = (await readdir(box.outside, { recursive: true })).sort();
    let turns = 0;
    box.host.model.always(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { content: 'done' } : { calls: callsOn(box.allowed, (turns += 1)) },
    );
    const swapper = spawn(
      process.execPath,
      [...nodeArguments, join(import.meta.dirname, `../plugins/outside/swapper.${isBuilt ? 'js' : 'ts'}`), box.allowed, box.outside],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(swapper.stdout, 'data');
    const end = performance.now() + RACE_MS;
    const work = async (): Promise<void> => {
      while (performance.now() < end) {
        const { error } = await box.host.say('a1', 'go');
        if (error) throw error;
      }
    };
    try {
      await Promise.all(Array.from({ length: WORKERS }, work));
    } finally {
      const exited = once(swapper, 'exit');
      expect(swapper.kill('SIGKILL'), 'the swapper was still at work').to.equal(true);
      await exited;
    }
    expect(shown).to.deep.equal([]);
    expect((await readdir(box.outside, { recursive: true })).sort()).to.deep.equal(before);
    for (const name of before.filter((each) => each !== 'deep')) {
      expect(await readFile(join(box.outside, name), 'utf8'), name).to.equal(SECRET);
    }
    for (const name of await readdir(box.home)) {
      if (name.endsWith('.txt')) expect(await readFile(join(box.home, name), 'utf8'), name).to.not.include(SECRET);
    }
    // It was a race and not a wall: every tool did its work at times, and links were met.
    console.log(`      ${turns} turns: ${[...counts].map(([name, { done, refused }]) => `${name} ${done}/${refused}`).join(', ')}`);
    for (const [name, { done }] of counts) expect(done, name).to.be.greaterThan(0);
    expect([...counts.values()].reduce((sum, { refused }) => sum + refused, 0)).to.be.greaterThan(100);
  });
});

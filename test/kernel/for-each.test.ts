import { expect } from 'chai';
import { definePlugin, type Context, type Disposer, type Plugin, type Tool } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { signal, startKernel, toolNamed, toolPlugin } from './kernel-fixture.ts';

/** A plugin that follows the tools and notes their coming and going. */
function follower(notes: string[], enter: (tool: Tool, child: Context) => void | Promise<void> = () => undefined): Plugin {
  return definePlugin({
    name: 'follower',
    setup(ctx) {
      ctx.forEach('tool', (tool, child) => {
        notes.push(`+${tool.name}`);
        child.own('note', () => void notes.push(`-${tool.name}`));
        return enter(tool, child);
      });
    },
  });
}

describe('forEach', () => {
  it('runs for the items that are there and those that come, and undoes each when its item leaves', async () => {
    await using host = await startKernel();
    const notes: string[] = [];
    await host.kernel.load(toolPlugin('a', 'one'));
    await host.kernel.load(follower(notes));
    await host.kernel.load(toolPlugin('b', 'two'));
    expect(notes).to.deep.equal(['+one', '+two']);
    await host.kernel.unload('a');
    await breathe();
    expect(notes).to.deep.equal(['+one', '+two', '-one']);
    await host.kernel.unload('follower');
    await host.kernel.load(toolPlugin('a', 'one'));
    expect(notes).to.deep.equal(['+one', '+two', '-one', '-two']);
  });

  it('begins when its plugin has become active, not during setup', async () => {
    await using host = await startKernel();
    const states: unknown[] = [];
    const proceed = signal();
    await host.kernel.load(toolPlugin('a', 'one'));
    const loading = host.kernel.load(
      definePlugin({
        name: 'follower',
        async setup(ctx) {
          ctx.forEach('tool', () => void states.push(host.kernel.status().at(-1)?.state));
          await proceed.promise;
        },
      }),
    );
    await breathe();
    expect(states).to.deep.equal([]);
    proceed.resolve();
    await loading;
    expect(states).to.deep.equal(['active']);
  });

  it('names the child after plugin and item, and shows it in the tree of effects', async () => {
    await using host = await startKernel();
    let name = '';
    await host.kernel.load(toolPlugin('a', 'one'));
    await host.kernel.load(follower([], (_tool, child) => void (name = child.name)));
    expect(name).to.equal('follower/one');
    expect(host.kernel.status().at(-1)?.effects.children).to.deep.equal([
      {
        label: 'forEach tool',
        children: [
          { label: 'watch', children: [] },
          { label: 'tool one', children: [{ label: 'note', children: [] }] },
        ],
      },
    ]);
  });

  it('finishes the old child of a swapped item before the new one begins', async () => {
    await using host = await startKernel();
    const notes: string[] = [];
    const slow = signal();
    let isFirst = true;
    await host.kernel.load(toolPlugin('a', 'one'));
    await host.kernel.load(
      follower(notes, (_tool, child) => {
        if (isFirst) child.own('slow', () => slow.promise);
        isFirst = false;
      }),
    );
    await host.kernel.replace(toolPlugin('a', 'one'));
    await host.kernel.replace(toolPlugin('a', 'one'));
    expect(notes).to.deep.equal(['+one']);
    slow.resolve();
    await breathe();
    expect(notes).to.deep.equal(['+one', '-one', '+one']);
  });

  it('ends in exactly what is there after a storm of changes', async () => {
    await using host = await startKernel();
    const notes: string[] = [];
    const live = new Set<string>();
    await host.kernel.load(
      follower(notes, async (tool, child) => {
        expect(live.has(tool.name)).to.equal(false);
        live.add(tool.name);
        child.own('slow', async () => {
          await breathe();
          live.delete(tool.name);
        });
      }),
    );
    let register: (name: string) => Disposer = () => () => undefined;
    await host.kernel.load(
      definePlugin({
        name: 'source',
        setup(ctx) {
          register = (name) => ctx.register('tool', toolNamed(name));
        },
      }),
    );
    const held = new Map<string, Disposer>();
    for (let step = 0; step < 300; step += 1) {
      const name = `t${(step * 7) % 5}`;
      const undo = held.get(name);
      held.delete(name);
      if (undo) void undo();
      else held.set(name, register(name));
      if (step % 11 === 0) await Promise.resolve();
      if (step % 50 === 0) await breathe();
    }
    for (let round = 0; round < 10; round += 1) await breathe();
    expect([...live].toSorted()).to.deep.equal(
      host.kernel
        .registry('tool')
        .list()
        .map(({ name }) => name)
        .toSorted(),
    );
    expect(host.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('logs a callback that fails and undoes what it had done', async () => {
    await using host = await startKernel();
    const notes: string[] = [];
    await host.kernel.load(
      follower(notes, async (tool) => {
        if (tool.name === 'bad') throw new Error('cannot follow');
      }),
    );
    await host.kernel.load(toolPlugin('a', 'bad'));
    await host.kernel.load(toolPlugin('b', 'good'));
    await breathe();
    expect(notes).to.deep.equal(['+bad', '-bad', '+good']);
    expect(host.lines.at(-1)).to.deep.include({ level: 'error', plugin: 'follower', message: 'forEach failed on tool bad' });
  });

  it('does not wait for a callback that hangs when the item leaves or the plugin closes', async () => {
    await using host = await startKernel();
    const notes: string[] = [];
    const wakeUp = signal();
    await host.kernel.load(
      follower(notes, async (_tool, child) => {
        await wakeUp.promise;
        child.own('late', () => void notes.push('late undone'));
      }),
    );
    await host.kernel.load(toolPlugin('a', 'one'));
    await host.kernel.unload('follower');
    expect(notes).to.deep.equal(['+one', '-one']);
    wakeUp.resolve();
    await breathe();
    expect(notes).to.deep.equal(['+one', '-one', 'late undone']);
  });

  it('can be ended alone', async () => {
    await using host = await startKernel();
    let end: Disposer = () => undefined;
    const notes: string[] = [];
    await host.kernel.load(toolPlugin('a', 'one'));
    await host.kernel.load(
      definePlugin({
        name: 'follower',
        setup(ctx) {
          end = ctx.forEach('tool', (_tool, child) => void child.own('x', () => void notes.push('undone')));
        },
      }),
    );
    await end();
    await host.kernel.load(toolPlugin('b', 'two'));
    expect(notes).to.deep.equal(['undone']);
    expect(host.kernel.status().find(({ name }) => name === 'follower')?.effects.children).to.deep.equal([]);
  });
});

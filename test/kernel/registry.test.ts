import { expect } from 'chai';
import { definePlugin, type Registration, type Tool } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { rejection, signal, startKernel, toolNamed, toolPlugin } from './kernel-fixture.ts';

/** Loads a plugin that registers tool "t" and hands back its registration. */
async function registered(kernel: Awaited<ReturnType<typeof startKernel>>['kernel']): Promise<Registration<Tool>> {
  let registration: Registration<Tool> | undefined;
  await kernel.load(
    definePlugin({
      name: 'owner',
      setup(ctx) {
        registration = ctx.register('tool', toolNamed('t'));
      },
    }),
  );
  if (!registration) throw new Error('not registered');
  return registration;
}

describe('Registry', () => {
  it('finds items by their exact name only and knows their owner', async () => {
    await using host = await startKernel();
    await host.kernel.load(toolPlugin('a', 'read'));
    const tools = host.kernel.registry('tool');
    expect(tools.get('read')?.name).to.equal('read');
    expect(tools.get('Read')).to.equal(undefined);
    expect(tools.get(' read')).to.equal(undefined);
    expect(tools.get('constructor')).to.equal(undefined);
    expect(tools.ownerOf('read')).to.equal('a');
    expect(tools.ownerOf('write')).to.equal(undefined);
  });

  it('lists items in order of registration, as the same frozen array until the next change', async () => {
    await using host = await startKernel();
    const tools = host.kernel.registry('tool');
    await host.kernel.load(toolPlugin('b', 'two'));
    await host.kernel.load(toolPlugin('a', 'one'));
    expect(tools.list().map(({ name }) => name)).to.deep.equal(['two', 'one']);
    expect(tools.list()).to.equal(tools.list());
    expect(Object.isFrozen(tools.list())).to.equal(true);
  });

  it('never overwrites: a clash fails the newcomer and names both owners', async () => {
    await using host = await startKernel();
    await host.kernel.load(toolPlugin('first', 'read'));
    const { state, error } = await host.kernel.load(toolPlugin('second', 'read'));
    expect(state).to.equal('failed');
    expect(error).to.have.property('code', 'ORYX_NAME_TAKEN');
    expect(error?.message).to.include('"read"').and.include('"first"').and.include('"second"');
    expect(host.kernel.registry('tool').ownerOf('read')).to.equal('first');
  });

  it('refuses a second item of the same name from one plugin, also during setup', async () => {
    await using host = await startKernel();
    const { error } = await host.kernel.load(
      definePlugin({
        name: 'twice',
        setup(ctx) {
          ctx.register('tool', toolNamed('t'));
          ctx.register('tool', toolNamed('t'));
        },
      }),
    );
    expect(error).to.have.property('code', 'ORYX_NAME_TAKEN');
    expect(host.kernel.registry('tool').list()).to.deep.equal([]);
  });

  it('swaps an item in place: nobody sees a moment without it', async () => {
    await using host = await startKernel();
    const registration = await registered(host.kernel);
    const tools = host.kernel.registry('tool');
    const seen: unknown[] = [];
    void tools.onChange((change, item) => seen.push([change, item.description, tools.get('t')?.description]));
    registration.replace({ ...toolNamed('t'), description: 'new' });
    expect(seen).to.deep.equal([
      ['removed', '', 'new'],
      ['added', 'new', 'new'],
    ]);
  });

  it('refuses a swap for another name, and a swap of what has been taken out', async () => {
    await using host = await startKernel();
    const registration = await registered(host.kernel);
    expect(() => registration.replace(toolNamed('other')))
      .to.throw('"t"')
      .with.property('code', 'ORYX_NAME_CHANGED');
    await registration();
    await registration();
    expect(host.kernel.registry('tool').list()).to.deep.equal([]);
    expect(() => registration.replace(toolNamed('t')))
      .to.throw('taken out')
      .with.property('code', 'ORYX_SCOPE_CLOSED');
  });

  it('counts every change in its version', async () => {
    await using host = await startKernel();
    const tools = host.kernel.registry('tool');
    const versions = [tools.version];
    const registration = await registered(host.kernel);
    versions.push(tools.version);
    registration.replace(toolNamed('t'));
    versions.push(tools.version);
    await registration();
    versions.push(tools.version);
    expect(new Set(versions).size).to.equal(4);
    expect(versions).to.deep.equal(versions.toSorted((a, b) => a - b));
  });

  it('logs a listener that throws and still calls the others', async () => {
    await using host = await startKernel();
    const tools = host.kernel.registry('tool');
    const seen: string[] = [];
    void tools.onChange(() => {
      throw new Error('listener broke');
    });
    const unlisten = tools.onChange((change) => seen.push(change));
    const registration = await registered(host.kernel);
    expect(seen).to.deep.equal(['added']);
    expect(host.lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['error']))).to.deep.equal([
      'Error: listener broke',
    ]);
    await unlisten();
    await registration();
    expect(seen).to.deep.equal(['added']);
  });

  it('keeps a plugin open while one of its items is in use', async () => {
    await using host = await startKernel();
    let isClosed = false;
    await host.kernel.load(
      definePlugin({
        name: 'owner',
        setup(ctx) {
          ctx.own('resource', () => void (isClosed = true));
          ctx.register('tool', toolNamed('t'));
        },
      }),
    );
    const work = signal<string>();
    const use = host.kernel.registry('tool').use('t', 'tool t', (tool) => work.promise.then((text) => `${tool.name} ${text} ${isClosed}`));
    const unloading = host.kernel.unload('owner');
    await breathe();
    expect(host.kernel.registry('tool').get('t')).to.equal(undefined);
    expect(isClosed).to.equal(false);
    work.resolve('done');
    expect(await use).to.equal('t done false');
    await unloading;
    expect(isClosed).to.equal(true);
  });

  it('answers a use of what does not exist with undefined, and passes a failure on', async () => {
    await using host = await startKernel();
    const tools = host.kernel.registry('tool');
    expect(await tools.use('t', 'tool t', () => 1)).to.equal(undefined);
    await registered(host.kernel);
    expect((await rejection(tools.use('t', 'tool t', () => Promise.reject(new Error('broke'))))).message).to.equal('broke');
  });
});

import { expect } from 'chai';
import { createKernel, definePlugin, type Plugin, type PluginState } from '../../kernel/index.ts';
import { breathe, fakeClock } from '../harness/fake-clock.ts';
import { rejection, signal, startKernel, ticked, toolNamed, toolPlugin } from './kernel-fixture.ts';

const configured = (seen: unknown[]): Plugin =>
  definePlugin({
    name: 'configured',
    config: {
      type: 'object',
      properties: { port: { type: 'integer', default: 8080 }, hosts: { type: 'array', items: { type: 'string' }, default: [] } },
      additionalProperties: false,
    },
    setup(ctx) {
      seen.push(ctx.config);
    },
  });

describe('Kernel', () => {
  describe('load', () => {
    it('runs setup and reports an active plugin with what it holds', async () => {
      await using host = await startKernel();
      const status = await host.kernel.load(
        definePlugin({
          name: 'full',
          version: '1.2.3',
          setup(ctx) {
            ctx.own('timer', () => undefined);
            ctx.register('tool', toolNamed('t'));
            ctx.tap('beforeTurn', () => undefined);
            ctx.provide('testResource', { generation: 1, use: () => undefined });
            ctx.fork('job').own('watch', () => undefined);
          },
        }),
      );
      expect(status).to.deep.equal({
        name: 'full',
        version: '1.2.3',
        state: 'active',
        requires: [],
        missing: [],
        generation: 1,
        effects: {
          label: 'full',
          children: [
            ...['timer', 'tool t', 'tap beforeTurn', 'service testResource'].map((label) => ({ label, children: [] })),
            { label: 'job', children: [{ label: 'watch', children: [] }] },
          ],
        },
      });
      expect(host.kernel.status().at(-1)).to.deep.equal(status);
    });

    it('rejects a name that is in use, and changes nothing', async () => {
      await using host = await startKernel();
      await host.kernel.load(toolPlugin('a', 'one'));
      expect(await rejection(host.kernel.load(toolPlugin('a', 'two')))).to.include({ code: 'ORYX_PLUGIN_LOADED' });
      expect(host.kernel.registry('tool').list()).to.have.length(1);
    });

    it('hands over the configuration validated, with defaults, frozen, apart from the original', async () => {
      await using host = await startKernel();
      const seen: unknown[] = [];
      const given = { hosts: ['a'] };
      await host.kernel.load(configured(seen), given);
      expect(seen).to.deep.equal([{ port: 8080, hosts: ['a'] }]);
      expect(Object.isFrozen((seen[0] as typeof given).hosts)).to.equal(true);
      expect(Object.isFrozen(given.hosts)).to.equal(false);
      await host.kernel.replace(configured(seen));
      expect(seen[1]).to.deep.equal({ port: 8080, hosts: [] });
    });

    it('fails a plugin with a wrong configuration and names plugin and property', async () => {
      await using host = await startKernel();
      const { state, error } = await host.kernel.load(configured([]), { port: 'x' });
      expect(state).to.equal('failed');
      expect(error).to.include({
        code: 'ORYX_PLUGIN_CONFIG',
        message: 'the configuration of plugin "configured" is wrong: port must be an integer',
      });
    });

    it('leaves nothing behind of a setup that throws half-way', async () => {
      await using host = await startKernel();
      const order: string[] = [];
      const { state, error, effects } = await host.kernel.load(
        definePlugin({
          name: 'half',
          setup(ctx) {
            for (const name of ['a', 'b']) ctx.own(name, () => void order.push(name));
            ctx.register('tool', toolNamed('t'));
            ctx.tap('beforeTurn', () => undefined);
            ctx.provide('testResource', { generation: 1, use: () => undefined });
            throw new Error('disk is full');
          },
        }),
      );
      expect(state).to.equal('failed');
      expect(error).to.include({ code: 'ORYX_PLUGIN_FAILED', message: 'plugin "half" failed to start: disk is full' });
      expect(error?.cause).to.have.property('message', 'disk is full');
      expect(order).to.deep.equal(['b', 'a']);
      expect(effects.children).to.deep.equal([]);
      expect([host.kernel.registry('tool').list(), host.kernel.tapCount(), host.kernel.hasService('testResource')]).to.deep.equal([
        [],
        0,
        false,
      ]);
    });

    it('can be tried again after a failure', async () => {
      await using host = await startKernel();
      await host.kernel.load(configured([]), { port: 'x' });
      expect(await host.kernel.replace(configured([]), { port: 1 }))
        .to.include({ state: 'active', generation: 2 })
        .and.not.have.property('error');
    });

    it('gives up a setup after 30 s; what it does later is undone or refused', async () => {
      await using host = await startKernel();
      const wakeUp = signal();
      const late: unknown[] = [];
      let isAborted = false;
      const loading = host.kernel.load(
        definePlugin({
          name: 'hung',
          async setup(ctx) {
            ctx.signal.addEventListener('abort', () => void (isAborted = true));
            await wakeUp.promise;
            for (const act of [() => ctx.own('late', () => void late.push('undone')), () => ctx.register('tool', toolNamed('t'))]) {
              try {
                act();
              } catch (error) {
                late.push((error as { code?: string }).code);
              }
            }
            throw new Error('nobody listens');
          },
        }),
      );
      await breathe();
      expect(host.kernel.status().at(-1)?.state).to.equal('starting');
      await host.clock.tick(30_000);
      expect(await loading).to.have.property('state', 'failed');
      expect(host.kernel.status().at(-1)?.error).to.include({ code: 'ORYX_SETUP_TIMEOUT' });
      expect(isAborted).to.equal(true);
      wakeUp.resolve();
      await breathe();
      expect(late).to.deep.equal(['undone', 'ORYX_SCOPE_CLOSED', 'ORYX_SCOPE_CLOSED']);
      expect(host.kernel.registry('tool').list()).to.deep.equal([]);
    });

    it('shows nothing of a plugin before its setup has succeeded, and then everything at once', async () => {
      await using host = await startKernel();
      const proceed = signal();
      const loading = host.kernel.load(
        definePlugin({
          name: 'slow',
          async setup(ctx) {
            ctx.register('tool', toolNamed('one'));
            ctx.tap('onSchedule', () => ({ skip: 'slow' }));
            await proceed.promise;
            ctx.register('tool', toolNamed('two'));
          },
        }),
      );
      const counts: number[] = [];
      void host.kernel.registry('tool').onChange(() => void counts.push(host.kernel.registry('tool').list().length));
      await breathe();
      expect([host.kernel.registry('tool').list().length, host.kernel.tapCount()]).to.deep.equal([0, 0]);
      expect(await host.kernel.hooks.onSchedule({ scheduleId: 's', profile: 'p', message: '', firedAt: 0 })).to.equal(undefined);
      proceed.resolve();
      await loading;
      expect(counts).to.deep.equal([2, 2]);
      expect(host.kernel.tapCount()).to.equal(1);
    });

    it('detects at publication a name that was taken while the plugin was being set up', async () => {
      await using host = await startKernel();
      const proceed = signal();
      let register: () => void = () => undefined;
      await host.kernel.load(
        definePlugin({
          name: 'live',
          setup(ctx) {
            register = () => void ctx.register('tool', toolNamed('t'));
          },
        }),
      );
      let isUndone = false;
      const changes: string[] = [];
      void host.kernel.registry('tool').onChange((change, { name }) => void changes.push(`${change} ${name}`));
      const loading = host.kernel.load(
        definePlugin({
          name: 'slow',
          async setup(ctx) {
            ctx.own('resource', () => void (isUndone = true));
            ctx.register('tool', toolNamed('free'));
            ctx.register('tool', toolNamed('t'));
            await proceed.promise;
          },
        }),
      );
      await breathe();
      register();
      proceed.resolve();
      expect((await loading).error).to.have.property('code', 'ORYX_NAME_TAKEN');
      expect(isUndone).to.equal(true);
      expect(host.kernel.registry('tool').ownerOf('t')).to.equal('live');
      expect(changes).to.deep.equal(['added t']);
    });
  });

  describe('a plugin that is active', () => {
    it('registers, taps and undoes live', async () => {
      await using host = await startKernel();
      let toggle: () => Promise<void> = async () => undefined;
      await host.kernel.load(
        definePlugin({
          name: 'live',
          setup(ctx) {
            toggle = async () => {
              const undo = ctx.register('tool', toolNamed('t'));
              ctx.tap('beforeTurn', () => undefined);
              expect(ctx.registry('tool').get('t')?.name).to.equal('t');
              await undo();
            };
          },
        }),
      );
      await toggle();
      expect([host.kernel.registry('tool').list().length, host.kernel.tapCount()]).to.deep.equal([0, 1]);
    });

    it('closes a fork alone, with everything that was done in it', async () => {
      await using host = await startKernel();
      let closeFork: () => Promise<void> = async () => undefined;
      const order: string[] = [];
      const status = await host.kernel.load(
        definePlugin({
          name: 'forked',
          setup(ctx) {
            const child = ctx.fork('job');
            expect(child.name).to.equal('forked/job');
            child.register('tool', toolNamed('inside'));
            child.own('timer', () => void order.push(`timer, aborted ${child.signal.aborted}`));
            ctx.register('tool', toolNamed('outside'));
            closeFork = async () => child[Symbol.asyncDispose]();
          },
        }),
      );
      expect(status.effects.children.map(({ label }) => label)).to.deep.equal(['job', 'tool outside']);
      await closeFork();
      expect(order).to.deep.equal(['timer, aborted true']);
      expect(
        host.kernel
          .registry('tool')
          .list()
          .map(({ name }) => name),
      ).to.deep.equal(['outside']);
    });
  });

  describe('unload', () => {
    it('undoes everything, last effect first, and forgets the plugin', async () => {
      await using host = await startKernel();
      const order: string[] = [];
      await host.kernel.load(
        definePlugin({
          name: 'p',
          setup(ctx) {
            ctx.own('a', () => void order.push('a'));
            ctx.register('tool', toolNamed('t'));
            ctx.own('b', () => void order.push('b'));
          },
        }),
      );
      await host.kernel.unload('p');
      expect(order).to.deep.equal(['b', 'a']);
      expect(host.kernel.status().map(({ name }) => name)).to.deep.equal(['test-log']);
      expect(host.kernel.registry('tool').list()).to.deep.equal([]);
    });

    it('does nothing for a plugin that is not loaded', async () => {
      await using host = await startKernel();
      await host.kernel.unload('nobody');
    });

    it('withdraws first, then aborts, then waits for calls in flight, then undoes', async () => {
      await using host = await startKernel();
      const seen: unknown[] = [];
      const work = signal();
      await host.kernel.load(
        definePlugin({
          name: 'p',
          setup(ctx) {
            const tools = ctx.registry('tool');
            ctx.own('resource', () => void seen.push('undone'));
            ctx.register('tool', toolNamed('t'));
            ctx.signal.addEventListener('abort', () => seen.push(['aborted', tools.get('t'), host.kernel.status().at(-1)?.state]));
          },
        }),
      );
      const use = host.kernel.registry('tool').use('t', 'tool t', () => work.promise.then(() => seen.push('call ended')));
      const unloading = host.kernel.unload('p');
      await breathe();
      expect(seen).to.deep.equal([['aborted', undefined, 'stopping']]);
      work.resolve();
      await Promise.all([use, unloading]);
      expect(seen.slice(1)).to.deep.equal(['call ended', 'undone']);
    });

    it('stops waiting after 10 s, and warns with the name of the stuck call', async () => {
      await using host = await startKernel();
      await host.kernel.load(toolPlugin('p', 't'));
      void host.kernel.registry('tool').use('t', 'tool t of turn 7', () => new Promise(() => undefined));
      const unloading = host.kernel.unload('p');
      await breathe();
      await host.clock.tick(9_999);
      expect(host.kernel.status().at(-1)?.state).to.equal('stopping');
      await host.clock.tick(1);
      await unloading;
      const warning = host.lines.find(({ level }) => level === 'warn');
      expect(warning?.fields).to.deep.equal({ closing: 'p', calls: ['tool t of turn 7'] });
    });

    it('logs effects that cannot be undone and undoes the others', async () => {
      await using host = await startKernel();
      let isUndone = false;
      await host.kernel.load(
        definePlugin({
          name: 'p',
          setup(ctx) {
            ctx.own('good', () => void (isUndone = true));
            ctx.own('bad', () => Promise.reject(new Error('stuck valve')));
          },
        }),
      );
      await host.kernel.unload('p');
      expect(isUndone).to.equal(true);
      expect(host.lines.at(-1)).to.deep.include({ level: 'error', message: 'an effect could not be undone' });
      expect(String(host.lines.at(-1)?.fields['error'])).to.include('stuck valve');
    });

    it('is bounded when a plugin waits for its own unloading in a tap', async () => {
      await using host = await startKernel();
      await host.kernel.load(
        definePlugin({
          name: 'selfish',
          requires: ['kernel'],
          setup(ctx) {
            ctx.tap('beforeTurn', () => ctx.services.kernel.unload('selfish'));
          },
        }),
      );
      const call = host.kernel.hooks.beforeTurn({} as never);
      await ticked(host.clock, call);
      await ticked(host.clock, host.kernel.settled());
      expect(host.kernel.status().map(({ name }) => name)).to.deep.equal(['test-log']);
    });

    it('refuses what a plugin adds while it is stopping', async () => {
      await using host = await startKernel();
      let code: string | undefined;
      await host.kernel.load(
        definePlugin({
          name: 'p',
          setup(ctx) {
            ctx.own('resource', () => {
              try {
                ctx.register('tool', toolNamed('late'));
              } catch (error) {
                code = (error as { code?: string }).code;
              }
            });
          },
        }),
      );
      await host.kernel.unload('p');
      expect(code).to.equal('ORYX_SCOPE_CLOSED');
      expect(host.kernel.registry('tool').list()).to.deep.equal([]);
    });
  });

  describe('close', () => {
    it('unloads everything, last loaded first, once', async () => {
      const kernel = createKernel({ clock: fakeClock() });
      const order: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        await kernel.load(
          definePlugin({
            name,
            setup(ctx) {
              ctx.own('x', () => void order.push(name));
            },
          }),
        );
      }
      await Promise.all([kernel.close(), kernel.close()]);
      expect(order).to.deep.equal(['c', 'b', 'a']);
      expect(kernel.status()).to.deep.equal([]);
    });

    it('takes no more plugins', async () => {
      const kernel = createKernel({ clock: fakeClock() });
      const closing = kernel.close();
      expect(await rejection(kernel.load(toolPlugin('a', 't')))).to.have.property('code', 'ORYX_STOPPING');
      expect(await rejection(kernel.replace(toolPlugin('a', 't')))).to.have.property('code', 'ORYX_STOPPING');
      await closing;
    });

    it('does not wait for a setup that is under way', async () => {
      const host = await startKernel();
      const states: (PluginState | undefined)[] = [];
      const loading = host.kernel.load(definePlugin({ name: 'hung', setup: () => new Promise(() => undefined) }));
      await breathe();
      const closing = host.kernel.close();
      states.push((await loading).state);
      await closing;
      expect(states).to.deep.equal(['failed']);
    });
  });

  it('runs changes one after another', async () => {
    await using host = await startKernel();
    const order: string[] = [];
    const proceed = signal();
    const slow = host.kernel.load(definePlugin({ name: 'slow', setup: () => proceed.promise })).then(() => order.push('slow'));
    const quick = host.kernel.load(definePlugin({ name: 'quick', setup: () => undefined })).then(() => order.push('quick'));
    await breathe();
    expect(order).to.deep.equal([]);
    proceed.resolve();
    await Promise.all([slow, quick]);
    expect(order).to.deep.equal(['slow', 'quick']);
  });

  it('provides itself and the services of its creator', async () => {
    const resource = { generation: 7, use: () => undefined };
    const kernel = createKernel({ clock: fakeClock(), services: { testResource: resource } });
    expect(kernel.service('kernel')).to.equal(kernel);
    expect(kernel.service('testResource')).to.equal(resource);
    expect(() => kernel.service('engine'))
      .to.throw('"engine"')
      .with.property('code', 'ORYX_SERVICE_MISSING');
    expect(() => kernel.provideBuiltIn('testResource', resource))
      .to.throw()
      .with.property('code', 'ORYX_SERVICE_TAKEN');
    await kernel.close();
  });
});

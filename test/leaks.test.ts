/** Nothing stays behind when a host, or one of its plugins, has gone. */
import { AsyncLocalStorage, executionAsyncResource } from 'node:async_hooks';
import { expect } from 'chai';
import sandbox from '../plugins/sandbox/index.ts';
import memory from '../plugins/memory/index.ts';
import tools from '../plugins/tools/index.ts';
import { agentFile, startHost, until } from './harness/index.ts';

const resources = (): readonly string[] => process.getActiveResourcesInfo();

/** Whether there is no more of any kind than before; less is fine, since a file watcher that was closed keeps a timer for one second. */
const isNoMore = (before: readonly string[]): boolean =>
  resources().every((kind, _index, now) => now.filter((each) => each === kind).length <= before.filter((each) => each === kind).length);

/** How many context storages Node notes on every new promise: one for each that was used and not switched off. */
async function storagesCarried(): Promise<number> {
  const own = new AsyncLocalStorage<true>();
  const count = await own.run(true, async () => {
    await Promise.resolve();
    return Object.getOwnPropertySymbols(executionAsyncResource()).filter(({ description }) => description === 'kResourceStore').length;
  });
  own.disable();
  return count;
}

describe('leaks', () => {
  it('a host that has closed leaves no handle, timer or listener, however often it is started', async function () {
    this.timeout(60_000);
    const once = async (): Promise<void> => {
      await using host = await startHost({ agents: { t: agentFile('t', 'tools: [current_time]') } });
      host.model.willCall('current_time');
      expect((await host.request('POST', '/api/v1/agents/t/invoke', { content: 'hi' })).status).to.equal(200);
    };
    await once();
    const before = resources();
    const carried = await storagesCarried();
    const listeners = process.eventNames().map((name) => process.listenerCount(name));
    for (let round = 0; round < 10; round += 1) await once();
    await until('sockets to close', () => isNoMore(before));
    expect(process.eventNames().map((name) => process.listenerCount(name))).to.deep.equal(listeners);
    expect(await storagesCarried()).to.equal(carried);
  });

  it('plugins that are unloaded and loaded fifty times hold what they held the first time', async function () {
    this.timeout(60_000);
    await using host = await startHost();
    const { kernel } = host;
    const picture = (): unknown => ({
      status: kernel
        .status()
        .map(({ name, state, effects }) => `${name} ${state} ${effects.children.length}`)
        .sort(),
      taps: kernel.tapCount(),
      tools: kernel
        .registry('tool')
        .list()
        .map(({ name }) => name)
        .sort(),
      routes: kernel
        .registry('route')
        .list()
        .map(({ name }) => name)
        .sort(),
      parts: kernel
        .registry('promptPart')
        .list()
        .map(({ name }) => name)
        .sort(),
    });
    const config = { allowedPaths: [], protect: true, allowedCommands: [], allowedDomains: [] };
    const before = picture();
    for (let round = 0; round < 50; round += 1) {
      await kernel.unload('tools');
      await kernel.unload('memory');
      await kernel.unload('sandbox');
      await kernel.load(sandbox, config);
      await kernel.load(memory);
      await kernel.load(tools);
    }
    await kernel.settled();
    expect(picture()).to.deep.equal(before);
    host.model.willSay('still here');
    expect((await host.say('default', 'hi')).reply).to.equal('still here');
  });
});

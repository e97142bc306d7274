/** What makes tool calls safe: three guards. Each is switched off in turn, in every way in which it can be missing. */
import { expect } from 'chai';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { definePlugin, defineTool, ok, type Plugin } from '../kernel/index.ts';
import audit from '../plugins/audit/index.ts';
import policy from '../plugins/policy/index.ts';
import sandbox from '../plugins/sandbox/index.ts';
import { agentFile, startHost, type TestHost } from './harness/index.ts';

const WHITELIST = { allowedPaths: [], protect: true, allowedCommands: [], allowedDomains: [] };
const GUARDS: readonly (readonly [Plugin, unknown])[] = [
  [sandbox, WHITELIST],
  [policy, {}],
  [audit, {}],
];

describe('the guards', function () {
  this.timeout(20_000);
  let host: TestHost;
  let ran: string[];
  beforeEach(async () => {
    ran = [];
    const tool = (name: string) =>
      defineTool({
        name,
        description: name,
        input: { type: 'object' },
        async execute() {
          ran.push(name);
          return ok(name);
        },
      });
    const tools = definePlugin({
      name: 'harmless',
      setup: (ctx) => ['fine', 'denied'].forEach((name) => ctx.register('tool', tool(name))),
    });
    const front = 'tools: [fine, denied, read_file]\nsettings: {on_fatal_tool_error: feedback}';
    host = await startHost({ agents: { t: agentFile('t', front) }, plugins: [tools], config: { 'file.allowed_paths': [] } });
    await host.request('POST', '/api/v1/tool-policy/rules', { ruleType: 'GLOBAL_DENY', pattern: 'denied' });
  });
  afterEach(() => host.stop());

  /** What the model was told about one call. */
  const call = async (name: string, args: unknown = {}): Promise<string> => {
    host.model.willCall(name, args);
    await host.say('t', 'go');
    return host.model.requests.at(-1)?.messages.at(-1)?.content ?? '';
  };

  for (const [guard, config] of GUARDS) {
    it(`let no tool run while ${guard.name} waits for something that it needs`, async () => {
      await host.kernel.unload(guard.name);
      const waiting = definePlugin({ ...guard, requires: [...guard.requires, 'neverThere' as never], setup: () => undefined });
      expect((await host.kernel.load(waiting, config)).state).to.equal('pending');
      expect(await call('fine')).to.include(`the guard "${guard.name}" is pending; no tool runs until it is active`);
      expect(ran).to.deep.equal([]);
      await host.kernel.unload(guard.name);
      expect((await host.kernel.load(guard, config)).state).to.equal('active');
      expect(await call('fine')).to.equal('fine');
    });

    it(`let no tool run after ${guard.name} has failed to start`, async () => {
      await host.kernel.unload(guard.name);
      const failing = { ...guard, setup: () => Promise.reject(new Error('no')) };
      expect((await host.kernel.load(failing, config)).state).to.equal('failed');
      expect(await call('fine')).to.include(`the guard "${guard.name}" is failed`);
      expect(ran).to.deep.equal([]);
    });

    it(`let no tool run while ${guard.name} is being unloaded`, async () => {
      let told = '';
      const slow = {
        ...guard,
        setup: (ctx: Parameters<Plugin['setup']>[0]) => void ctx.own('slow', async () => void (told = await call('fine'))),
      };
      await host.kernel.unload(guard.name);
      await host.kernel.load(slow, config);
      await host.kernel.unload(guard.name);
      expect(told).to.include(`the guard "${guard.name}" is stopping`);
      expect(ran).to.deep.equal([]);
    });
  }

  it('are what refuses: with each of them taken out on purpose its refusals are gone, and only its', async () => {
    const outside = join(host.home, 'outside.txt');
    await writeFile(outside, 'OUTSIDE');
    const refusals = async (): Promise<readonly boolean[]> => [
      (await call('read_file', { path: outside })) !== 'OUTSIDE',
      (await call('denied')) !== 'denied',
    ];
    const rows = async (): Promise<number> => (await host.rows('tool_invocations')).length;
    expect(await refusals()).to.deep.equal([true, true]);
    expect(await rows()).to.equal(2);

    await host.kernel.unload('sandbox');
    expect(await refusals()).to.deep.equal([false, true]);
    await host.kernel.load(sandbox, WHITELIST);
    await host.kernel.unload('policy');
    expect(await refusals()).to.deep.equal([true, false]);
    await host.kernel.load(policy);
    const recorded = await rows();
    await host.kernel.unload('audit');
    expect(await refusals()).to.deep.equal([true, true]);
    expect(await rows()).to.equal(recorded);
  });
});

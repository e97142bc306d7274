import { expect } from 'chai';
import { type Claim, definePlugin, defineTool, ok, type Plugin, type Tool, type ToolRun } from '../../kernel/index.ts';
import { agentFile, startHost, type TestHost } from '../harness/index.ts';

const FORBIDDEN: Claim = { kind: 'command', value: 'forbidden' };
const PERMITTED: Claim = { kind: 'command', value: 'ls' };

/** A tool that does `work` and remembers that it ran. */
function worker(work: (run: ToolRun, input: object) => Promise<string>, claims?: () => readonly Claim[]) {
  const state = { runs: 0 };
  const tool = defineTool({
    name: 'work',
    description: 'Work.',
    input: { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } } as const,
    ...(claims && { claims }),
    async execute(input, run) {
      state.runs += 1;
      return ok(await work(run, input));
    },
  });
  return { tool, state };
}

/** Starts a host with the tool and taps, lets the model call it, and gives what the model was told. */
async function told(tool: Tool, args: unknown = {}, taps: Plugin['setup'] = () => undefined): Promise<string> {
  const plugin = definePlugin({
    name: 'worker',
    setup(ctx) {
      ctx.register('tool', tool);
      return taps(ctx as never);
    },
  });
  const front = 'tools: [work]\nsettings: {on_fatal_tool_error: feedback}';
  const host: TestHost = await startHost({
    agents: { t: agentFile('t', front) },
    plugins: [plugin],
    config: { 'shell.allowed_commands': ['ls'] },
  });
  try {
    host.model.willCall('work', args);
    const { error } = await host.say('t', 'go');
    if (error) throw error;
    return host.model.requests.at(-1)?.messages.at(-1)?.content ?? '';
  } finally {
    await host.stop();
  }
}

describe('a tool call', () => {
  it('does not run when a plugin has taken the tool off the list, although the model calls it', async () => {
    const { tool, state } = worker(async () => 'worked');
    const text = await told(tool, {}, (ctx) => void ctx.tap('selectTools', () => []));
    expect(text).to.include('the tool work is withdrawn from agent "t"');
    expect(state.runs).to.equal(0);
  });

  it('does not run when a guard refuses one of its claims', async () => {
    const { tool, state } = worker(
      async () => 'worked',
      () => [PERMITTED, FORBIDDEN],
    );
    expect(await told(tool)).to.include('"forbidden" is not on the shell whitelist');
    expect(state.runs).to.equal(0);
  });

  it('does not run when the tool cannot say what it will touch', async () => {
    const { tool, state } = worker(
      async () => 'worked',
      () => {
        throw new Error('no idea');
      },
    );
    expect(await told(tool)).to.include('There is no whitelist for "unknown"');
    expect(state.runs).to.equal(0);
  });

  it('ends where a guard refuses what it claims on the way', async () => {
    const steps: string[] = [];
    const { tool } = worker(async (run) => {
      await run.claim(PERMITTED);
      steps.push('permitted');
      await run.claim(FORBIDDEN);
      steps.push('forbidden');
      return 'worked';
    });
    expect(await told(tool)).to.include('"forbidden" is not on the shell whitelist');
    expect(steps).to.deep.equal(['permitted']);
  });

  it("is told in the guard's words, whatever error the tool makes of a refusal", async () => {
    const { tool } = worker(async (run) => {
      await run.claim(FORBIDDEN).catch(() => {
        throw new Error('something went wrong, please repeat');
      });
      return 'worked';
    });
    expect(await told(tool))
      .to.include('"forbidden" is not on the shell whitelist')
      .and.not.include('please repeat');
  });

  it('can ask what guards would permit without being refused', async () => {
    const { tool } = worker(async (run) => `${await run.permits(PERMITTED)} ${await run.permits(FORBIDDEN)}`);
    expect(await told(tool)).to.equal('true false');
  });

  it('is judged and run with arguments that nobody can change in between', async () => {
    const changes: boolean[] = [];
    const { tool } = worker(async (_run, input) => JSON.stringify(input));
    const text = await told(tool, { list: ['a'] }, (ctx) => {
      ctx.tap('beforeToolCall', ({ input }) => {
        const { list } = input as { readonly list: readonly string[] };
        changes.push(Reflect.set(input, 'list', ['b']), Reflect.set(list, 0, 'b'), Reflect.set(list, 1, 'b'));
        return undefined;
      });
    });
    expect(text).to.equal('{"list":["a"]}');
    expect(changes).to.deep.equal([false, false, false]);
  });
});

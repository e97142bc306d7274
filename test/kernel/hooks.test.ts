import { expect } from 'chai';
import {
  definePlugin,
  refuse,
  type Claim,
  type HookName,
  type Hooks,
  type KernelHost,
  type LlmAttempt,
  type Plugin,
  type ScheduleFiring,
  type Statement,
  type Tool,
  type ToolCallRecord,
  type ToolResult,
  type Turn,
  type TurnOutcome,
} from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { anyCall, rejection, signal, startKernel, toolNamed } from './kernel-fixture.ts';

const turn = { id: 'turn-1' } as Turn;
const attempt = { call: 1 } as LlmAttempt;
const firing = { scheduleId: 's' } as ScheduleFiring;
const record = { id: 'call-1', toolName: 't' } as ToolCallRecord;
const result: ToolResult = { success: true, content: '' };
const claim: Claim = { kind: 'file', value: '/x' };
const row = (sql: string): Statement => ({ sql, params: [] });

/** A plugin with one tap. */
function tapping<H extends HookName>(
  name: string,
  hook: H,
  fn: Hooks[H],
  options?: { readonly stage?: number; readonly required?: boolean },
): Plugin {
  return definePlugin({
    name,
    setup(ctx) {
      ctx.tap(hook, fn, options);
    },
  });
}

const broken = (): never => {
  throw new Error('secret detail');
};
const hanging = (): Promise<never> => new Promise(() => undefined);

/** Calls every hook once. */
function callAll({ hooks }: KernelHost): Promise<readonly unknown[]> {
  return Promise.all([
    hooks.beforeTurn(turn),
    hooks.afterTurn(turn, {} as TurnOutcome),
    hooks.selectTools([toolNamed('t')], turn),
    hooks.onLlmFailure(attempt, turn),
    hooks.afterLlmCall([row('a')], attempt, turn),
    hooks.beforeToolCall(anyCall),
    hooks.onClaim(claim, anyCall),
    hooks.afterToolCall([row('b')], record, result, 5),
    hooks.onSchedule(firing),
  ]);
}

describe('hooks', () => {
  it('answer with no decision and the value itself when nobody taps', async () => {
    await using host = await startKernel();
    const answers = await callAll(host.kernel);
    const sizes = answers.map((answer) => (Array.isArray(answer) ? answer.length : answer));
    expect(sizes).to.deep.equal([undefined, undefined, 1, undefined, 1, undefined, undefined, 1, undefined]);
  });

  it('call taps in order of stage, then of arrival, with all arguments', async () => {
    await using host = await startKernel();
    const order: unknown[] = [];
    const noted =
      (name: string) =>
      (...args: readonly unknown[]) =>
        void order.push([name, ...args]);
    await host.kernel.load(tapping('late', 'beforeTurn', noted('late'), { stage: 10 }));
    await host.kernel.load(tapping('first', 'beforeTurn', noted('first')));
    await host.kernel.load(tapping('second', 'beforeTurn', noted('second')));
    await host.kernel.load(tapping('early', 'beforeTurn', noted('early'), { stage: -10 }));
    await host.kernel.hooks.beforeTurn(turn);
    expect(order).to.deep.equal(['early', 'first', 'second', 'late'].map((name) => [name, turn]));
  });

  describe('that observe', () => {
    it('log a tap that throws, skip it and call the next', async () => {
      await using host = await startKernel();
      let isCalled = false;
      await host.kernel.load(tapping('broken', 'beforeTurn', broken));
      await host.kernel.load(tapping('next', 'beforeTurn', () => void (isCalled = true)));
      expect(await host.kernel.hooks.beforeTurn(turn)).to.equal(undefined);
      expect(isCalled).to.equal(true);
      expect(host.lines.at(-1)).to.deep.include({ level: 'error', message: 'a hook tap failed' });
      expect(host.lines.at(-1)?.fields).to.deep.include({ hook: 'beforeTurn', tap: 'broken' });
    });

    it('give one tap 5 s, then go on without it', async () => {
      await using host = await startKernel();
      let isCalled = false;
      await host.kernel.load(tapping('hanging', 'beforeTurn', hanging));
      await host.kernel.load(tapping('next', 'beforeTurn', () => void (isCalled = true)));
      const call = host.kernel.hooks.beforeTurn(turn);
      await host.clock.tick(4_999);
      expect(isCalled).to.equal(false);
      await host.clock.tick(1);
      await call;
      expect(isCalled).to.equal(true);
      expect(String(host.lines.at(-1)?.fields['error'])).to.include('plugin "hanging" did not answer beforeTurn within 5 s');
    });
  });

  describe('that decide', () => {
    it('take the first answer, and take null for none', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('shy', 'onSchedule', (() => null) as unknown as Hooks['onSchedule']));
      await host.kernel.load(tapping('veto', 'onSchedule', () => ({ skip: 'holiday' })));
      await host.kernel.load(tapping('later', 'onSchedule', () => ({ skip: 'never asked' })));
      expect(await host.kernel.hooks.onSchedule(firing)).to.deep.equal({ skip: 'holiday' });
    });

    it('refuse a tool call and a claim when a guard throws, without telling its secret', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('policy', 'beforeToolCall', broken));
      await host.kernel.load(tapping('sandbox', 'onClaim', broken));
      const call = await host.kernel.hooks.beforeToolCall(anyCall);
      expect(call?.blockedBy).to.equal('policy');
      expect(call?.message).to.include('"policy"').and.not.include('secret');
      expect(await host.kernel.hooks.onClaim(claim, anyCall)).to.have.property('blockedBy', 'sandbox');
      expect(host.lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['error']))).to.have.length(2);
    });

    it('refuse a tool call when a guard hangs', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('policy', 'beforeToolCall', hanging));
      const call = host.kernel.hooks.beforeToolCall(anyCall);
      await breathe();
      await host.clock.tick(5_000);
      expect((await call)?.message).to.include('did not answer beforeToolCall within 5 s');
    });

    it('skip a schedule whose judge throws, and find no candidate when a fallback throws', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('schedules', 'onSchedule', broken));
      await host.kernel.load(tapping('fallback', 'onLlmFailure', broken));
      expect(await host.kernel.hooks.onSchedule(firing))
        .to.have.property('skip')
        .that.includes('"schedules"');
      expect(await host.kernel.hooks.onLlmFailure(attempt, turn)).to.equal(undefined);
    });
  });

  describe('that transform', () => {
    it('hand each tap the value of the one before; undefined keeps it', async () => {
      await using host = await startKernel();
      const without =
        (name: string): Hooks['selectTools'] =>
        (tools) =>
          tools.filter((tool) => tool.name !== name);
      await host.kernel.load(tapping('a', 'selectTools', without('a')));
      await host.kernel.load(tapping('mute', 'selectTools', (() => undefined) as unknown as Hooks['selectTools']));
      await host.kernel.load(tapping('b', 'selectTools', without('b')));
      const tools: readonly Tool[] = ['a', 'b', 'c'].map(toolNamed);
      expect((await host.kernel.hooks.selectTools(tools, turn)).map(({ name }) => name)).to.deep.equal(['c']);
    });

    it('fail when a tap throws, naming plugin and hook, with the cause', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('policy', 'selectTools', broken));
      const error = await rejection(host.kernel.hooks.selectTools([], turn));
      expect(error).to.include({ code: 'ORYX_HOOK_FAILED', message: 'plugin "policy" failed in selectTools: secret detail' });
      expect(error.cause).to.have.property('message', 'secret detail');
    });

    it('fail when a tap hangs', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('policy', 'selectTools', hanging));
      const failed = rejection(host.kernel.hooks.selectTools([], turn));
      await breathe();
      await host.clock.tick(5_000);
      expect((await failed).code).to.equal('ORYX_HOOK_FAILED');
    });
  });

  describe('that collect', () => {
    it('gather the rows of all taps', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('audit', 'afterToolCall', (rows) => [...rows, row('audit')], { required: true }));
      await host.kernel.load(tapping('metrics', 'afterToolCall', async (rows) => [...rows, row('metrics')]));
      const rows = await host.kernel.hooks.afterToolCall([row('own')], record, result, 5);
      expect(rows.map(({ sql }) => sql)).to.deep.equal(['own', 'audit', 'metrics']);
    });

    it('skip a tap that throws, hangs or returns no rows, and keep those of the others', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('audit', 'afterToolCall', (rows) => [...rows, row('audit')]));
      await host.kernel.load(tapping('broken', 'afterToolCall', broken));
      await host.kernel.load(tapping('hanging', 'afterToolCall', hanging));
      await host.kernel.load(tapping('odd', 'afterToolCall', (() => 5) as unknown as Hooks['afterToolCall']));
      const call = host.kernel.hooks.afterToolCall([], record, result, 5);
      await breathe();
      await host.clock.tick(5_000);
      expect((await call).map(({ sql }) => sql)).to.deep.equal(['audit']);
      expect(host.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['tap'])).to.deep.equal([
        'broken',
        'hanging',
        'odd',
      ]);
    });

    it('fail when a required tap throws or hangs', async () => {
      await using host = await startKernel();
      await host.kernel.load(tapping('audit', 'afterToolCall', broken, { required: true }));
      expect(await rejection(host.kernel.hooks.afterToolCall([], record, result, 5))).to.have.property('code', 'ORYX_HOOK_FAILED');
      await host.kernel.replace(tapping('audit', 'afterToolCall', hanging, { required: true }));
      const failed = rejection(host.kernel.hooks.afterToolCall([], record, result, 5));
      await breathe();
      await host.clock.tick(5_000);
      expect((await failed).message).to.include('"audit"');
    });
  });

  it('run the taps that were there when the call began, and keep all their plugins open until it ends', async () => {
    await using host = await startKernel();
    const asked = signal();
    const answer = signal();
    const states: string[] = [];
    let isClosed = false;
    await host.kernel.load(
      tapping('slow', 'beforeToolCall', async () => {
        asked.resolve();
        await answer.promise;
        return undefined;
      }),
    );
    await host.kernel.load(
      definePlugin({
        name: 'second',
        setup(ctx) {
          ctx.own('resource', () => void (isClosed = true));
          ctx.tap('beforeToolCall', () => {
            states.push(isClosed ? 'closed' : 'open');
            return refuse('second', 'no');
          });
        },
      }),
    );
    const call = host.kernel.hooks.beforeToolCall(anyCall);
    await asked.promise;
    const unloading = host.kernel.unload('second');
    await breathe();
    answer.resolve();
    expect(await call).to.have.property('blockedBy', 'second');
    await unloading;
    expect(states).to.deep.equal(['open']);
    expect(isClosed).to.equal(true);
  });

  it('keep a plugin open while an overdue tap of it still runs', async () => {
    await using host = await startKernel();
    const late = signal();
    let isClosed = false;
    await host.kernel.load(
      definePlugin({
        name: 'slow',
        setup(ctx) {
          ctx.own('resource', () => void (isClosed = true));
          ctx.tap('beforeTurn', () => late.promise);
        },
      }),
    );
    const call = host.kernel.hooks.beforeTurn(turn);
    await breathe();
    await host.clock.tick(5_000);
    await call;
    const unloading = host.kernel.unload('slow');
    await host.clock.tick(9_000);
    expect(isClosed).to.equal(false);
    late.resolve();
    await unloading;
    expect(isClosed).to.equal(true);
  });

  it('let a tap call another hook', async () => {
    await using host = await startKernel();
    await host.kernel.load(tapping('inner', 'onSchedule', () => ({ skip: 'inner' })));
    await host.kernel.load(
      tapping('outer', 'onLlmFailure', async () => {
        const skip = await host.kernel.hooks.onSchedule(firing);
        return { provider: skip?.skip ?? '', model: 'm' };
      }),
    );
    expect(await host.kernel.hooks.onLlmFailure(attempt, turn)).to.have.property('provider', 'inner');
  });

  it('forget a tap that is undone', async () => {
    await using host = await startKernel();
    await host.kernel.load(
      definePlugin({
        name: 'p',
        async setup(ctx) {
          await ctx.tap('onSchedule', () => ({ skip: 'undone during setup' }))();
          const undo = ctx.tap('onSchedule', () => {
            void undo();
            return { skip: 'once' };
          });
        },
      }),
    );
    expect(await host.kernel.hooks.onSchedule(firing)).to.deep.equal({ skip: 'once' });
    expect(await host.kernel.hooks.onSchedule(firing)).to.equal(undefined);
    expect(host.kernel.tapCount()).to.equal(0);
  });
});

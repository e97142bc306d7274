import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlugin, defineTool, ok, type Plugin, type TurnEvent, type TurnRequest } from '../../../kernel/index.ts';
import { agentFile, fakeClock, scriptedModel, startHost, type TestHost, until } from '../../harness/index.ts';

const request = (sessionId: string, input: string, profile = 't'): TurnRequest => ({
  id: randomUUID(),
  profile,
  sessionId,
  origin: 'session',
  input,
  persistent: true,
});

const agents = { t: agentFile('t', 'tools: [mark, look]') };

/** Two tools whose runs are counted; `mark` must not be repeated, `look` may. Both wait for `gate`. */
function marker(): { plugin: Plugin; runs: string[]; hold: () => () => void } {
  const runs: string[] = [];
  let gate = Promise.resolve();
  const tool = (name: string, idempotent: boolean): Parameters<typeof defineTool>[0] => ({
    name,
    description: name,
    idempotent,
    input: { type: 'object' },
    async execute() {
      runs.push(name);
      await gate;
      return ok(`${name} ${runs.length}`);
    },
  });
  const plugin = definePlugin({
    name: 'marker',
    setup(ctx) {
      ctx.register('tool', defineTool(tool('mark', false)));
      ctx.register('tool', defineTool(tool('look', true)));
    },
  });
  const hold = (): (() => void) => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  };
  return { plugin, runs, hold };
}

async function inHome(fn: (home: string) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'oryxos-engine-'));
  try {
    await fn(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Starts on a home whose agents have to be written by hand. */
async function startIn(home: string, plugins: readonly Plugin[], options: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  const host = await startHost({ ...options, home, plugins });
  if (!host.kernel.registry('profile').get('t')) await host.write('agents/t/AGENT.md', agents.t);
  await until('the agent is live', () => host.kernel.registry('profile').get('t'));
  return host;
}

describe('the engine', () => {
  it('runs twenty parallel messages of a session as twenty whole turns in order of arrival', async () => {
    await using host = await startHost({ agents });
    host.model.always((asked) => ({ content: `re: ${asked.messages.at(-1)?.content}` }));
    const turns = host.kernel.service('turns');
    const inputs = Array.from({ length: 20 }, (_, index) => `m${index}`);
    await Promise.all(inputs.map((input) => turns.run(request('web:u:t', input))));
    const history = await host.kernel.service('history').before(request('web:u:t', 'x'), 100);
    expect(history.map(({ content }) => content)).to.deep.equal(inputs.flatMap((input) => [input, `re: ${input}`]));
  });

  it('lets a hundred wait in a session and refuses the next with 429', async () => {
    await using host = await startHost({ agents });
    host.model.will({ after: new Promise(() => undefined) });
    const engine = host.kernel.service('engine');
    for (let index = 0; index <= 100; index += 1) await engine.submit(request('s', String(index)));
    const refused = await engine.submit(request('s', 'one too many')).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'ORYX_SESSION_BUSY', status: 429 });
    await engine.submit(request('other', 'is not concerned'));
  });

  it('takes the same id once', async () => {
    await using host = await startHost({ agents });
    const engine = host.kernel.service('engine');
    const once = request('s', 'hi');
    await Promise.all([engine.submit(once), engine.submit(once)]);
    await engine.outcome(once.id);
    await engine.submit(once);
    expect((await engine.outcome(once.id)).reply).to.equal('ok');
    expect(host.model.requests).to.have.length(1);
  });

  it('tells a late listener the trace and all text so far, then the rest', async () => {
    await using host = await startHost({ agents });
    let more = (): void => undefined;
    const paused = new Promise<void>((resolve) => {
      more = resolve;
    });
    host.model.will({ content: 'first', calls: [{ name: 'nothing' }] });
    host.model.will({ content: 'second', after: paused });
    const engine = host.kernel.service('engine');
    const turn = request('s', 'hi');
    await engine.submit(turn);
    await until('the second call', () => host.model.requests.length === 2);
    const events: TurnEvent[] = [];
    engine.watch(turn.id, (event) => events.push(event));
    more();
    const { reply } = await engine.outcome(turn.id);
    expect(events[0]).to.deep.equal({ type: 'trace', traceId: turn.id });
    expect(events.flatMap((event) => (event.type === 'token' ? [event.delta] : [])).join('')).to.equal(reply);
  });

  it('cancels a run: the model call is aborted, what was done is kept, the session goes on', async () => {
    const { plugin } = marker();
    await using host = await startHost({ agents, plugins: [plugin] });
    host.model.willCall('mark');
    host.model.will({ after: new Promise(() => undefined) });
    const engine = host.kernel.service('engine');
    const turn = request('s', 'go');
    await engine.submit(turn);
    await until('the second model call', () => host.model.requests.length === 2);
    await engine.cancel(turn.id);
    const outcome = await engine.outcome(turn.id);
    expect(outcome.error).to.include({ code: 'ORYX_CANCELLED' });
    host.model.willSay('next');
    await host.kernel.service('turns').run(request('s', 'again'));
    const sent = host.model.requests.at(-1)?.messages.map(({ role }) => role);
    expect(sent).to.deep.equal(['user', 'assistant', 'tool', 'user']);
  });

  it('cancels a run that waits, without waiting for its place', async () => {
    await using host = await startHost({ agents });
    host.model.will({ after: new Promise(() => undefined) });
    const engine = host.kernel.service('engine');
    const [first, second] = [request('s', '1'), request('s', '2')];
    await engine.submit(first);
    await engine.submit(second);
    await engine.cancel(second.id);
    expect((await engine.outcome(second.id)).error).to.include({ code: 'ORYX_CANCELLED' });
    expect(engine.active().map(({ traceId }) => traceId)).to.deep.equal([first.id]);
  });

  it('knows nothing of a run that never was', async () => {
    await using host = await startHost({ agents });
    const engine = host.kernel.service('engine');
    const unknown = await engine.outcome(randomUUID()).catch((error: unknown) => error);
    expect(unknown).to.include({ code: 'ORYX_TURN_UNKNOWN', status: 404 });
    expect(await engine.cancel(randomUUID()).catch((error: unknown) => error)).to.include({ code: 'ORYX_TURN_UNKNOWN' });
  });

  it('runs no more than max-runs at once', async () => {
    await using host = await startHost({ agents, config: { 'oryxos.max-runs': 2 } });
    const release: (() => void)[] = [];
    host.model.always(() => ({ content: 'x', after: new Promise<void>((resolve) => release.push(resolve)) }));
    const turns = Array.from({ length: 5 }, (_, index) => host.tell(`s${index}`, 't', 'hi'));
    await until('two runs', () => release.length === 2);
    expect(
      host.kernel
        .service('engine')
        .active()
        .filter(({ step }) => step !== 'queued'),
    ).to.have.length(2);
    for (let done = 0; done < 5; done += 1) {
      await until('a run to release', () => release.length > 0);
      release.shift()?.();
    }
    await Promise.all(turns);
  });

  it('suspends at a stop and goes on at the next start, without repeating what is done', () =>
    inHome(async (home) => {
      const { plugin, runs } = marker();
      const first = await startIn(home, [plugin]);
      first.model.willCall('mark');
      first.model.will({ after: new Promise(() => undefined) });
      const turn = request('s', 'go');
      await first.kernel.service('engine').submit(turn);
      await until('the second model call', () => first.model.requests.length === 2);
      await first.kernel.service('engine').drain(0);
      await first.stop();
      await using second = await startIn(home, [plugin]);
      const outcome = await second.kernel.service('engine').outcome(turn.id);
      expect(outcome).to.include({ status: 'completed', reply: 'ok' });
      expect(runs).to.deep.equal(['mark']);
      expect(second.model.requests).to.have.length(1);
      expect(second.model.requests[0]?.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool']);
    }));

  it('answers from the journal to the character, whatever the length of what was said', () =>
    inHome(async (home) => {
      const { plugin } = marker();
      const long = 'He said: "\\n" \u0000 \u{1F600} 你好 '.repeat(10_000);
      const first = await startIn(home, [plugin]);
      first.model.will({ content: long, calls: [{ name: 'mark' }] });
      first.model.will({ after: new Promise(() => undefined) });
      const turn = request('s', 'go');
      await first.kernel.service('engine').submit(turn);
      await until('the second model call', () => first.model.requests.length === 2);
      await first.kernel.service('engine').drain(0);
      await first.stop();
      await using second = await startIn(home, [plugin]);
      const { reply } = await second.kernel.service('engine').outcome(turn.id);
      expect(reply === `${long}\n\nok`).to.equal(true);
      expect(second.model.requests[0]?.messages[1]?.content === long).to.equal(true);
    }));

  for (const [name, repeats] of [
    ['mark', 1],
    ['look', 2],
  ] as const) {
    it(`${repeats === 1 ? 'does not repeat a tool that must not be repeated and tells the model so' : 'repeats a tool that may be repeated'} (${name})`, () =>
      inHome(async (home) => {
        const { plugin, runs, hold } = marker();
        const open = hold();
        const first = await startIn(home, [plugin]);
        first.model.willCall(name);
        const turn = request('s', 'go');
        await first.kernel.service('engine').submit(turn);
        await until('the tool runs', () => runs.length === 1);
        await first.kernel.service('engine').drain(0);
        open();
        await first.stop();
        await using second = await startIn(home, [plugin]);
        await second.kernel.service('engine').outcome(turn.id);
        expect(runs).to.have.length(repeats);
        const told = second.model.requests[0]?.messages.at(-1)?.content;
        if (repeats === 1) expect(told).to.include('its outcome is unknown');
        else expect(told).to.equal('look 2');
      }));
  }

  it('gives up after three resumes and keeps what was done', () =>
    inHome(async (home) => {
      const { plugin, runs } = marker();
      const turn = request('s', 'go');
      for (let start = 0; start < 4; start += 1) {
        const model = scriptedModel();
        if (start === 0) model.willCall('mark');
        model.always({ after: new Promise(() => undefined) });
        const host = await startIn(home, [plugin], { model });
        if (start === 0) await host.kernel.service('engine').submit(turn);
        await until('the model call', () => host.model.requests.length === (start === 0 ? 2 : 1));
        await host.kernel.service('engine').drain(0);
        await host.stop();
      }
      await using last = await startIn(home, [plugin]);
      const outcome = await last.kernel.service('engine').outcome(turn.id);
      expect(outcome.status).to.equal('interrupted');
      expect(outcome.error?.message).to.include('interrupted 4 times');
      expect(last.model.requests).to.have.length(0);
      expect(runs).to.deep.equal(['mark']);
      const history = await last.kernel.service('history').before(request('s', 'next'), 20);
      expect(history.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool']);
    }));

  it('does not take up a run that was accepted more than a day ago', () =>
    inHome(async (home) => {
      const clock = fakeClock();
      const first = await startIn(home, [], { clock });
      first.model.will({ after: new Promise(() => undefined) });
      const turn = request('s', 'go');
      await first.kernel.service('engine').submit(turn);
      await until('the model call', () => first.model.requests.length === 1);
      await first.kernel.service('engine').drain(0);
      await first.stop();
      await using second = await startIn(home, [], { clock: fakeClock(clock.now() + 25 * 3600 * 1000) });
      const outcome = await second.kernel.service('engine').outcome(turn.id);
      expect(outcome).to.include({ status: 'interrupted' });
      expect(second.model.requests).to.have.length(0);
    }));

  it('goes on with the version of the agent that the run began with, also after a restart', () =>
    inHome(async (home) => {
      const first = await startIn(home, []);
      await first.write('agents/t/AGENT.md', agentFile('t', 'tools: []', 'OLD words'));
      await until('the old text', () => first.kernel.registry('profile').get('t')?.instructions.includes('OLD'));
      first.model.will({ after: new Promise(() => undefined) });
      const turn = request('s', 'go');
      await first.kernel.service('engine').submit(turn);
      await until('the model call', () => first.model.requests.length === 1);
      await first.write('agents/t/AGENT.md', agentFile('t', 'tools: []', 'NEW words'));
      await first.kernel.service('engine').drain(0);
      await first.stop();
      await using second = await startIn(home, []);
      await second.kernel.service('engine').outcome(turn.id);
      expect(second.model.requests[0]?.system).to.include('OLD words');
      await second.say('t', 'and now?');
      expect(second.model.requests[1]?.system).to.include('NEW words');
    }));

  it('keeps the user message of a run that failed', async () => {
    await using host = await startHost({ agents });
    host.model.willFail();
    const outcome = await host.tell('s', 't', 'first');
    expect(outcome.error).to.include({ code: 'ORYX_PROVIDER_FAILED', status: 503 });
    await host.tell('s', 't', 'second');
    expect(host.model.requests.at(-1)?.messages.map(({ content }) => content)).to.deep.equal(['first', 'second']);
  });

  it('sends the last turns only, cut at turn borders', async () => {
    await using host = await startHost({ agents: { t: agentFile('t', 'tools: []\nsettings:\n  max_history_turns: 2\n') } });
    for (const input of ['one', 'two', 'three']) await host.tell('s', 't', input);
    expect(host.model.requests.at(-1)?.messages.map(({ content }) => content)).to.deep.equal(['two', 'ok', 'three']);
  });
});

import { expect } from 'chai';
import { definePlugin, defineTool, ok } from '../../../kernel/index.ts';
import type { TurnOutcome } from '../../../kernel/index.ts';
import { agentFile, startHost } from '../../harness/index.ts';
import type { TestHost } from '../../harness/index.ts';

const SESSION = 'web:u:a1';
const LONG = Array.from({ length: 20_000 }, (_, index) => `${index} 😀`).join('\n');
const front = (name: string): string =>
  agentFile(name, 'tools: [long, short, read_result]\nsettings:\n  on_fatal_tool_error: feedback\n  max_history_turns: 2');
const texts = definePlugin({
  name: 'texts',
  setup(ctx) {
    for (const [name, text] of [
      ['long', LONG],
      ['short', 'brief'],
    ] as const) {
      ctx.register('tool', defineTool({ name, description: 'Says something.', input: { type: 'object' }, execute: async () => ok(text) }));
    }
  },
});

describe('read_result', function () {
  this.timeout(20_000);

  let host: TestHost;
  before(async () => {
    host = await startHost({ agents: { a1: front('a1') }, plugins: [texts] });
    await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'u' });
  });
  after(() => host.stop());
  const last = ({ messages }: TurnOutcome): string => messages.findLast(({ role }) => role === 'tool')?.content ?? '';
  const read = async (args: Readonly<Record<string, unknown>>, session = SESSION): Promise<string> => {
    host.model.willCall('read_result', args);
    return last(await host.tell(session, 'a1', 'read'));
  };

  it('gives the whole of a result of this very run, page by page, in a run without a session', async () => {
    const pages: string[] = [];
    host.model.willCall('long', {}, 'first');
    host.model.always(({ messages }) => {
      const text = messages.at(-1)?.content ?? '';
      if (text.includes('characters left out; read_result with id "first"'))
        return { calls: [{ name: 'read_result', arguments: { id: 'first' } }] };
      const [cut = '', next] = /\n\[cut: characters \d+-\d+ of \d+ are shown; go on with offset (\d+)\]$/.exec(text) ?? [];
      pages.push(text.slice(0, text.length - cut.length));
      return next === undefined
        ? { content: 'done' }
        : { calls: [{ name: 'read_result', arguments: { id: 'first', offset: Number(next) } }] };
    });
    const { reply } = await host.say('a1', 'go');
    host.model.always({ content: 'ok' });
    expect(reply).to.equal('done');
    expect(pages.length).to.be.greaterThan(4);
    expect(pages.join('') === LONG).to.equal(true);
  });

  it('finds results of earlier turns, also of those that the model is not sent any more', async () => {
    host.model.willCall('long', {}, 'old');
    await host.tell(SESSION, 'a1', 'one');
    for (const text of ['two', 'three', 'four']) await host.tell(SESSION, 'a1', text);
    expect(await read({ id: 'old', offset: 10, limit: 20 })).to.equal(
      `${LONG.slice(10, 30)}\n[cut: characters 10-30 of ${LONG.length} are shown; go on with offset 30]`,
    );
    expect(await read({ tool_call_id: 'old', offset: LONG.length - 3 })).to.equal(' 😀');
  });

  it('never splits a character, and says when nothing is left', async () => {
    const at = LONG.indexOf('😀');
    expect(await read({ id: 'old', offset: at + 1, limit: 1 })).to.match(/^😀\n\[cut: characters 2-4 of /);
    expect(await read({ id: 'old', offset: at, limit: 1 })).to.match(/^😀\n/);
    expect(await read({ id: 'old', offset: LONG.length })).to.equal('(end of result)');
    expect(await read({ id: 'old', offset: 2_000_000_000 })).to.equal('(end of result)');
  });

  it('keeps results apart when a provider uses an id again', async () => {
    host.model.willCall('long', {}, 'call_1');
    await host.tell(SESSION, 'a1', 'one');
    host.model.willCall('short', {}, 'call_1');
    const { messages } = await host.tell(SESSION, 'a1', 'two');
    const id = messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []))[0] ?? '';
    expect(id).to.not.equal('call_1');
    expect(await read({ id })).to.equal('brief');
    expect(await read({ id: 'call_1', limit: 5 })).to.include(LONG.slice(0, 5));
  });

  it('knows nothing of other sessions', async () => {
    await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'v' });
    host.model.willCall('read_result', { id: 'old' });
    expect(last(await host.tell('web:v:a1', 'a1', 'read'))).to.equal('Tool failed: No tool result with id "old" in this session');
    host.model.willCall('read_result', { id: 'old' });
    expect(last(await host.say('a1', 'read'))).to.equal('Tool failed: No tool result with id "old" in this session');
  });

  it('forgets what an agent of the same name said that was deleted', async () => {
    await host.kernel.service('sessions').archiveAllOf('a1');
    expect(await read({ id: 'old' })).to.equal('Tool failed: No tool result with id "old" in this session');
  });
});

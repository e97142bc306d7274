import { expect } from 'chai';
import { definePlugin, defineTool, ok } from '../../../kernel/index.ts';
import { agentFile, fakeClock, startHost, type TestHost, until } from '../../harness/index.ts';
import { openStream, type OpenStream } from './stream-client.ts';

const agents = { t: agentFile('t', 'tools: [ask_color]') };
const SESSION = '/api/v1/sessions/web:u:t/messages';
const INTERACTIVE = { 'x-oryx-interactive': '1' };
const FIVE_MINUTES_MS = 5 * 60 * 1000;

const askColor = definePlugin({
  name: 'ask-color',
  requires: ['asks'],
  setup(ctx) {
    const tool = defineTool({
      name: 'ask_color',
      description: 'Asks which color.',
      input: { type: 'object' },
      timeoutMs: 0,
      async execute(_input, run) {
        return ok(`answer: ${await ctx.services.asks.ask(run.turn.id, 'Which color?', run.signal)}`);
      },
    });
    ctx.register('tool', tool);
  },
});

describe('a question of a run', () => {
  const clock = fakeClock();
  let host: TestHost;
  beforeEach(async () => {
    host = await startHost({ agents, clock, plugins: [askColor] });
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'u' });
    host.model.willCall('ask_color');
  });
  afterEach(() => host.stop());

  const questionOf = (stream: OpenStream) => until('the question arrives', () => stream.events().find(({ event }) => event === 'ask'));
  const answer = (askId: string, body: unknown) => host.request('POST', `/api/v1/asks/${askId}`, body);
  const toolResult = async () => (await host.rows('messages')).find(({ role }) => role === 'tool')?.['content'];

  it('reaches an interactive client, whose answer reaches the tool', async () => {
    const stream = await openStream(host, SESSION, { content: 'paint it' }, INTERACTIVE);
    const { data } = await questionOf(stream);
    expect(data).to.deep.equal({ askId: data.askId, question: 'Which color?' });

    for (const body of [{}, { answer: '' }, { answer: '  ' }, { answer: 7 }]) expect((await answer(data.askId, body)).status).to.equal(400);
    const accepted = await answer(data.askId, { answer: 'blue' });
    expect([accepted.status, accepted.data]).to.deep.equal([200, { answered: true }]);
    expect((await stream.ended()).at(-1)?.event).to.equal('done');
    expect(await toolResult()).to.equal('answer: blue');
    expect((await answer(data.askId, { answer: 'red' })).status).to.equal(404);
  });

  it('is answered with nothing at once when the client is not interactive', async () => {
    for (const headers of [{}, { 'x-oryx-interactive': '0' }]) {
      await host.stream(SESSION, { content: 'paint it' }, headers);
      expect(await toolResult()).to.equal('answer: undefined');
    }
    const json = await host.request('POST', SESSION, { content: 'paint it' }, INTERACTIVE);
    expect(json.status).to.equal(200);
  });

  it('is given up after five minutes', async () => {
    const stream = await openStream(host, SESSION, { content: 'paint it' }, INTERACTIVE);
    const { data } = await questionOf(stream);
    await clock.tick(FIVE_MINUTES_MS - 1);
    expect(stream.events().map(({ event }) => event)).to.deep.equal(['trace', 'tool_start', 'ask']);
    await clock.tick(1);
    await stream.ended();
    expect(await toolResult()).to.equal('answer: undefined');
    expect((await answer(data.askId, { answer: 'blue' })).status).to.equal(404);
  });

  it('is given up when the client leaves', async () => {
    const stream = await openStream(host, SESSION, { content: 'paint it' }, INTERACTIVE);
    await questionOf(stream);
    stream.leave();
    await until('the turn has ended', async () => (await host.rows('turns'))[0]?.['status'] === 'completed');
    expect(await toolResult()).to.equal('answer: undefined');
  });

  it('is given up when the run is stopped', async () => {
    const stream = await openStream(host, SESSION, { content: 'paint it' }, INTERACTIVE);
    const { data } = await questionOf(stream);
    await host.request('DELETE', `/api/v1/runs/${stream.traceId}`);
    expect((await stream.ended()).at(-1)?.event).to.equal('error');
    expect((await answer(data.askId, { answer: 'blue' })).status).to.equal(404);
  });

  it('is shown to a client that attaches to the run, and stays while one of them is there', async () => {
    const keyed = { ...INTERACTIVE, 'idempotency-key': 'k' };
    const first = await openStream(host, SESSION, { content: 'paint it' }, keyed);
    const { data } = await questionOf(first);
    const second = await openStream(host, SESSION, { content: 'paint it' }, keyed);
    expect((await questionOf(second)).data).to.deep.equal(data);
    first.leave();
    await first.ended();
    expect((await answer(data.askId, { answer: 'green' })).status).to.equal(200);
    await second.ended();
    expect(await toolResult()).to.equal('answer: green');
  });

  it('cannot be answered under an id that was never given out', async () => {
    expect((await answer('none', { answer: 'blue' })).status).to.equal(404);
  });
});

import { expect } from 'chai';
import { agentFile, fakeClock, startHost, until } from '../../harness/index.ts';
import { gate, openStream } from './stream-client.ts';

const agents = { t: agentFile('t') };
const SESSION = '/api/v1/sessions/web:u:t/messages';

describe('the runs in progress', () => {
  it('are listed oldest first, running and waiting', async () => {
    const clock = fakeClock(Date.UTC(2026, 5, 28, 10));
    await using host = await startHost({ agents, clock });
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'u' });
    expect((await host.request('GET', '/api/v1/runs')).data).to.deep.equal([]);

    const answer = gate();
    host.model.will({ after: answer.opened });
    const first = await openStream(host, SESSION, { content: 'first' });
    await until('the model is asked', () => host.model.requests.length === 1);
    await clock.tick(1000);
    const second = await openStream(host, SESSION, { content: 'second' });

    const runs = (await host.request('GET', '/api/v1/runs')).data;
    expect(runs).to.have.length(2);
    expect(runs[0].step).to.match(/^llm\b/);
    expect(runs[0]).to.deep.equal({
      traceId: first.traceId,
      agentName: 't',
      sessionId: 'web:u:t',
      origin: 'session',
      startedAt: '2026-06-28T10:00:00.000Z',
      step: runs[0].step,
    });
    expect(runs[1]).to.include({ startedAt: '2026-06-28T10:00:01.000Z', step: 'queued' });

    answer.open();
    await Promise.all([first.ended(), second.ended()]);
    expect((await host.request('GET', '/api/v1/runs')).data).to.deep.equal([]);
  });

  it('can be stopped: the run fails, its message is kept, and the next one goes on', async () => {
    await using host = await startHost({ agents });
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'u' });
    host.model.will({ after: new Promise(() => undefined) });
    const stream = await openStream(host, SESSION, { content: 'never mind' });
    await until('the model is asked', () => host.model.requests.length === 1);
    const next = host.request('POST', SESSION, { content: 'next' });
    const { traceId } = stream;

    const stopped = await host.request('DELETE', `/api/v1/runs/${traceId}`);
    expect([stopped.status, stopped.data]).to.deep.equal([200, { cancelled: true }]);
    const events = await stream.ended();
    expect(events.at(-1)).to.deep.include({ event: 'error' });
    expect(events.at(-1)?.data.code).to.equal(409);
    expect((await next).status).to.equal(200);
    expect(await host.rows('turns')).to.containSubset([{ id: traceId, status: 'failed', error_code: 'ORYX_CANCELLED' }]);
    const { messages } = await host.kernel.service('sessions').view('web:u:t');
    expect(messages.map(({ content }) => content)).to.deep.equal(['never mind', 'next', 'ok']);

    for (const id of [traceId, 'none']) {
      const answer = await host.request('DELETE', `/api/v1/runs/${id}`);
      expect([answer.status, answer.data]).to.deep.equal([404, null]);
    }
  });
});

/** A database that cannot grow: nothing is acknowledged and lost, and all is well again when there is space. */
import { expect } from 'chai';
import { agentFile, startHost, until } from '../harness/index.ts';

describe('a full disk', () => {
  it('refuses messages with a clear reason, still answers questions, and goes on when there is space', async () => {
    await using host = await startHost({ agents: { t: agentFile('t') } });
    const store = host.kernel.service('store');
    const say = (content: string): ReturnType<typeof host.request> =>
      host.request('POST', '/api/v1/sessions/web:default:t/messages', { content });
    await host.request('POST', '/api/v1/sessions', { profile: 't' });
    expect((await say('before')).status).to.equal(200);
    const { page_count: pages } = (await store.get<{ page_count: number }>('PRAGMA page_count')) ?? { page_count: 0 };
    await store.write({ sql: `PRAGMA max_page_count = ${pages}`, params: [] });
    const refused = await until('the disk to be full', async () => {
      const answer = await say('x'.repeat(20_000));
      return answer.status === 200 ? undefined : answer;
    });
    expect(refused).to.include({ status: 503, code: 503 });
    expect(refused.message).to.match(/disk|full|space/i);
    expect((await host.request('GET', '/api/v1/sessions/web:default:t')).status).to.equal(200);
    expect((await host.request('GET', '/api/v1/health')).data).to.include({ status: 'degraded' });
    await store.write({ sql: 'PRAGMA max_page_count = 1000000', params: [] }).catch(() => undefined);
    const after = await until('space', async () => {
      const answer = await say('after');
      return answer.status === 200 ? answer : undefined;
    });
    expect(after.data).to.include({ reply: 'ok' });
    expect((await host.request('GET', '/api/v1/health')).data).to.deep.equal({ status: 'ok' });
    const { data } = await host.request('GET', '/api/v1/sessions/web:default:t');
    expect((data as { messages: { content: string }[] }).messages.at(-2)?.content).to.equal('after');
  });
});

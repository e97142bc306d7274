import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from '../harness/http-client.ts';
import { agentFile } from '../harness/start-host.ts';
import { expectAudited, expectNoRepeats, expectWholeTurns, idle, linesOf } from './crash-checks.ts';
import { startServer } from './server-process.ts';
import { type StatelessModel, statelessModel } from './stateless-model.ts';

const SESSION = 'web:default:t';

async function freshHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'oryxos-crash-'));
  await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
  await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agentFile('t', 'tools: [append_line, peek]'));
  return home;
}

/** Sends one message to a server that may kill itself, restarts it, and checks what is left. Resolves with whether it was killed. */
async function crashOnce(model: StatelessModel, failpoint: string): Promise<boolean> {
  const home = await freshHome();
  try {
    const first = await startServer(home, model.url, failpoint);
    await request(first.url, 'POST', '/api/v1/sessions', { profile: 't' });
    const key = { 'idempotency-key': 'once' };
    const answer = await request(first.url, 'POST', `/api/v1/sessions/${SESSION}/messages`, { content: 'x' }, key).catch(() => undefined);
    const killed = answer === undefined;
    if (!killed) await first.kill('SIGKILL');
    await first.gone;
    await using second = await startServer(home, model.url);
    await idle(second.url);
    const replay = await request(second.url, 'POST', `/api/v1/sessions/${SESSION}/messages`, { content: 'x' }, key);
    expect(replay.status).to.equal(200);
    expect((replay.data as { reply: string }).reply).to.match(/done x$/);
    await expectWholeTurns(second.url, SESSION, ['x']);
    await expectNoRepeats(home);
    const requests = [...model.asked.values()].reduce((sum, times) => sum + times, 0);
    const interrupted = await expectAudited(second.url, requests, 4, 4);
    if (failpoint.startsWith('after_llm_response')) expect([requests, interrupted]).to.deep.equal([5, 1]);
    if (!killed) expect([requests, interrupted]).to.deep.equal([4, 0]);
    if (!killed) expect(await linesOf(home)).to.deep.equal(['x-a', 'x-b']);
    return killed;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

describe('kill -9', () => {
  for (const moment of [
    'after_user_msg_persisted',
    'after_llm_response_before_persist',
    'after_tool_call_persisted',
    'during_tool_execution',
    'after_result_persisted',
    'after_reply_persisted_before_response',
  ]) {
    it(`${moment.replaceAll('_', ' ')}: the run completes once, nothing finished is repeated`, async function () {
      this.timeout(60_000);
      await using model = await statelessModel();
      expect(await crashOnce(model, `${moment}:SIGKILL`)).to.equal(true);
    });
  }

  it('at every boundary of every step: the run completes once, nothing finished is repeated', async function () {
    this.timeout(240_000);
    let boundary = 1;
    for (let killed = true; killed; boundary += 1) {
      await using model = await statelessModel();
      killed = await crashOnce(model, `step@${boundary}:SIGKILL`);
      for (const [step, times] of model.asked) expect(times, `model asked at ${step}`).to.be.at.most(2);
    }
    expect(boundary).to.be.greaterThan(20);
  });
});

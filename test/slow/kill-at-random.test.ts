import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from '../harness/http-client.ts';
import { agentFile } from '../harness/start-host.ts';
import { expectNoRepeats, expectWholeTurns, idle } from '../durable/crash-checks.ts';
import { startServer } from '../durable/server-process.ts';
import { statelessModel } from '../durable/stateless-model.ts';

const KILLS = Number(process.env['ORYXOS_KILLS'] ?? 100);
const CLIENTS = 8;

describe('kill -9 under load', () => {
  it(`at ${KILLS} random moments: every acknowledged or durable message is answered once, no effect happens twice`, async function () {
    this.timeout(30 * 60_000);
    await using model = await statelessModel();
    const home = await mkdtemp(join(tmpdir(), 'oryxos-kill-'));
    await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
    await writeFile(
      join(home, 'workspace/agents/t/AGENT.md'),
      agentFile('t', 'tools: [append_line, peek]\nsettings:\n  max_history_turns: 1\n'),
    );
    const acknowledged = new Map<string, string[]>();
    let number = 0;
    try {
      for (let round = 0; round < KILLS; round += 1) {
        const server = await startServer(home, model.url);
        let open = true;
        const clients = Array.from({ length: CLIENTS }, async (_, client) => {
          const session = `web:u${client}-${Math.floor(round / 5)}:t`;
          await request(server.url, 'POST', '/api/v1/sessions', { profile: 't', userId: session.split(':')[1] }).catch(() => undefined);
          while (open) {
            const content = `m${(number += 1)}`;
            const answer = await request(server.url, 'POST', `/api/v1/sessions/${session}/messages`, { content }).catch(() => undefined);
            if (answer?.status !== 200) continue;
            acknowledged.set(session, [...(acknowledged.get(session) ?? []), content]);
          }
        });
        const pause = 5 + Math.random() * 600;
        await new Promise((resolve) => setTimeout(resolve, pause));
        open = false;
        await server.kill('SIGKILL');
        await Promise.all(clients);
      }
      await using last = await startServer(home, model.url);
      await idle(last.url);
      await expectNoRepeats(home);
      for (const [session, contents] of acknowledged) {
        const { data } = await request(last.url, 'GET', `/api/v1/sessions/${encodeURIComponent(session)}`);
        const said = (data as { messages: { role: string; content: string }[] }).messages
          .filter(({ role }) => role === 'user')
          .map(({ content }) => content);
        expect(said.filter((content, index) => said.indexOf(content) !== index)).to.deep.equal([]);
        if (said.length < 14) expect(contents.filter((content) => !said.includes(content))).to.deep.equal([]);
        if (said.length < 14) await expectWholeTurns(last.url, session, said);
      }
      expect([...acknowledged.values()].flat().length).to.be.greaterThan(0);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

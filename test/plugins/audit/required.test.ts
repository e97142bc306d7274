import { expect } from 'chai';
import type { LogLine, Statement } from '../../../kernel/index.ts';
import { definePlugin, defineTool, ok } from '../../../kernel/index.ts';
import audit from '../../../plugins/audit/index.ts';
import type {} from '../../../plugins/pricing/contract.ts';
import { breathe } from '../../harness/fake-clock.ts';
import type { HostOptions, TestHost } from '../../harness/index.ts';
import { agentFile, startHost, until } from '../../harness/index.ts';

/** From now on no row of the table can be written. */
const broken = (table: string): Statement => ({
  sql: `CREATE TRIGGER no_rows BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'no rows today'); END`,
  params: [],
});
const repaired: Statement = { sql: 'DROP TRIGGER no_rows', params: [] };

describe('an audit row that cannot be written', function () {
  this.timeout(20_000);
  const lines: LogLine[] = [];
  let ran: number;

  const start = (config: HostOptions['config'] = {}): Promise<TestHost> => {
    ran = 0;
    lines.length = 0;
    const effects = definePlugin({
      name: 'effects',
      setup(ctx) {
        ctx.register('logSink', { name: 'lines', write: (line) => lines.push(line) });
        const execute = async () => ok(`run ${(ran += 1)}`);
        ctx.register('tool', defineTool({ name: 'effect', description: 'Has an effect.', input: { type: 'object' }, execute }));
      },
    });
    return startHost({ agents: { t: agentFile('t', 'tools: [effect]') }, plugins: [effects], config });
  };
  const write = (host: TestHost, statement: Statement) => host.kernel.service('store').write(statement);

  it('fails the run at a tool call: its result is not used and nothing more happens', async () => {
    await using host = await start();
    await write(host, broken('tool_invocations'));
    host.model.always({ calls: [{ name: 'effect' }, { name: 'effect' }] });
    const outcome = await host.say('t', 'go');
    expect(outcome.status).to.equal('failed');
    expect(outcome.error).to.include({ code: 'ORYX_AUDIT_FAILED' });
    expect(lines.filter(({ message }) => message === 'run failed').map(({ traceId }) => traceId)).to.deep.equal([outcome.turnId]);
    expect(ran).to.equal(1);
    expect(host.model.requests).to.have.length(1);
    expect(await host.rows('tool_invocations')).to.deep.equal([]);
    const answer = await host.request('POST', '/api/v1/agents/t/invoke', { content: 'go' });
    expect(answer.status).to.equal(503);
    expect(answer.text).to.include('could not be recorded').and.include('audit.required');
    expect(answer.text).to.not.match(/INSERT|SQLITE|no rows today/);
  });

  it('fails the run at a model call: no tool runs on an answer that is not recorded', async () => {
    await using host = await start();
    await write(host, broken('llm_calls'));
    host.model.always({ calls: [{ name: 'effect' }] });
    expect((await host.say('t', 'go')).error).to.include({ code: 'ORYX_AUDIT_FAILED' });
    expect(ran).to.equal(0);
    expect(await host.rows('llm_calls')).to.deep.equal([]);
    await write(host, repaired);
    host.model.always({ content: 'fine' });
    expect(await host.say('t', 'go')).to.include({ status: 'completed', reply: 'fine' });
  });

  it('fails the run also when the row cannot even be made', async () => {
    await using host = await start();
    await host.kernel.unload('pricing');
    const costMicros = (): never => {
      throw new Error('no prices today');
    };
    await host.kernel.load(
      definePlugin({ name: 'bad-prices', setup: (ctx) => void ctx.register('pricing', { name: 'pricing', costMicros }) }),
    );
    host.model.always({ calls: [{ name: 'effect' }] });
    expect((await host.say('t', 'go')).status).to.equal('failed');
    expect([ran, await host.rows('llm_calls')]).to.deep.equal([0, []]);
  });

  it('does not happen while the plugin is swapped: every call of every run has its row', async () => {
    await using host = await start();
    host.model.always(({ messages }) => (messages.at(-1)?.role === 'tool' ? { content: 'done' } : { calls: [{ name: 'effect' }] }));
    let working = true;
    let runs = 0;
    const workers = Array.from({ length: 8 }, async () => {
      while (working) {
        expect(await host.say('t', 'go')).to.include({ status: 'completed', reply: 'done' });
        runs += 1;
      }
    });
    for (let swap = 0; swap < 20 || (runs < 40 && swap < 2_000); swap += 1) {
      expect((await host.kernel.replace(audit)).state).to.equal('active');
      await breathe();
    }
    working = false;
    await Promise.all(workers);
    expect(
      [ran, await host.rows('tool_invocations'), await host.rows('llm_calls')].map((part) => (Array.isArray(part) ? part.length : part)),
    ).to.deep.equal([runs, runs, 2 * runs]);
  });

  it('is logged, and the run goes on, where audit.required is false; other rows are written', async () => {
    await using host = await start({ 'audit.required': false });
    await write(host, broken('tool_invocations'));
    lines.length = 0;
    host.model.willCall('effect');
    host.model.willSay('done');
    const { turnId, status } = await host.say('t', 'go');
    expect([status, ran]).to.deep.equal(['completed', 1]);
    await until('the log line', () => lines.some(({ message }) => message === 'an audit row could not be written'));
    expect(lines.every(({ traceId }) => traceId === turnId)).to.equal(true);
    await until('the other rows', async () => (await host.rows('llm_calls')).length === 2);
  });
});

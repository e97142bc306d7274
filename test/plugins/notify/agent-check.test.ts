import { expect } from 'chai';
import { agentFile, startHost, type TestHost } from '../../harness/index.ts';

const SCHEDULES = `tools: []
schedules:
  - {key: a, name: A, cron: "0 0 9 * * *", on_failure: ops}
  - key: b
    name: B
    cron: "0 0 9 * * *"
    on_failure: nobody`;
const BOUND = `tools: []
channels:
  - cli
  - {name: feishu, channel: team}
  - {name: feishu, channel: ops}`;

const warningsOf = async (host: TestHost, agent: string): Promise<readonly string[]> =>
  (await host.request('GET', `/api/v1/agents/${agent}`)).data.warnings;

describe('channels that an AGENT.md names', () => {
  it('are warned about while they do not exist, with the line, and no longer once they do', async () => {
    await using host = await startHost({ agents: { helper: agentFile('helper', SCHEDULES) } });
    expect(await warningsOf(host, 'helper')).to.deep.equal([
      'line 8: channel "ops" is unknown and is not told of failures',
      'line 12: channel "nobody" is unknown and is not told of failures',
    ]);
    await host.request('POST', '/api/v1/notify-channels', { name: 'ops', type: 'webhook', url: 'http://127.0.0.1:9/x' });
    expect(await warningsOf(host, 'helper')).to.deep.equal(['line 12: channel "nobody" is unknown and is not told of failures']);
  });

  it('must be of the kind through which people are to talk', async () => {
    await using host = await startHost({ agents: { helper: agentFile('helper', BOUND) } });
    await host.request('POST', '/api/v1/notify-channels', { name: 'ops', type: 'webhook', url: 'http://127.0.0.1:9/x' });
    expect(await warningsOf(host, 'helper')).to.deep.equal([
      'line 9: channel "team" is unknown: messages from there do not reach this agent',
      'line 10: channel "ops" is of the type "webhook", not "feishu": messages from there do not reach this agent',
    ]);
    await host.request('POST', '/api/v1/notify-channels', { name: 'team', type: 'feishu', url: 'http://127.0.0.1:9/x' });
    expect(await warningsOf(host, 'helper')).to.have.length(1);
  });
});

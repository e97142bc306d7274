/** A secret of no known shape, known to the server only: it is hidden wherever people look, by whatever plugin they look through. */
import { expect } from 'chai';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';
import { scheduled } from '../schedules/fixture.ts';

const KEY = 'correct-horse-battery-staple';
const UNUSED = 'key-of-a-provider-that-was-there-before';
const SEARCH = 'key-of-the-search-engine';
const CHANNEL = 'key-of-a-notify-channel';
/** More than the masker keeps of what it has only seen. */
const OTHERS = 1_100;

// oxlint-disable-next-line typescript/no-explicit-any -- views of every shape
type View = any;

describe('a secret that the server knows', function () {
  this.timeout(30_000);
  let host: TestHost;
  before(async () => {
    host = await startHost({
      agents: {
        t: agentFile('t', 'tools: [current_time]\nsettings: {on_fatal_tool_error: feedback}'),
        s: scheduled('s', 'key: daily, name: Daily, cron: "0 0 9 * * *", message: go'),
      },
      config: {
        'web_search.provider': 'brave',
        'web_search.api-key': SEARCH,
        'oryxos.providers': [
          { name: 'scripted', 'base-url': 'http://127.0.0.1:1/v1' },
          { name: 'mock', 'api-key': UNUSED },
        ],
      },
    });
    await host.request('POST', '/api/v1/providers', { name: 'p1', apiKey: KEY, baseUrl: 'http://127.0.0.1:1/v1' });
    const channel = { name: 'c1', type: 'webhook', url: 'https://receiver.test/hook', config: { secret: CHANNEL } };
    expect((await host.request('POST', '/api/v1/notify-channels', channel)).status).to.equal(200);
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'u' });
  });
  after(() => host.stop());

  const get = async (path: string): Promise<View> => (await host.request('GET', path)).data;
  const hides = (text: string): void => {
    expect(text).to.include('corr****');
    expect(text).to.not.include(KEY);
  };
  const failing = (): void => host.model.willFail({ message: `the provider did not like ${KEY}` });

  it('is hidden in the error of an answer', async () => {
    failing();
    const { status, text } = await host.request('POST', '/api/v1/agents/t/invoke', { content: 'go' });
    expect(status).to.equal(503);
    hides(text);
  });

  it('is hidden in the events of a stream: in its error, and in names of tools that a model makes up', async () => {
    host.model.willCall(KEY);
    failing();
    const { events } = await host.stream('/api/v1/sessions/web:u:t/messages', { content: 'go' });
    const of = (name: string): string => JSON.stringify(events.filter(({ event }) => event === name));
    for (const name of ['tool_start', 'tool_end', 'error']) hides(of(name));
  });

  it('is hidden in the views of the audit and in the timeline', async () => {
    host.model.willCall(KEY);
    const { headers } = await host.request('POST', '/api/v1/agents/t/invoke', { content: 'go' });
    hides(JSON.stringify(await get('/api/v1/audit/tool')));
    hides(JSON.stringify(await get('/api/v1/audit/tool/by-name')));
    hides(JSON.stringify(await get(`/api/v1/audit/trace/${String(headers['x-trace-id'])}`)));
  });

  it('is hidden in the record of a run that nobody waited for', async () => {
    failing();
    await host.request('POST', '/api/v1/agents/t/trigger', { content: 'go' });
    const row = await until('the end', async () => {
      const [newest] = await get('/api/v1/agents/t/executions');
      return newest?.status === 'RUNNING' ? undefined : newest;
    });
    hides(JSON.stringify(row));
  });

  it('is hidden in what became of the slots of a schedule', async () => {
    failing();
    const [{ scheduleId }] = await get('/api/v2/schedules');
    hides((await host.request('POST', `/api/v2/schedules/${scheduleId}/run`, {})).text);
    hides(JSON.stringify(await get(`/api/v2/schedules/${scheduleId}/executions`)));
  });

  it('stays hidden however many secrets the server sees after it, also a key that is only in the configuration', () => {
    const secrets = host.kernel.service('secrets');
    for (let n = 0; n < OTHERS; n += 1) secrets.seal(`another-secret-${n}`, { table: 't', key: `${n}`, column: 'c' });
    for (const secret of [KEY, UNUSED, SEARCH, CHANNEL])
      expect(secrets.mask(`said ${secret}!`)).to.equal(`said ${secret.slice(0, 4)}****!`);
  });
});

/** A host with an agent on a Feishu channel. */
import { agentFile, type HostOptions, startHost, type TestHost } from '../../harness/index.ts';
import { APP } from './feishu-events.ts';
import type { FeishuStub } from './feishu-stub.ts';

/** An agent that takes messages from the channel `team-lark`. */
export const bound = (name: string, channel = 'team-lark'): string =>
  agentFile(name, `tools: []\nchannels: [cli, {name: feishu, channel: ${channel}}]`);

/** The configuration of the channel: with a token, without a key. */
export const CONFIG = { app_id: APP.appId, app_secret: APP.appSecret, verification_token: APP.token };

/** Registers a channel of the stub. */
export async function register(
  host: TestHost,
  stub: FeishuStub,
  config: Readonly<Record<string, unknown>> = CONFIG,
  name = 'team-lark',
): Promise<void> {
  const body = { name, type: 'feishu', url: `${stub.url}/open-apis/bot/v2/hook/fixture`, config: { base_url: stub.url, ...config } };
  const answer = await host.request('POST', '/api/v1/notify-channels', body);
  if (answer.status !== 200) throw new Error(`the channel was not registered: ${answer.text}`);
}

/** Starts a host with the agent `helper` on the channel `team-lark`. */
export async function startChatting(
  stub: FeishuStub,
  config: Readonly<Record<string, unknown>> = CONFIG,
  options: HostOptions = {},
): Promise<TestHost> {
  const host = await startHost({ agents: { helper: bound('helper') }, ...options });
  if (options.home === undefined) await register(host, stub, config);
  return host;
}

/** Delivers an event as Feishu does. */
export const deliver = (host: TestHost, event: unknown, headers: Readonly<Record<string, string>> = {}, agent = 'helper') =>
  host.request('POST', `/api/v1/channels/feishu/${agent}`, event, headers);

/** What OryxOS is made of: built-in plugins and adapters, in the order in which they are loaded. */
import { type Channel, type Context, definePlugin, type NotifyAdapter, type Plugin, type ProviderAdapter } from '../kernel/index.ts';
import { feishuChannel } from '../adapters/channel/feishu.ts';
import { dingtalkAdapter } from '../adapters/notify/dingtalk.ts';
import { feishuAdapter } from '../adapters/notify/feishu.ts';
import { webhookAdapter } from '../adapters/notify/webhook.ts';
import { wecomAdapter } from '../adapters/notify/wecom.ts';
import { mockAdapter } from '../adapters/provider/mock.ts';
import { openaiAdapter } from '../adapters/provider/openai.ts';
import agents from '../plugins/agents/index.ts';
import audit from '../plugins/audit/index.ts';
import backup from '../plugins/backup/index.ts';
import channels from '../plugins/channels/index.ts';
import conversations from '../plugins/conversations/index.ts';
import engine from '../plugins/engine/index.ts';
import executions from '../plugins/executions/index.ts';
import fallback from '../plugins/fallback/index.ts';
import http from '../plugins/http/index.ts';
import loader from '../plugins/loader/index.ts';
import logging from '../plugins/logging/index.ts';
import memory from '../plugins/memory/index.ts';
import metrics from '../plugins/metrics/index.ts';
import notify from '../plugins/notify/index.ts';
import openapi from '../plugins/openapi/index.ts';
import outside from '../plugins/outside/index.ts';
import policy from '../plugins/policy/index.ts';
import pricing from '../plugins/pricing/index.ts';
import providers from '../plugins/providers/index.ts';
import sandbox from '../plugins/sandbox/index.ts';
import schedules from '../plugins/schedules/index.ts';
import secrets from '../plugins/secrets/index.ts';
import sessions from '../plugins/sessions/index.ts';
import store from '../plugins/store/index.ts';
import system from '../plugins/system/index.ts';
import tools from '../plugins/tools/index.ts';
import trace from '../plugins/trace/index.ts';
import watch from '../plugins/watch/index.ts';
import workspace from '../plugins/workspace/index.ts';

/** Each comes after those whose services it needs; the store, which locks the workspace, before anything that writes there. */
export const builtInPlugins: readonly Plugin[] = [
  workspace,
  secrets,
  store,
  logging,
  http,
  openapi,
  backup,
  outside,
  providers,
  fallback,
  watch,
  agents,
  sessions,
  engine,
  sandbox,
  policy,
  pricing,
  audit,
  trace,
  metrics,
  notify,
  channels,
  memory,
  conversations,
  executions,
  schedules,
  tools,
  loader,
  system,
];

/** What providers can speak; an adapter of a caller takes the place of the one that has its name. */
export const builtInAdapters: readonly ProviderAdapter[] = [openaiAdapter, mockAdapter];

/** What channels to people can be; each is the `type` of its name. */
export const notifyAdapters: readonly NotifyAdapter[] = [feishuAdapter, wecomAdapter, dingtalkAdapter, webhookAdapter];

/** Through what people can talk to agents; each is the `type` of its name. */
export const channelAdapters: readonly Channel[] = [feishuChannel];

/**
 * Each name is a plugin, so that it can be left out like one, with all that it speaks. `replacements` take the place of those that have
 * their names.
 */
export function adapterPlugins(replacements: readonly ProviderAdapter[]): readonly Plugin[] {
  const replaced = new Set(replacements.map(({ name }) => name));
  const providers = [...builtInAdapters.filter(({ name }) => !replaced.has(name)), ...replacements];
  const registering: readonly (readonly [string, (ctx: Context) => void])[] = [
    ...providers.map((adapter) => [adapter.name, (ctx: Context) => void ctx.register('providerAdapter', adapter)] as const),
    ...notifyAdapters.map((adapter) => [adapter.name, (ctx: Context) => void ctx.register('notifyAdapter', adapter)] as const),
    ...channelAdapters.map((adapter) => [adapter.name, (ctx: Context) => void ctx.register('channel', adapter)] as const),
  ];
  const names = [...new Set(registering.map(([name]) => name))];
  return names.map((name) =>
    definePlugin({
      name,
      setup(ctx) {
        for (const [owner, register] of registering) if (owner === name) register(ctx);
      },
    }),
  );
}

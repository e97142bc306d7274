/** What OryxOS is made of: built-in plugins and adapters, in the order in which they are loaded. */
import type { Plugin, ProviderAdapter } from '../kernel/index.ts';
import { mockAdapter } from '../adapters/provider/mock.ts';
import { openaiAdapter } from '../adapters/provider/openai.ts';
import agents from '../plugins/agents/index.ts';
import conversations from '../plugins/conversations/index.ts';
import engine from '../plugins/engine/index.ts';
import http from '../plugins/http/index.ts';
import logging from '../plugins/logging/index.ts';
import memory from '../plugins/memory/index.ts';
import outside from '../plugins/outside/index.ts';
import providers from '../plugins/providers/index.ts';
import sandbox from '../plugins/sandbox/index.ts';
import secrets from '../plugins/secrets/index.ts';
import sessions from '../plugins/sessions/index.ts';
import store from '../plugins/store/index.ts';
import system from '../plugins/system/index.ts';
import tools from '../plugins/tools/index.ts';
import watch from '../plugins/watch/index.ts';
import workspace from '../plugins/workspace/index.ts';

/** Each comes after those whose services it needs; the store, which locks the workspace, before anything that writes there. */
export const builtInPlugins: readonly Plugin[] = [
  workspace,
  secrets,
  store,
  logging,
  http,
  outside,
  providers,
  watch,
  agents,
  sessions,
  engine,
  sandbox,
  memory,
  conversations,
  tools,
  system,
];

export const builtInAdapters: readonly ProviderAdapter[] = [openaiAdapter, mockAdapter];

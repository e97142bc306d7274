/** Findings about what runs, or would run, in a workspace. */
import { isOryxError, messageOf } from '../../kernel/index.ts';
import { failure, type Finding, fine, warning } from './finding.ts';
import { pathOf } from './rest-client.ts';
import type { RestClient } from './rest-client.ts';
import { type AgentView, placedError, type PluginView, type ProviderView } from './views.ts';

/** @param online  also asks every provider, over the network */
export async function hostFindings(client: RestClient, online: boolean): Promise<readonly Finding[]> {
  const agents = await client.get<readonly AgentView[]>('/api/v1/agents');
  return [
    ...(await databaseFindings(client)),
    ...agentFindings(agents),
    ...(await pluginFindings(client)),
    ...(await whitelistFindings(client)),
    ...(online ? await providerFindings(client, agents) : []),
  ];
}

async function databaseFindings(client: RestClient): Promise<readonly Finding[]> {
  const check = await known(client.get<{ readonly problem: string | null }>('/api/v1/database/check'));
  if (check === undefined) return [];
  if (check.problem === null) return [fine('The database is sound.')];
  return [failure(`The database is not sound: ${check.problem}.`, 'Stop the server and restore a backup with "oryxos restore".')];
}

function agentFindings(agents: readonly AgentView[]): readonly Finding[] {
  const found = agents.flatMap(({ name, status, error, warnings }) => [
    ...(status === 'broken'
      ? [
          failure(
            `The agent ${name} is broken: ${error === null ? 'no reason is known' : placedError(error)}.`,
            `Correct agents/${name}/AGENT.md.`,
          ),
        ]
      : []),
    ...(status === 'stale'
      ? [
          warning(
            `The agent ${name} runs on its last good version: ${error === null ? 'its file is not valid' : placedError(error)}.`,
            `Correct agents/${name}/AGENT.md.`,
          ),
        ]
      : []),
    ...warnings.map((text) => warning(`The agent ${name}: ${text}.`, `oryxos profile check ${name}`)),
  ]);
  if (agents.length === 0) return [warning('There is no agent.', 'oryxos profile create NAME')];
  return found.length > 0 ? found : [fine(`${agents.length === 1 ? 'The agent is' : `All ${agents.length} agents are`} valid.`)];
}

async function pluginFindings(client: RestClient): Promise<readonly Finding[]> {
  const plugins = await known(client.get<readonly PluginView[]>('/api/v1/plugins'));
  if (plugins === undefined) return [];
  const found = plugins.flatMap(({ name, state, error, missing, warnings = [] }) => [
    ...(state === 'failed'
      ? [failure(`The plugin ${name} has failed: ${error ?? 'no reason is known'}.`, `Correct it, then: oryxos plugin retry ${name}`)]
      : []),
    ...(state === 'pending'
      ? [warning(`The plugin ${name} waits${missing.length > 0 ? ` for ${missing.join(', ')}` : ''}.`, 'oryxos plugin list')]
      : []),
    ...(state === 'active' && error !== null
      ? [warning(`The plugin ${name} goes on as it was before: ${error}.`, 'oryxos plugin list')]
      : []),
    ...warnings.map((text) => warning(`The plugin ${name}: ${text}.`, 'oryxos plugin list')),
  ]);
  return found.length > 0 ? found : [fine(`All ${plugins.length} plugins are active.`)];
}

async function whitelistFindings(client: RestClient): Promise<readonly Finding[]> {
  type Risks = { readonly shellRisks?: readonly { readonly entry: string }[] };
  const { shellRisks = [] } = (await known(client.get<Risks>('/api/v1/sandbox/whitelist'))) ?? {};
  if (shellRisks.length === 0) return [];
  const names = shellRisks.map(({ entry }) => entry).join(', ');
  const what = `The shell whitelist holds programs that can start any other: ${names}.`;
  return [warning(what, 'Take them off the list unless agents may run everything.')];
}

async function providerFindings(client: RestClient, agents: readonly AgentView[]): Promise<readonly Finding[]> {
  const providers = await client.get<readonly ProviderView[]>('/api/v1/providers');
  const used = new Set(agents.map(({ provider }) => provider));
  return Promise.all(
    providers.map(async ({ name }): Promise<Finding> => {
      try {
        await client.post(pathOf`/api/v1/providers/${name}/test`);
        return fine(`The provider ${name} answers.`);
      } catch (error) {
        const what = `The provider ${name} does not answer: ${messageOf(error)}`;
        const advice = 'Check its URL and key: oryxos provider list';
        return used.has(name) ? failure(what, advice) : warning(what, advice);
      }
    }),
  );
}

/** Undefined when the server has no such endpoint: the plugin behind it may be switched off. */
async function known<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isOryxError(error) && error.status === 404) return undefined;
    throw error;
  }
}

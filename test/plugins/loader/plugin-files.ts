/** Small plugins as files, and what a host says of them. */
import type { PluginView } from '../../../plugins/loader/contract.ts';
import { type TestHost, until } from '../../harness/index.ts';

/** Texts of AGENT.md by agent name. */
export type AgentFiles = Readonly<Record<string, string>>;

/** The files of a plugin directory by path in the workspace. */
export function pluginFiles(name: string, code: string, manifest: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return {
    [`plugins/${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', type: 'module', ...manifest }),
    [`plugins/${name}/index.js`]: code,
  };
}

/** Code of a plugin; `setup` is the body of its setup function. */
export function pluginCode(name: string, setup: string, extra = ''): string {
  return `import { definePlugin, defineTool, ok, fail, refuse } from 'oryxos';
import { defineRoute } from 'oryxos/http';
export default definePlugin({ name: ${JSON.stringify(name)}, ${extra} async setup(ctx) { ${setup} } });
`;
}

/** Setup code that registers a tool which answers with a text. */
export const tool = (name: string, answer: string): string =>
  `ctx.register('tool', defineTool({ name: '${name}', description: '', input: { type: 'object' }, async execute() { return ok(${JSON.stringify(answer)}); } }));`;

/** Everything that the configuration file says in a test. */
export function pluginsYaml(sections: Readonly<Record<string, unknown>>, rest: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ oryxos: { plugins: sections, ...rest } });
}

/** The view of one plugin over REST; undefined when it is not listed. */
export async function viewOf(host: TestHost, name: string): Promise<PluginView | undefined> {
  const { data } = await host.request('GET', '/api/v1/plugins');
  return (data as readonly PluginView[]).find((view) => view.name === name);
}

/** Waits until a plugin is as wanted. */
export async function untilPlugin(
  host: TestHost,
  name: string,
  what: string,
  isSo: (view: PluginView) => boolean,
  timeoutMs?: number,
): Promise<PluginView> {
  let last: PluginView | undefined;
  const look = async (): Promise<PluginView | undefined> => {
    last = await viewOf(host, name);
    return last && isSo(last) ? last : undefined;
  };
  try {
    return await until(`${name} ${what}`, look, timeoutMs);
  } catch (error) {
    throw new Error(`${(error as Error).message}; it is ${JSON.stringify(last)}`, { cause: error });
  }
}

/** The text of what a tool answered when an agent called it. */
export async function callTool(host: TestHost, agent: string, name: string, args: unknown = {}): Promise<string> {
  host.model.willCall(name, args);
  host.model.willSay('done');
  await host.say(agent, 'go');
  const last = host.model.requests.at(-1)?.messages.at(-1);
  if (last?.role !== 'tool') throw new Error(`${name} was not called`);
  return last.content;
}

/** `oryxos profile check`: what an AGENT.md means, in the words of the server that would run it. */
import { defineCommand } from './args.ts';
import { nameCheck } from './checks.ts';
import type { Cli } from './cli.ts';
import { withConnection } from './connection.ts';
import { jsonOption } from './list-command.ts';
import { pathOf } from './rest-client.ts';
import { lineText } from './text.ts';
import { placedError } from './views.ts';
import type { AgentView, ToolView } from './views.ts';

/** Which of an agent's tools exist. */
export interface ToolCheck {
  readonly effective: readonly string[];
  readonly unknown: readonly string[];
}

/** Exits with 1 when an agent it looked at is stale or broken; unknown tools are shown and fail nothing. */
export const checkCommand = defineCommand({
  name: 'profile check',
  summary: 'Explain what an AGENT.md means; fails when it is broken',
  words: { name: { help: 'an agent, or "all" (the default)', optional: true, check: nameCheck } },
  options: jsonOption,
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      const wanted = args.name ?? 'all';
      const agents =
        wanted === 'all'
          ? await client.get<readonly AgentView[]>('/api/v1/agents')
          : [await client.get<AgentView>(pathOf`/api/v1/agents/${wanted}`)];
      const tools = await client.get<readonly ToolView[]>('/api/v1/tools');
      const checks = agents.map((agent) => ({ agent, tools: checkTools(agent, tools) }));
      if (args.json)
        cli.out.json(checks.map(({ agent, tools }) => ({ ...agent, effectiveTools: tools.effective, unknownTools: tools.unknown })));
      else for (const { agent, tools } of checks) printCheck(agent, tools, cli);
      if (agents.length === 0 && !args.json) cli.out.line('No agents.');
      return agents.every(({ status }) => status === 'ok') ? 0 : 1;
    }),
});

/** Sorts what `tools:` names into tools that exist and others; `server:*` stands for the tools of an MCP server. */
export function checkTools(agent: Pick<AgentView, 'tools'>, installed: readonly ToolView[]): ToolCheck {
  const names = new Set(installed.map(({ name }) => name));
  const declared = agent.tools ?? [];
  return {
    effective: declared.filter((name) => names.has(name) || name.endsWith(':*')),
    unknown: declared.filter((name) => !names.has(name) && !name.endsWith(':*')),
  };
}

function printCheck(agent: AgentView, tools: ToolCheck, { out }: Cli): void {
  const row = (label: string, value: string): void => out.line(`  ${label.padEnd(9)} ${lineText(value)}`);
  const colour = ({ ok: 'green', stale: 'yellow', broken: 'red' } as const)[agent.status];
  out.line(`${out.paint('bold', lineText(agent.name))}: ${out.paint(colour, agent.status)}`);
  if (agent.error !== null) row('error', placedError(agent.error));
  if (agent.status === 'broken') return;
  if (agent.status === 'stale') row('live', 'the last good version, until the file is valid again');
  row('provider', agent.provider ?? 'none');
  row('model', agent.model ?? 'none');
  row('tools', tools.effective.join(', ') || 'none');
  if (tools.unknown.length > 0) row('unknown', `${tools.unknown.join(', ')} (no such tool is installed)`);
  if (agent.skills.length > 0) row('skills', agent.skills.join(', '));
  for (const { key, cron, zone } of agent.schedules) row('schedule', `${key}: ${cron}${zone === null ? '' : ` in ${zone}`}`);
  for (const warning of agent.warnings) row('warning', warning);
}

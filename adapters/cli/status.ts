/** `oryxos status`: what there is, without starting anything. */
import { readdir, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand } from './args.ts';
import type { Cli } from './cli.ts';
import { findServer } from './connection.ts';
import { jsonOption } from './list-command.ts';
import { createRestClient } from './rest-client.ts';
import { lineText } from './text.ts';
import type { AgentView } from './views.ts';
import { isWorkspace, resolveRoot } from './workspace-root.ts';

interface Status {
  readonly root: string;
  readonly initialised: boolean;
  /** Bytes; null when there is none. */
  readonly databaseBytes: number | null;
  readonly server: { readonly pid: number; readonly url: string; readonly version: string | null } | null;
  /** `broken` and `stale` are known only to a running server. */
  readonly agents: { readonly total: number; readonly stale: number | null; readonly broken: number | null };
  readonly warnings: readonly string[];
}

/** Reads the workspace and asks a running server; it starts none, creates nothing, and exits with 0 when there is nothing yet. */
export const statusCommand = defineCommand({
  name: 'status',
  summary: 'Show workspace, server and agents without starting anything',
  options: jsonOption,
  async run(args, cli) {
    const status = await statusOf(await resolveRoot(args, cli.host));
    if (args.json) cli.out.json(status);
    else printStatus(status, cli);
  },
});

async function statusOf(root: string): Promise<Status> {
  const found = {
    root,
    initialised: isWorkspace(root),
    databaseBytes: (await stat(join(root, 'oryxos.db')).catch(() => undefined))?.size ?? null,
  };
  const server = await findServer(root);
  if (server === undefined) {
    return { ...found, server: null, agents: { total: await agentsOnDisk(root), stale: null, broken: null }, warnings: [] };
  }
  const client = createRestClient(server.url);
  try {
    const info = await client.get<{ version?: string; warnings?: readonly string[] }>('/api/v1/info');
    const agents = await client.get<readonly AgentView[]>('/api/v1/agents');
    const count = (status: AgentView['status']): number => agents.filter((agent) => agent.status === status).length;
    return {
      ...found,
      server: { ...server, version: info.version ?? null },
      agents: { total: agents.length, stale: count('stale'), broken: count('broken') },
      warnings: info.warnings ?? [],
    };
  } finally {
    client.close();
  }
}

/** Directories with an AGENT.md; plain files are no agents. */
async function agentsOnDisk(root: string): Promise<number> {
  const entries = await readdir(join(root, 'agents'), { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => existsSync(join(root, 'agents', entry.name, 'AGENT.md'))).length;
}

function printStatus(status: Status, { out }: Cli): void {
  const { server, agents, databaseBytes } = status;
  const row = (label: string, value: string): void => out.line(`${label.padEnd(10)} ${lineText(value)}`);
  row('Workspace', `${status.root}${status.initialised ? '' : ' (not there yet: "oryxos init" creates it)'}`);
  row('Database', databaseBytes === null ? 'none yet' : `${Math.ceil(databaseBytes / 1024)} KiB`);
  row('Server', server === null ? 'not running' : `${server.url}, version ${server.version ?? 'unknown'}, pid ${server.pid}`);
  row('Agents', agentText(agents));
  for (const warning of status.warnings) row('Warning', warning);
}

function agentText({ total, stale, broken }: Status['agents']): string {
  if (stale === null || broken === null) return `${total}${total > 0 ? ' ("oryxos profile check" tells whether they are valid)' : ''}`;
  return [`${total - stale - broken} ok`, ...(stale > 0 ? [`${stale} stale`] : []), ...(broken > 0 ? [`${broken} broken`] : [])].join(', ');
}

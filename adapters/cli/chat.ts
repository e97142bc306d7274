/** `oryxos chat` */
import { conflict, notFound } from '../../kernel/index.ts';
import { defineCommand } from './args.ts';
import type { CommonArgs } from './args.ts';
import { nameCheck, userCheck } from './checks.ts';
import { ChatLoop } from './chat-loop.ts';
import { resumeSession, userIdOf } from './chat-session.ts';
import type { Cli } from './cli.ts';
import { connect, findServer } from './connection.ts';
import type { Connection } from './connection.ts';
import type { RestClient } from './rest-client.ts';
import { lineText } from './text.ts';
import { placedError } from './views.ts';
import type { AgentView } from './views.ts';
import { isWorkspace, resolveRoot } from './workspace-root.ts';

/** Talks until `/quit`, the end of the input or SIGTERM. Creates the workspace first when there is neither one nor a server. */
export const chatCommand = defineCommand({
  name: 'chat',
  summary: 'Talk to an agent',
  options: {
    profile: { kind: 'text', value: 'NAME', help: 'the agent; default: default', check: nameCheck },
    user: { kind: 'text', value: 'NAME', help: 'whose session; default: your login name', check: userCheck },
  },
  examples: ['oryxos chat', 'oryxos chat --profile ops', "echo 'What is new?' | oryxos chat"],
  async run(args, cli) {
    await ensureWorkspace(args, cli);
    const name = args.profile ?? 'default';
    const userId = userIdOf(args.user ?? cli.host.user);
    const connection = await connect(args, cli);
    const loop = await opened(connection, name, userId, args, cli);
    return loop.run();
  },
});

async function opened(connection: Connection, name: string, userId: string, args: CommonArgs, cli: Cli): Promise<ChatLoop> {
  try {
    for (const warning of connection.warnings) cli.out.note(`Warning: ${lineText(warning)}`);
    const agent = await agentNamed(name, connection.client);
    const session = await resumeSession(connection.client, name, userId);
    return new ChatLoop({ cli, agent, userId, session, connection, reconnect: () => connect(args, cli) });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** A first `oryxos chat` in an empty directory works like a first `oryxos serve`. */
async function ensureWorkspace(args: CommonArgs, cli: Cli): Promise<void> {
  const root = await resolveRoot(args, cli.host);
  if (isWorkspace(root) || (await findServer(root)) !== undefined) return;
  await cli.host.initWorkspace(root);
  cli.out.note(`Created the workspace ${root}.`);
}

async function agentNamed(name: string, client: RestClient): Promise<AgentView> {
  const agents = await client.get<readonly AgentView[]>('/api/v1/agents');
  const agent = agents.find((candidate) => candidate.name === name);
  if (agent === undefined) {
    const names = agents.map((candidate) => candidate.name).join(', ');
    throw notFound(`There is no agent "${name}". ${names === '' ? 'There are none yet.' : `Agents: ${names}.`}`);
  }
  if (agent.status === 'broken')
    throw conflict(`The agent "${name}" is broken: ${agent.error ? placedError(agent.error) : 'see its AGENT.md'}`);
  return agent;
}

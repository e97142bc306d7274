/** `oryxos profile …`: agents, each a directory with an AGENT.md. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OryxError } from '../../kernel/index.ts';
import { defineCommand } from './args.ts';
import { nameCheck, textCheck } from './checks.ts';
import { withConnection } from './connection.ts';
import { jsonOption, listCommand } from './list-command.ts';
import { checkCommand } from './profile-check.ts';
import { confirm, isInteractive } from './prompt.ts';
import { pathOf } from './rest-client.ts';
import { blockText, lineText } from './text.ts';
import { placedError } from './views.ts';
import type { AgentView } from './views.ts';

const existing = { name: { help: 'an agent of "oryxos profile list"', check: nameCheck } } as const;

const list = listCommand<AgentView>({
  name: 'profile list',
  summary: 'List agents, broken ones too',
  path: () => '/api/v1/agents',
  columns: {
    NAME: (row) => row.name,
    STATUS: (row) => row.status,
    PROVIDER: (row) => row.provider,
    MODEL: (row) => row.model,
    TOOLS: (row) => row.tools?.length ?? null,
    DESCRIPTION: (row) => row.description,
  },
  none: 'No agents. Create one with "oryxos profile create NAME".',
});

const create = defineCommand({
  name: 'profile create',
  summary: 'Create an agent',
  words: { name: { help: 'letters, digits, "_" and "-"; it names the directory', check: nameCheck } },
  options: {
    provider: { kind: 'text', value: 'NAME', help: 'default: the first that is not mock, else mock', check: nameCheck },
    model: { kind: 'text', value: 'MODEL', help: 'default: the configured author model', check: textCheck },
    description: { kind: 'text', value: 'TEXT', help: 'what the agent is for' },
  },
  examples: ['oryxos profile create ops --provider deepseek --model deepseek-chat --description "Looks after the servers"'],
  run: (args, cli) =>
    withConnection(args, cli, async ({ client, root }) => {
      const { name, provider, model, description } = args;
      const agent = await client.post<AgentView>('/api/v1/agents', {
        name,
        ...(provider === undefined ? {} : { provider }),
        ...(model === undefined ? {} : { model }),
        ...(description === undefined ? {} : { description }),
      });
      cli.out.line(`Created ${name} on ${lineText(`${agent.provider}, model ${agent.model}`)}.`);
      cli.out.line(`Edit ${join(root, 'agents', name, 'AGENT.md')}`);
      cli.out.line(`Talk: oryxos chat --profile ${name}`);
    }),
});

const show = defineCommand({
  name: 'profile show',
  summary: 'Print the AGENT.md of an agent',
  words: existing,
  options: jsonOption,
  run: (args, cli) =>
    withConnection(args, cli, async ({ client, root }) => {
      const view = await client.get<AgentView>(pathOf`/api/v1/agents/${args.name}`);
      const agentMarkdown = await agentFile(root, args.name);
      if (args.json) return cli.out.json({ ...view, agentMarkdown });
      cli.out.write(blockText(agentMarkdown.endsWith('\n') ? agentMarkdown : `${agentMarkdown}\n`));
      if (view.error !== null) cli.out.note(`${view.status}: ${lineText(placedError(view.error))}`);
    }),
});

const remove = defineCommand({
  name: 'profile delete',
  summary: 'Delete an agent; its directory and sessions are archived',
  words: existing,
  options: { yes: { kind: 'flag', help: 'do not ask' } },
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      const path = pathOf`/api/v1/agents/${args.name}`;
      await client.get<AgentView>(path);
      if (!args.yes && isInteractive(cli.host) && !(await confirm(cli.host, `Delete the agent ${args.name}?`))) {
        cli.out.line('Nothing deleted.');
        return 1;
      }
      await client.delete(path);
      cli.out.line(`Deleted ${args.name}. Its directory is in archive/ of the workspace.`);
      return 0;
    }),
});

/** They act through the API, so a change is live when they return; only `profile show` reads the file itself. */
export const profileCommands = [list, create, show, checkCommand, remove];

async function agentFile(root: string, name: string): Promise<string> {
  try {
    return await readFile(join(root, 'agents', name, 'AGENT.md'), 'utf8');
  } catch (cause) {
    throw new OryxError('ORYX_NOT_FOUND', `agents/${name}/AGENT.md cannot be read; the agent lives on in the server's memory.`, { cause });
  }
}

/** `oryxos session …` */
import { defineCommand } from './args.ts';
import type { TextOption } from './args.ts';
import { oneOf, textCheck } from './checks.ts';
import { withConnection } from './connection.ts';
import { jsonOption, listCommand } from './list-command.ts';
import { pathOf } from './rest-client.ts';
import { blockText, lineText } from './text.ts';
import type { MessageView, SessionSummaryView, SessionView } from './views.ts';

const existing = { id: { help: 'a session of "oryxos session list"', check: textCheck } } as const;

const list = listCommand<SessionSummaryView, { readonly status: TextOption }>({
  name: 'session list',
  summary: 'List the 100 sessions that were active last',
  options: { status: { kind: 'text', value: 'STATUS', help: '"active" or "archived"; default: both', check: oneOf('active', 'archived') } },
  path: ({ status }) => `/api/v1/sessions${status === undefined ? '' : `?status=${status}`}`,
  columns: {
    SESSION: (row) => row.sessionId,
    AGENT: (row) => row.profileName,
    STATUS: (row) => row.status,
    MESSAGES: (row) => row.messageCount,
    'LAST ACTIVE': (row) => row.lastActiveAt ?? row.createdAt,
  },
  none: 'No sessions.',
});

const show = defineCommand({
  name: 'session show',
  summary: 'Print the last 100 messages of a session',
  words: existing,
  options: jsonOption,
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      const session = await client.get<SessionView>(pathOf`/api/v1/sessions/${args.id}`);
      if (args.json) return cli.out.json(session);
      if (session.messages.length === 0) return cli.out.line('No messages yet.');
      for (const message of session.messages) {
        cli.out.line(cli.out.paint('bold', lineText(speakerOf(message))));
        if (message.content !== '') cli.out.line(blockText(message.content));
        for (const call of message.toolCalls) cli.out.line(lineText(`→ ${call.name} ${call.argumentsJson}`));
        cli.out.line('');
      }
    }),
});

const archive = defineCommand({
  name: 'session archive',
  summary: 'Archive a session; a new message makes it active again',
  words: existing,
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      await client.delete(pathOf`/api/v1/sessions/${args.id}`);
      cli.out.line(`Archived ${lineText(args.id)}.`);
    }),
});

/** What people and models said is made printable first, so that it cannot steer the terminal. */
export const sessionCommands = [list, show, archive];

const speakerOf = ({ role, toolName }: MessageView): string => (role === 'tool' ? `tool ${toolName ?? ''}` : role);

/** `oryxos notify …` */
import { defineCommand } from './args.ts';
import type { TextOption } from './args.ts';
import { nameCheck, oneOf, textCheck } from './checks.ts';
import { withConnection } from './connection.ts';
import { listCommand } from './list-command.ts';
import { pathOf } from './rest-client.ts';
import { secretInput } from './secret-input.ts';
import { lineText } from './text.ts';
import { UsageError } from './usage-error.ts';
import type { NotifyChannelView, OutboxMessageView } from './views.ts';

const STATES = ['pending', 'sending', 'delivered', 'failed', 'unknown'] as const;
const existing = { name: { help: 'a channel of "oryxos notify list"', check: nameCheck } } as const;
const numberCheck = (value: string): string | undefined => (/^[1-9]\d{0,14}$/.test(value) ? undefined : 'must be a number');

const list = listCommand<NotifyChannelView>({
  name: 'notify list',
  summary: 'List the channels to people',
  path: () => '/api/v1/notify-channels',
  columns: { CHANNEL: (row) => row.name, TYPE: (row) => row.type, DESCRIPTION: (row) => row.description },
  none: 'No channels. Add one with "oryxos notify add".',
});

const add = defineCommand({
  name: 'notify add',
  summary: 'Add a channel: a group robot of Feishu, WeCom or DingTalk, or a webhook',
  words: { name: { help: 'a name of your choice, which agents give to the tool notify', check: nameCheck } },
  options: {
    type: { kind: 'text', value: 'TYPE', help: 'feishu, wecom, dingtalk, webhook, or what a plugin adds', check: textCheck },
    url: { kind: 'text', value: 'URL', help: "of a receiver whose URL is no secret; a robot's is, and is asked for", check: textCheck },
    'url-stdin': { kind: 'flag', help: 'read the URL from standard input' },
    'url-env': { kind: 'text', value: 'VARIABLE', help: 'read the URL from an environment variable', check: textCheck },
    'secret-env': {
      kind: 'text',
      value: 'VARIABLE',
      help: 'read the secret for signatures from an environment variable',
      check: textCheck,
    },
    description: { kind: 'text', value: 'TEXT', help: 'who reads it' },
  },
  examples: [
    'oryxos notify add ops --type feishu',
    'oryxos notify add ops --type dingtalk --url-env ROBOT_URL --secret-env ROBOT_SECRET',
    'oryxos notify add tickets --type webhook --url http://127.0.0.1:3000/hook',
  ],
  async run(args, cli) {
    const { name, type, description } = args;
    if (type === undefined) throw new UsageError('Missing --type TYPE.', 'notify add');
    const given = [args.url, args['url-env'], args['url-stdin'] || undefined].filter((source) => source !== undefined);
    if (given.length > 1) throw new UsageError('Use one of --url, --url-stdin and --url-env.', 'notify add');
    const source = { stdin: args['url-stdin'], variable: args['url-env'], question: 'URL of the receiver (not shown): ' };
    const url = args.url ?? (await secretInput(source, cli.host));
    if (url === '') throw new UsageError('Missing the URL: use --url, --url-stdin or --url-env.', 'notify add');
    const variable = args['secret-env'];
    const secret = variable === undefined ? '' : await secretInput({ variable, question: '' }, cli.host);
    const body = { name, type, url, ...(description !== undefined && { description }), ...(secret !== '' && { config: { secret } }) };
    await withConnection(args, cli, async ({ client }) => {
      const added = await client.post<NotifyChannelView>('/api/v1/notify-channels', body);
      cli.out.line(`Added ${lineText(added.name)} (${lineText(added.type)}).`);
      cli.out.line(`Next: oryxos notify test ${lineText(added.name)}`);
    });
  },
});

const test = defineCommand({
  name: 'notify test',
  summary: 'Send a message to a channel and wait for the answer of its receiver',
  words: existing,
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      const { id, state, error } = await client.post<OutboxMessageView>(pathOf`/api/v1/notify-channels/${args.name}/test`, {});
      if (state === 'delivered') return cli.out.line(`${args.name} took the message.`);
      cli.out.line(`${args.name}: ${state}${error === null || error === undefined ? '' : `, ${lineText(error)}`} (message ${id})`);
      return state === 'failed' || state === 'unknown' ? 1 : undefined;
    }),
});

const outbox = listCommand<OutboxMessageView, { readonly state: TextOption }>({
  name: 'notify outbox',
  summary: 'List the newest messages to people and what became of them',
  options: { state: { kind: 'text', value: 'STATE', help: `one of ${STATES.join(', ')}; default: all`, check: oneOf(...STATES) } },
  path: ({ state }) => `/api/v1/notify-outbox${state === undefined ? '' : `?state=${state}`}`,
  columns: {
    ID: (row) => row.id,
    CHANNEL: (row) => row.channel,
    STATE: (row) => row.state,
    PARTS: (row) => `${row.partsSent}/${row.parts}`,
    AGENT: (row) => row.agent,
    CREATED: (row) => row.createdAt,
    WHY: (row) => row.error ?? null,
  },
  none: 'No messages.',
});

const resend = defineCommand({
  name: 'notify resend',
  summary: 'Send a message again that failed, or whose arrival is unknown',
  words: { id: { help: 'a message of "oryxos notify outbox"', check: numberCheck } },
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      await client.post(pathOf`/api/v1/notify-outbox/${args.id}/resend`);
      cli.out.line(`Message ${args.id} waits to be sent again.`);
    }),
});

/** URLs of robots hold their keys: like secrets they are asked for, or read from elsewhere. */
export const notifyCommands = [list, add, test, outbox, resend];

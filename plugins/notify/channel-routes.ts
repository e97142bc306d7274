/** Notify channels over REST. */
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { ChannelBook } from './channel-book.ts';

const nameParam = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const type = {
  type: 'string',
  description: 'Name of the adapter that speaks to the receiver: feishu, wecom, dingtalk, webhook, or that of a plugin.',
  example: 'feishu',
} as const;
const url = {
  type: 'string',
  description: 'Address of the webhook, http or https. It holds the receiver’s key.',
  example: 'https://open.feishu.cn/open-apis/bot/v2/hook/3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f',
} as const;
const description = { type: ['string', 'null'], example: 'The team’s group' } as const;
const config = {
  type: ['object', 'null'],
  description:
    'Settings of the type, and for every type `rate_per_minute`, `headers` (a map) and `default` (true: messages that name no channel go here; ' +
    'it is taken from the channel that had it). An absent key is kept and null removes it. Keys that end in secret, token, key, password or ' +
    'passwd are encrypted and shown as `****` and the last 4 characters; sending a blank or the mask keeps them, unless url leads to another host.',
  additionalProperties: {},
  example: { secret: 'SEC000c19e72f4d3b8a9876', rate_per_minute: 20 },
} as const;
const name = { type: 'string', description: '1 to 64 letters, digits, "_" and "-".', example: 'team-lark' } as const;
const view = {
  type: 'object',
  properties: {
    name,
    type,
    url,
    description,
    config: {
      type: 'object',
      description: 'Secrets are masked.',
      additionalProperties: {},
      example: { secret: '****9876', rate_per_minute: 20 },
    },
  },
  required: ['name', 'type', 'url', 'description', 'config'],
} as const;

/** Create, read, change, delete. */
export const channelRoutes = (book: ChannelBook): readonly Route[] => [
  defineRoute({
    name: 'POST /api/v1/notify-channels',
    summary: 'Add a notify channel',
    kind: 'admin',
    body: { type: 'object', properties: { name, type, url, description, config }, required: ['name', 'type', 'url'] },
    answer: view,
    handle: ({ body }) => book.create(body.name, body),
  }),
  defineRoute({
    name: 'GET /api/v1/notify-channels',
    summary: 'List notify channels by name',
    kind: 'read',
    answer: { type: 'array', items: view },
    handle: () => book.views(),
  }),
  defineRoute({
    name: 'GET /api/v1/notify-channels/{name}',
    summary: 'Read one notify channel',
    kind: 'read',
    params: nameParam,
    answer: view,
    handle: ({ params }) => book.view(params.name),
  }),
  defineRoute({
    name: 'PUT /api/v1/notify-channels/{name}',
    summary: 'Change a notify channel; an absent, blank or masked secret is kept, null removes it',
    kind: 'admin',
    params: nameParam,
    body: { type: 'object', properties: { type, url, description, config }, required: ['type', 'url'] },
    answer: view,
    handle: ({ params, body }) => book.update(params.name, body),
  }),
  defineRoute({
    name: 'DELETE /api/v1/notify-channels/{name}',
    summary: 'Delete a notify channel',
    kind: 'admin',
    params: nameParam,
    answer: { type: 'null' },
    async handle({ params }) {
      await book.remove(params.name);
      return null;
    },
  }),
];

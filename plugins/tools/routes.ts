import type { ReadonlyRegistry, Tool } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';

/** Shows every tool that is registered at the moment, whoever registered it. */
export const toolRoutes = (tools: ReadonlyRegistry<Tool>): readonly Route[] => [
  defineRoute({
    name: 'GET /api/v1/tools',
    summary: 'List the tools that agents can declare',
    kind: 'read',
    answer: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, description: { type: 'string' } },
        required: ['name', 'description'],
      },
    },
    handle: () =>
      tools
        .list()
        .map(({ name, description }) => ({ name, description: typeof description === 'string' ? description : description() }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }),
];

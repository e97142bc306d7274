import type { Agents } from '../agents/contract.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { Memory } from './contract.ts';

/** Reading an agent's memory. */
export const memoryRoutes = (memory: Memory, agents: Agents): readonly Route[] => [
  defineRoute({
    name: 'GET /api/v1/agents/{name}/memory',
    summary: 'Read the MEMORY.md of an agent',
    kind: 'read',
    params: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    answer: { type: 'string' },
    async handle({ params }) {
      agents.view(params.name);
      return memory.readAll(params.name);
    },
  }),
];
